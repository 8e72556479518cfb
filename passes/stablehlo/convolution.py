"""Convolutions of every dimension order, stride, dilation, padding, group and reversal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.stablehlo.attributes import ConvAttr
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.dot import contract
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.scalar import literal
from ingot.passes.stablehlo.slices import pad


@dataclass(frozen=True)
class Layout:
    """Where the dimensions of input, kernel and output lie, and how the windows move."""

    input: tuple[str, ...]
    kernel: tuple[str, ...]
    output: tuple[str, ...]
    strides: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    input_dilation: tuple[int, ...]
    kernel_dilation: tuple[int, ...]
    reversed: tuple[bool, ...]
    feature_groups: int
    batch_groups: int

    @classmethod
    def of(cls, op: StableHLOOp) -> Layout:
        """Read from the properties."""
        numbers = op.properties.get("dimension_numbers")
        if not isinstance(numbers, ConvAttr):
            raise refuse(op, "stablehlo.convolution without dimension numbers")

        def names(side: ArrayAttr[StringAttr]) -> tuple[str, ...]:
            return tuple(name.data for name in side)

        ones = (1,) * (len(numbers.input) - 2)
        padding = op.ints("padding") or (0,) * (2 * len(ones))
        return cls(
            names(numbers.input),
            names(numbers.kernel),
            names(numbers.output),
            op.ints("window_strides") or ones,
            padding[0::2],
            padding[1::2],
            op.ints("lhs_dilation") or ones,
            op.ints("rhs_dilation") or ones,
            tuple(flag != 0 for flag in op.ints("window_reversal") or (0,) * len(ones)),
            op.int("feature_group_count", 1),
            op.int("batch_group_count", 1),
        )

    @property
    def groups(self) -> int:
        """Groups of either kind; they are never both above 1."""
        return self.feature_groups * self.batch_groups


def _spread(names: Sequence[str], values: Sequence[int]) -> list[int]:
    """Values of the spatial dimensions at their places, 0 elsewhere."""
    return [values[int(name)] if name.isdigit() else 0 for name in names]


def _split(names: Sequence[str], shape: Sequence[int], name: str, groups: int) -> tuple[
    list[str], list[int]
]:  # fmt: skip
    """The dimension `name` as two: its groups, then what is in one."""
    if groups == 1:
        return list(names), list(shape)
    at = list(names).index(name)
    new_names = [*names[:at], "g", *names[at:]]
    return new_names, [*shape[:at], groups, shape[at] // groups, *shape[at + 1 :]]


def lower_convolution(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Pad the input, split groups off, then sum products over the window and the input features.

    Loops: those of the output in its order, then the window, then the input features.
    """
    layout = Layout.of(op)
    type_ = low.result_type(op)
    source, kernel = low.operands(op)
    source = _padded(low, layout, source)
    in_names, in_shape = _split(
        layout.input,
        shape_of(source),
        "b" if layout.batch_groups > 1 else "f",
        layout.groups,
    )
    kernel_names, kernel_shape = _split(layout.kernel, shape_of(kernel), "o", layout.groups)
    out_names, out_shape = _split(layout.output, type_.get_shape(), "f", layout.groups)
    source = reshape(low.emit, source, in_shape)
    window = dict(zip(kernel_names, kernel_shape, strict=True))
    kernel = reshape(low.emit, kernel, kernel_shape)

    spatial = len(layout.strides)
    loops = len(out_names) + spatial + 1
    out_loop = {name: AffineExpr.dimension(i) for i, name in enumerate(out_names)}
    window_loop = [AffineExpr.dimension(len(out_names) + i) for i in range(spatial)]
    feature = AffineExpr.dimension(loops - 1)

    def input_index(name: str) -> AffineExpr:
        if name == "f":
            return feature
        if not name.isdigit():
            return out_loop[name]
        i = int(name)
        step = window_loop[i]
        if layout.reversed[i]:
            step = step * -1 + (window[name] - 1)
        return out_loop[name] * layout.strides[i] + step * layout.kernel_dilation[i]

    def kernel_index(name: str) -> AffineExpr:
        if name.isdigit():
            return window_loop[int(name)]
        return {"i": feature, "o": out_loop["f"], "g": out_loop.get("g", feature)}[name]

    maps = [
        AffineMap(loops, 0, tuple(map(input_index, in_names))),
        AffineMap(loops, 0, tuple(map(kernel_index, kernel_names))),
        AffineMap(loops, 0, tuple(out_loop[name] for name in out_names)),
    ]
    unsigned = [is_unsigned(operand.type) for operand in op.ins]
    result_type = TensorType(type_.element_type, out_shape)
    result = contract(low.emit, [source, kernel], unsigned, maps, result_type)
    return [reshape(low.emit, result, type_.get_shape())]


def _padded(low: Lowering, layout: Layout, source: SSAValue) -> SSAValue:
    amounts = [
        _spread(layout.input, values)
        for values in (layout.low, layout.high, [d - 1 for d in layout.input_dilation])
    ]
    if not any(any(values) for values in amounts):
        return source
    padding = literal(low.emit, 0, tensor_type(source).element_type).ssa
    return pad(low.emit, source, padding, *amounts)


LOWERINGS: dict[str, Lower] = {"stablehlo.convolution": lower_convolution}
