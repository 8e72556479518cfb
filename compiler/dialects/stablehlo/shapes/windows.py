"""Windows: `reduce_window`, `select_and_scatter` and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ingot.compiler.dialects.stablehlo.attributes import ConvAttr
from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    agree,
    alike,
    first,
    one_each,
    result_is,
    scalars,
    shape,
    takes_scalars,
    text,
)

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


def _padding(op: StableHLOOp, rank: int) -> str | None:
    amounts = op.ints("padding")
    if amounts is not None and len(amounts) != 2 * rank:
        return (
            f"needs two amounts of padding for each of {rank} dimensions, but has {list(amounts)}"
        )
    return None


def _places(
    op: StableHLOOp, sizes: Sequence[int], windows: Sequence[int], base: str, spread: str
) -> list[int]:
    """How many windows fit along each dimension.

    `base` and `spread` name the properties that dilate the tensor and the windows.
    """
    rank = len(sizes)
    ones = (1,) * rank
    steps, gaps, wide = (op.ints(name) or ones for name in ("window_strides", base, spread))
    padding = op.ints("padding") or (0,) * (2 * rank)
    result: list[int] = []
    for dim, (size, window) in enumerate(zip(sizes, windows, strict=True)):
        if DYNAMIC_INDEX in (size, window):
            result.append(DYNAMIC_INDEX)
            continue
        padded = padding[2 * dim] + max((size - 1) * gaps[dim] + 1, 0) * (size > 0)
        padded += padding[2 * dim + 1]
        covered = (window - 1) * wide[dim] + 1 if window else 0
        fits = padded > 0 and covered <= padded
        result.append((padded - covered) // steps[dim] + 1 if fits else 0)
    return result


def _window(op: StableHLOOp, rank: int) -> str | None:
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    return first((*(one_each(op, name, rank, 1) for name in names), _padding(op, rank)))


def _reduce_window(op: StableHLOOp) -> str | None:
    count = len(op.outs)
    if len(op.ins) != 2 * count:
        return "takes an input and an initial value for each result"
    sizes = shape(op.ins[0])
    broken = (
        alike("inputs", op.ins[:count])
        or scalars("initial values", op.ins[count:])
        or _window(op, len(sizes))
        or takes_scalars(op, 0, 2 * count, count)
    )
    if broken is not None:
        return broken
    windows = op.ints("window_dimensions") or (1,) * len(sizes)
    made = _places(op, sizes, windows, "base_dilations", "window_dilations")
    return first(result_is(op, made, i) for i in range(count))


def _select_and_scatter(op: StableHLOOp) -> str | None:
    operand, source, init = op.ins
    sizes = shape(operand)
    broken = (
        scalars("an initial value", [init])
        or _window(op, len(sizes))
        or takes_scalars(op, 0, 2, 1)
        or takes_scalars(op, 1, 2, 1)
    )
    if broken is not None:
        return broken
    windows = op.ints("window_dimensions") or (1,) * len(sizes)
    made = _places(op, sizes, windows, "base_dilations", "window_dilations")
    if not agree(shape(source), made):
        return f"has windows at {text(made)} places, but its source is {source.type}"
    return result_is(op, sizes)


def _names(side: str, names: Sequence[str], ends: str, spatial: int, rank: int) -> str | None:
    wanted = [*ends, *map(str, range(spatial))]
    if sorted(names) != sorted(wanted) or len(names) != rank:
        listed = ", ".join(names)
        return f"needs {', '.join(wanted)} for {rank} dimensions of its {side}, but has [{listed}]"
    return None


def _convolution(op: StableHLOOp) -> str | None:
    numbers = op.properties.get("dimension_numbers")
    if not isinstance(numbers, ConvAttr):
        return None
    source, kernel, result = (shape(value) for value in (*op.ins, op.outs[0]))
    sides = [[name.data for name in s] for s in (numbers.input, numbers.kernel, numbers.output)]
    spatial = max(len(source) - 2, 0)
    broken = first(
        _names(side, names, ends, spatial, len(sizes))
        for side, names, ends, sizes in zip(
            ("input", "kernel", "output"),
            sides,
            ("bf", "io", "bf"),
            (source, kernel, result),
            strict=True,
        )
    )
    names = ("window_strides", "lhs_dilation", "rhs_dilation")
    broken = broken or first((*(one_each(op, n, spatial, 1) for n in names), _padding(op, spatial)))
    broken = broken or one_each(op, "window_reversal", spatial, 0)
    if broken is not None:
        return broken
    given, weights, made = (
        dict(zip(side, sizes, strict=True))
        for side, sizes in zip(sides, (source, kernel, result), strict=True)
    )
    return _groups(op, given, weights) or _made(op, given, weights, made)


def _groups(op: StableHLOOp, given: dict[str, int], weights: dict[str, int]) -> str | None:
    groups = {name: op.int(f"{name}_group_count", 1) for name in ("feature", "batch")}
    if min(groups.values()) < 1 or max(groups.values()) > 1 < min(groups.values()):
        counts = f"{groups['feature']} of features and {groups['batch']} of the batch"
        return f"needs groups of features or of the batch, at least 1, but has {counts}"
    for what, size, count in (
        ("elements of the batch", given["b"], groups["batch"]),
        ("features of the input", given["f"], groups["feature"]),
        ("features of the output", weights["o"], max(groups.values())),
    ):
        if size != DYNAMIC_INDEX and size % count:
            return f"cannot part {size} {what} into {count} groups"
    features = given["f"] // groups["feature"]
    if given["f"] != DYNAMIC_INDEX and not agree([weights["i"]], [features]):
        return (
            f"needs a kernel for {features} features of the input, but has one for {weights['i']}"
        )
    return None


def _made(
    op: StableHLOOp, given: dict[str, int], weights: dict[str, int], made: dict[str, int]
) -> str | None:
    names = [str(dim) for dim in range(len(given) - 2)]
    places = _places(
        op, [given[n] for n in names], [weights[n] for n in names], "lhs_dilation", "rhs_dilation"
    )
    batch = given["b"]
    if batch != DYNAMIC_INDEX:
        batch //= op.int("batch_group_count", 1)
    wanted = {"b": batch, "f": weights["o"], **dict(zip(names, places, strict=True))}
    return result_is(op, [wanted[name] for name in made])


RULES: dict[str, Rule] = {
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.convolution": _convolution,
}
