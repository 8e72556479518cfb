"""What BUILD files load.

    load("@rules_ingot//:defs.bzl", "ingot_bundle")

    ingot_bundle(
        name = "models",
        srcs = ["softmax.mlir"],
        targets = ["metal:apple7"],
    )
"""

load("//private:bundle.bzl", _ingot_bundle = "ingot_bundle")
load("//private:toolchain.bzl", _ingot_toolchain = "ingot_toolchain")

ingot_bundle = _ingot_bundle
ingot_toolchain = _ingot_toolchain
