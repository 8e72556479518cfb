"""A whole bundle as readable text, for people and for FileCheck."""

from __future__ import annotations

from collections.abc import Iterator

from ingot.targets.bundle import model


def bundle_text(bundle: model.Bundle) -> str:
    """Functions, constants, and for each variant the commands and the kernels with their code."""
    return "\n".join(_lines(bundle)) + "\n"


def spell(type_: model.TensorType) -> str:
    """A type as MLIR spells its inside: `64x1000xf32`, `f32` for a scalar."""
    sizes = ["?" if size < 0 else str(size) for size in type_.shape]
    return "x".join([*sizes, type_.dtype.name.lower()])


def _lines(bundle: model.Bundle) -> Iterator[str]:
    made = bundle.provenance
    yield f"bundle from {made.input_hash}"
    cross = made.spirv_cross_version or "not used"
    yield f"  compiler {made.compiler_version}, SPIRV-Cross {cross}"
    for constant in bundle.constants:
        yield f"constant {constant.name}: {spell(constant.type)}, {len(constant.data)} bytes"
    for variant in bundle.variants:
        yield ""
        yield f"variant {variant.target} {{"
        yield f"  math {variant.math_mode}, MSL {'.'.join(map(str, variant.msl_version))}"
        if variant.required_features:
            yield f"  needs {', '.join(variant.required_features)}"
        for function, body in zip(bundle.functions, variant.bodies, strict=True):
            yield from _function(function, body, variant)
        for kernel in variant.kernels:
            yield from _kernel(kernel)
        yield "}"


def _function(
    function: model.Function, body: model.FunctionBody, variant: model.Variant
) -> Iterator[str]:
    arguments = ", ".join(map(spell, function.arguments))
    results = ", ".join(map(spell, function.results))
    yield f"  function {function.name}({arguments}) -> ({results}) {{"
    yield f"    transient {body.transient_size} bytes, at least {body.transient_lower_bound}"
    for command in body.commands:
        yield f"    {_command(command, variant)}"
    yield "  }"


def _command(command: model.Command, variant: model.Variant) -> str:
    match command:
        case model.Dispatch():
            groups = "x".join(map(str, command.groups))
            bindings = ", ".join(map(_ref, command.bindings))
            return f"dispatch {variant.kernels[command.kernel].name} groups {groups} ({bindings})"
        case model.Fill():
            return f"fill {_ref(command.target)} with 0x{command.pattern.hex()}"
        case model.Copy():
            return f"copy {_ref(command.source)} to {_ref(command.target)}"
        case model.Barrier():
            return "barrier"


def _ref(ref: model.BufferRef) -> str:
    index = "" if ref.kind is model.BufferKind.TRANSIENT else f" {ref.index}"
    return f"{ref.kind.name.lower()}{index}[{ref.offset}:{ref.offset + ref.length}]"


def _kernel(kernel: model.Kernel) -> Iterator[str]:
    threads = "x".join(map(str, kernel.threadgroup_size))
    yield f"  kernel {kernel.name} entry {kernel.entry_point} threads {threads} {{"
    if kernel.threadgroup_memory:
        yield f"    threadgroup memory {kernel.threadgroup_memory} bytes"
    for index, binding in enumerate(kernel.bindings):
        access = binding.access.name.lower()
        yield f"    binding {index} {binding.name}: {binding.dtype.name.lower()}, {access}"
    yield f"    spirv {len(kernel.spirv)} bytes"
    if kernel.msl:
        yield "    msl {"
        yield from (f"      {line}".rstrip() for line in kernel.msl.splitlines())
        yield "    }"
    yield "  }"
