"""A bundle as plain JSON values: what `ingot inspect --json` prints."""

from __future__ import annotations

from dataclasses import fields
from enum import IntEnum
from typing import Any, cast

from ingot.targets.bundle import model

Json = dict[str, Any]


def describe_bundle(bundle: model.Bundle, target: str | None = None) -> Json:
    """Functions, kernels and memory of one variant (the first by default), and all variants.

    Sizes are in bytes. Raises `KeyError` when no variant is for `target`.
    """
    variants = {variant.target: variant for variant in bundle.variants}
    shown = variants[target] if target is not None else bundle.variants[0]
    return {
        "target": shown.target,
        "targets": list(variants),
        **_describe_variant(bundle, shown),
        "constants": [
            {"name": c.name, **_type(c.type), "bytes": c.type.byte_size, "file": _file(c)}
            for c in bundle.constants
        ],
        "variants": [_describe_variant(bundle, variant) for variant in bundle.variants],
        "provenance": {
            "compiler_version": bundle.provenance.compiler_version,
            "spirv_cross_version": bundle.provenance.spirv_cross_version,
            "input_hash": bundle.provenance.input_hash,
            "pipeline": bundle.provenance.pipeline,
        },
    }


def _describe_variant(bundle: model.Bundle, variant: model.Variant) -> Json:
    return {
        "variant": {
            "target": variant.target,
            "api": variant.api,
            "family": variant.family,
            "simd_width": variant.simd_width,
            "math_mode": variant.math_mode,
            "msl_version": ".".join(map(str, variant.msl_version)),
            "required_features": list(variant.required_features),
        },
        "functions": [
            _function(function, body, variant)
            for function, body in zip(bundle.functions, variant.bodies, strict=True)
        ],
        "kernels": [_kernel(kernel) for kernel in variant.kernels],
        "memory": {
            "peak": max((b.transient_size for b in variant.bodies), default=0),
            "lower_bound": max((b.transient_lower_bound for b in variant.bodies), default=0),
            "constants": sum(c.type.byte_size for c in bundle.constants),
        },
    }


def _function(function: model.Function, body: model.FunctionBody, variant: model.Variant) -> Json:
    return {
        "name": function.name,
        "arguments": _signature(function.arguments, function.argument_names),
        "results": _signature(function.results, function.result_names),
        "setup": [_step(step, variant) for step in body.setup],
        "commands": [_step(command, variant) for command in body.commands],
        "registers": body.registers,
        "result_sizes": [_value(size, variant) for size in body.result_sizes],
        "memory": {
            "peak": body.transient_size or _value(body.transient, variant),
            "lower_bound": body.transient_lower_bound,
        },
    }


def _step(step: model.Command | model.Setup, variant: model.Variant) -> Json:
    """`kind` is the name of the class in lower case, the other keys are its fields."""
    described: Json = {"kind": type(step).__name__.lower()}
    for field in fields(step):
        value = getattr(step, field.name)
        if field.name == "kernel":
            described["kernel"] = variant.kernels[cast("int", value)].name
        elif field.name != "push_constants" or value:
            described[field.name] = _value(value, variant)
    return described


def _value(value: object, variant: model.Variant) -> object:
    match value:
        case model.Register():
            return f"%{value.index}"
        case model.BufferRef():
            return {
                "buffer": value.kind.name.lower(),
                "index": value.index,
                "offset": _value(value.offset, variant),
                "length": _value(value.length, variant),
            }
        case bytes():
            return value.hex()
        case IntEnum():
            return value.name.lower()
        case tuple():
            return [_value(item, variant) for item in cast("tuple[object, ...]", value)]
        case int() | str():
            return value
        case _:
            return _step(cast("model.Command", value), variant)


def _kernel(kernel: model.Kernel) -> Json:
    return {
        "name": kernel.name,
        "entry_point": kernel.entry_point,
        "spirv_entry_point": kernel.spirv_entry_point,
        "threadgroup_size": list(kernel.threadgroup_size),
        "threadgroup_memory": kernel.threadgroup_memory,
        "bindings": [
            {
                "name": binding.name,
                "dtype": binding.dtype.name.lower(),
                "access": binding.access.name.lower(),
            }
            for binding in kernel.bindings
        ],
        "argument_buffer": kernel.argument_buffer,
        "push_constant_bytes": kernel.push_constant_size,
        "spirv_bytes": len(kernel.spirv),
        "msl_bytes": len(kernel.msl.encode()),
        "metallib_bytes": {lib.platform: len(lib.data) for lib in kernel.metallibs},
        "location": kernel.location,
    }


def _signature(types: tuple[model.TensorType, ...], names: tuple[str, ...]) -> list[Json]:
    padded = [*names, *[""] * (len(types) - len(names))]
    return [{"name": name, **_type(type_)} for name, type_ in zip(padded, types, strict=True)]


def _file(constant: model.Constant) -> str:
    """The file of the data where it is another than the bundle's."""
    return constant.weight.file if constant.weight is not None else ""


def _type(type_: model.TensorType) -> Json:
    return {"dtype": type_.dtype.name.lower(), "shape": list(type_.shape)}
