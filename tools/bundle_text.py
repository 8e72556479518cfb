"""A whole bundle as readable text, for people and for FileCheck."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ingot.targets.bundle import model
from ingot.tools.description import Json, describe_bundle
from ingot.tools.steps_text import step_lines


def bundle_text(bundle: model.Bundle) -> str:
    """Functions, constants, and for each variant the commands and the kernels with their code."""
    return "\n".join(_lines(bundle)) + "\n"


def spell(type_: model.TensorType) -> str:
    """A type as MLIR spells its inside: `64x1000xf32`, `f32` for a scalar."""
    sizes = ["?" if size < 0 else str(size) for size in type_.shape]
    return "x".join([*sizes, type_.dtype.name.lower()])


def operand_text(operand: model.Operand) -> str:
    """A number, or the register that holds it."""
    return f"%{operand.index}" if isinstance(operand, model.Register) else str(operand)


def parameter_name(names: Sequence[str], index: int, prefix: str) -> str:
    """The name of an argument or result, with one for those without: `arg0`."""
    return (names[index] if index < len(names) else "") or f"{prefix}{index}"


def _lines(bundle: model.Bundle) -> Iterator[str]:
    made = bundle.provenance
    yield f"bundle from {made.input_hash}"
    cross = made.spirv_cross_version or "not used"
    yield f"  compiler {made.compiler_version}, SPIRV-Cross {cross}"
    for constant in bundle.constants:
        yield f"constant {constant.name}: {spell(constant.type)}, {constant.type.byte_size} bytes"
    for variant in bundle.variants:
        yield ""
        yield f"variant {variant.target} {{"
        yield f"  math {variant.math_mode}, MSL {'.'.join(map(str, variant.msl_version))}"
        if variant.required_features:
            yield f"  needs {', '.join(variant.required_features)}"
        for function in describe_bundle(bundle, variant.target)["functions"]:
            yield from _function(function)
        for kernel in variant.kernels:
            yield from _kernel(kernel)
        yield "}"


def _function(function: Json) -> Iterator[str]:
    def sizes(entry: Json) -> list[str]:
        return ["?" if size < 0 else str(size) for size in entry["shape"]]

    def types(entries: list[Json]) -> str:
        return ", ".join("x".join([*sizes(e), e["dtype"]]) for e in entries)

    results = types(function["results"])
    yield f"  function {function['name']}({types(function['arguments'])}) -> ({results}) {{"
    memory = function["memory"]
    yield f"    transient {memory['peak']} bytes, at least {memory['lower_bound']}"
    yield from (f"    {line}" for line in step_lines(function["setup"]))
    yield from (f"    {line}" for line in step_lines(function["commands"]))
    yield "  }"


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
