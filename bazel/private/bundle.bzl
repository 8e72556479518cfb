"""ingot_bundle: programs in, bundles out; one action for each program.

The actions can run anywhere: their inputs are the program, the schedules and the toolchain; they are
given relative paths, no environment but the toolchain's, and leave no cache behind.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load(":toolchain.bzl", "TOOLCHAIN")

def _stem(file):
    return file.basename[:-len(file.extension) - 1]

def _arguments(ctx, source, output):
    args = ctx.actions.args()
    args.use_param_file("@%s")
    args.set_param_file_format("shell")
    args.add("compile")
    args.add(source)
    args.add("-o", output)
    args.add_all(ctx.attr.targets, before_each = "--target")
    args.add_all(ctx.files.schedules, before_each = "--schedule")
    args.add("--no-cache")
    args.add("-j", "1")  # an action is given one processor
    args.add_all(ctx.attr.options)
    return args

def _compile(ctx, source, outputs, args, mnemonic, what):
    ingot = ctx.toolchains[TOOLCHAIN].ingot
    ctx.actions.run(
        executable = ingot.compiler,
        arguments = [args],
        inputs = depset([source] + ctx.files.schedules, transitive = [ingot.data]),
        outputs = outputs,
        env = ingot.env,
        mnemonic = mnemonic,
        progress_message = "%s %s" % (what, source.short_path),
    )

def _ingot_bundles_impl(ctx):
    bundles, sources, headers = [], [], []
    stems = {}
    for source in ctx.files.srcs:
        stem = _stem(source)
        if stem in stems:
            fail("%s and %s would have the same output" % (stems[stem], source.short_path))
        stems[stem] = source.short_path
        bundle = ctx.actions.declare_file(stem + ".ingot")
        bundles.append(bundle)
        args = _arguments(ctx, source, bundle)
        outputs = [bundle]
        if ctx.attr.embed:
            c_source = ctx.actions.declare_file(stem + ".bundle.c")
            sources.append(c_source)
            args.add("--embed", c_source)
            outputs.append(c_source)
        _compile(ctx, source, outputs, args, "IngotCompile", "Compiling")
        if ctx.attr.embed:
            header = ctx.actions.declare_file(stem + ".h")
            headers.append(header)
            args = _arguments(ctx, source, header)
            args.add("--emit", "c-header")
            _compile(ctx, source, [header], args, "IngotHeader", "Writing the C header of")
    return [
        DefaultInfo(files = depset(bundles), runfiles = ctx.runfiles(files = bundles)),
        OutputGroupInfo(c_sources = depset(sources), c_headers = depset(headers)),
    ]

_ingot_bundles = rule(
    implementation = _ingot_bundles_impl,
    attrs = {
        "srcs": attr.label_list(
            allow_empty = False,
            allow_files = [".mlir", ".tin"],
            mandatory = True,
        ),
        "targets": attr.string_list(allow_empty = False, mandatory = True),
        "options": attr.string_list(),
        "schedules": attr.label_list(allow_files = [".json"]),
        "embed": attr.bool(),
    },
    toolchains = [TOOLCHAIN],
)

def ingot_bundle(name, srcs, targets, options = [], schedules = [], embed = False, **kwargs):
    """Compiles each program to a bundle.

    Args:
      name: the target. Without `embed` it is the bundles, `STEM.ingot` for each program. With
        `embed` it is a library to put into `deps`: it holds the bundles, and its headers are
        `STEM.h` with typed functions; the files are then the target `NAME.bundles`.
      srcs: programs: .mlir, .tin.
      targets: profiles, as `ingot targets` lists them.
      options: further words for `ingot compile`.
      schedules: files for `--schedule`.
      embed: whether to make a library.
      **kwargs: what all rules take, such as `visibility` and `tags`.
    """
    bundles = name + ".bundles" if embed else name
    _ingot_bundles(
        name = bundles,
        srcs = srcs,
        targets = targets,
        options = options,
        schedules = schedules,
        embed = embed,
        **kwargs
    )
    if not embed:
        return
    for group in ("c_sources", "c_headers"):
        native.filegroup(
            name = "%s.%s" % (name, group),
            srcs = [bundles],
            output_group = group,
            visibility = ["//visibility:private"],
        )
    cc_library(
        name = name,
        srcs = [name + ".c_sources"],
        hdrs = [name + ".c_headers"],
        deps = [str(Label("//:runtime"))],
        **kwargs
    )
