"""For MODULE.bazel files: the ingot of this machine.

    ingot = use_extension("@rules_ingot//:extensions.bzl", "ingot")
    ingot.system()
    use_repo(ingot, "ingot_system")

    register_toolchains("@ingot_system//:toolchain")
"""

load(":repositories.bzl", "ingot_system")

def _ingot_impl(ctx):
    for module in ctx.modules:
        if module.tags.system:
            ingot_system(name = "ingot_system")
            return

ingot = module_extension(
    implementation = _ingot_impl,
    tag_classes = {
        "system": tag_class(doc = "Asks for the repository `ingot_system`."),
    },
)
