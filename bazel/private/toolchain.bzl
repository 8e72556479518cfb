"""Toolchains: which ingot compiles, and with which C library apps read its bundles."""

TOOLCHAIN = str(Label("//:toolchain_type"))

def _ingot_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(
        ingot = struct(
            compiler = ctx.attr.compiler[DefaultInfo].files_to_run,
            data = depset(ctx.files.data),
            env = ctx.attr.env,
            runtime = ctx.attr.runtime,
        ),
    )]

ingot_toolchain = rule(
    implementation = _ingot_toolchain_impl,
    doc = "An ingot, for `toolchain(toolchain_type = \"@rules_ingot//:toolchain_type\")`.",
    attrs = {
        "compiler": attr.label(
            doc = "The `ingot` command, with all that it needs in its runfiles.",
            allow_files = True,
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
        "data": attr.label_list(
            doc = "Files that the output depends on besides: a library, a list of versions.",
            allow_files = True,
            cfg = "exec",
        ),
        "env": attr.string_dict(
            doc = "The environment of the command. Nothing else of it is set.",
        ),
        "runtime": attr.label(
            doc = "The C library, for bundles that are embedded.",
            providers = [CcInfo],
        ),
    },
)

def _ingot_runtime_impl(ctx):
    runtime = ctx.toolchains[TOOLCHAIN].ingot.runtime
    if runtime == None:
        fail("the ingot toolchain has no `runtime`, which embedded bundles need")
    return [runtime[DefaultInfo], runtime[CcInfo]]

ingot_runtime = rule(
    implementation = _ingot_runtime_impl,
    doc = "The C library of the toolchain, as a dependency of cc_library.",
    toolchains = [TOOLCHAIN],
    provides = [CcInfo],
)
