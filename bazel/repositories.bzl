"""The ingot of this machine as a toolchain.

For WORKSPACE files:

    load("@rules_ingot//:repositories.bzl", "ingot_system")

    ingot_system(name = "ingot")

    register_toolchains("@ingot//:toolchain")

MODULE.bazel files say the same through `extensions.bzl`. Remote workers must have the same ingot at
the same path; where they do not, say `ingot_toolchain` for one that is built from packages.
"""

_BUILD = """\
load("{rules_cc}", "cc_library")
load("{defs}", "ingot_toolchain")

cc_library(
    name = "runtime",
    srcs = glob(["embed/*.c", "embed/*.h"]),
    hdrs = glob(["embed/include/*.h"]),
    includes = ["embed/include"],
    visibility = ["//visibility:public"],
)

ingot_toolchain(
    name = "ingot",
    compiler = "ingot.sh",
    data = ["versions.txt"],
    runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":ingot",
    toolchain_type = "{toolchain_type}",
)
"""

def _run(ctx, ingot, option):
    done = ctx.execute([ingot, option])
    if done.return_code:
        fail("%s %s failed: %s" % (ingot, option, done.stderr))
    return done.stdout

def _ingot_system_impl(ctx):
    ingot = ctx.os.environ.get("INGOT") or ctx.which("ingot")
    if not ingot:
        fail("no `ingot` on PATH: pip install ingot-compiler, or say where it is by INGOT")

    # The versions are an input of every action: with others, the same program is compiled again.
    ctx.file("versions.txt", _run(ctx, ingot, "--version"))
    ctx.file("ingot.sh", "#!/bin/sh\nexec '%s' \"$@\"\n" % ingot, executable = True)
    ctx.symlink(_run(ctx, ingot, "--embed-dir").strip(), "embed")
    ctx.file("BUILD.bazel", _BUILD.format(
        rules_cc = str(Label("@rules_cc//cc:defs.bzl")),
        defs = str(Label("//:defs.bzl")),
        toolchain_type = str(Label("//:toolchain_type")),
    ))

ingot_system = repository_rule(
    implementation = _ingot_system_impl,
    doc = "A repository with `:toolchain`, for the `ingot` on PATH or in the variable INGOT.",
    configure = True,
    environ = ["INGOT", "PATH"],
    local = True,
)
