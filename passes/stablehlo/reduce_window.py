"""Reductions over windows: pad with the initial value, then fold each window; running sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.generics import Emitter, empty, fill
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import ingot
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_complex
from ingot.passes.stablehlo.reduce import combine
from ingot.passes.stablehlo.shapes import reverse
from ingot.passes.stablehlo.sizes import open_only, sizes_of
from ingot.passes.stablehlo.slices import pad


@dataclass(frozen=True)
class Window:
    """The windows of an op, one entry for each dimension."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    base_dilations: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]

    @classmethod
    def of(cls, op: StableHLOOp, rank: int) -> Window:
        """Read from the properties; what is left out is 1, and no padding."""
        ones = (1,) * rank
        padding = op.ints("padding") or (0,) * (2 * rank)
        return cls(
            op.ints("window_dimensions") or ones,
            op.ints("window_strides") or ones,
            op.ints("window_dilations") or ones,
            op.ints("base_dilations") or ones,
            padding[0::2],
            padding[1::2],
        )

    def running_dim(self, shape: Sequence[int]) -> tuple[int, bool] | None:
        """The dimension of a running combination, and whether it runs backwards."""
        ones = (1,) * len(shape)
        if (self.strides, self.dilations, self.base_dilations) != (ones, ones, ones):
            return None
        wide = [dim for dim, size in enumerate(self.sizes) if size > 1]
        if len(wide) != 1 or any(
            self.low[dim] or self.high[dim] for dim in range(len(shape)) if dim not in wide
        ):
            return None
        (dim,) = wide
        if self.sizes[dim] != shape[dim]:
            return None
        ends = self.low[dim], self.high[dim]
        if ends == (shape[dim] - 1, 0):
            return dim, False
        return (dim, True) if ends == (0, shape[dim] - 1) else None


_NEUTRAL: dict[str, int | None] = {
    "stablehlo.add": 0,
    "stablehlo.multiply": 1,
    "stablehlo.maximum": None,
    "stablehlo.minimum": None,
    "stablehlo.and": None,
    "stablehlo.or": None,
}
"""Ops that may be applied in any order, with the initial value that changes nothing however often
it is combined; None where every value is such."""


def lower_reduce_window(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Loops: the results' dimensions, then one for each dimension of the window above 1."""
    count = len(op.outs)
    inputs = low.operands(op)[:count]
    shape = shape_of(inputs[0])
    rank = len(shape)
    window = Window.of(op, rank)
    running = window.running_dim(shape)
    scans = count == 1 and 0 not in shape and not is_complex(op.outs[0].type)
    if scans and running is not None and _is_plain(low, op):
        return [_scan(low, op, inputs[0], *running)]
    gaps = [dilation - 1 for dilation in window.base_dilations]
    padded = [
        pad(low.emit, value, low.scalar(op.ins[count + i]), window.low, window.high, gaps)
        for i, value in enumerate(inputs)
    ]
    wide = [dim for dim in range(rank) if window.sizes[dim] > 1]
    total = rank + len(wide)
    exprs: list[AffineExpr] = []
    for dim in range(rank):
        expr = AffineExpr.dimension(dim) * window.strides[dim]
        if dim in wide:
            step = AffineExpr.dimension(rank + wide.index(dim)) * window.dilations[dim]
            expr = expr + step
        exprs.append(expr)
    map_ = AffineMap(total, 0, tuple(exprs))
    loops = tuple(AffineExpr.dimension(i) for i in range(total))
    window_type = TensorType(i1, [window.sizes[dim] for dim in wide])
    return combine(
        low,
        op,
        padded,
        [map_] * count,
        AffineMap(total, 0, loops[:rank]),
        [empty(low.emit, window_type)] if wide else [],
        [AffineMap(total, 0, loops[rank:])] if wide else [],
    )


def _is_plain(low: Lowering, op: StableHLOOp) -> bool:
    """Whether it does not matter how often the initial value is combined, as padding is."""
    first = op.bodies[0].block.first_op
    if first is None or first.name not in _NEUTRAL or first.next_op is None:
        return False
    if first.next_op.name != "stablehlo.return" or set(first.operands) != {
        *op.bodies[0].block.args
    }:
        return False
    neutral = _NEUTRAL[first.name]
    if neutral is None:
        return True
    splat = low.splat(op.ins[1])
    # or and and, which add and multiply are on booleans, have the same neutral elements.
    return isinstance(splat, IntegerAttr | FloatAttr) and abs(splat.value.data) == neutral


def _scan(low: Lowering, op: StableHLOOp, value: SSAValue, dim: int, backwards: bool) -> SSAValue:
    """`ingot.scan`: the last window has seen all elements."""
    type_ = low.result_type(op)
    element = type_.element_type
    sizes = sizes_of(low.emit, value)
    shape = [size for i, size in enumerate(type_.get_shape()) if i != dim]
    start: TensorType[Attribute] = TensorType(element, shape)
    rest = open_only(low.emit, start, [*sizes[:dim], *sizes[dim + 1 :]])
    init = fill(low.emit, low.scalar(op.ins[1]), start, rest)
    block = Block(arg_types=[element, element])
    inner = Emitter.at_end(block, low.emit.location)
    inner.add(ingot.YieldOp(*low.inline(inner, op.bodies[0], block.args)))
    source = reverse(low.emit, value, [dim]) if backwards else value
    output = empty(low.emit, type_, open_only(low.emit, type_, sizes))
    scan = low.emit.add(ingot.ScanOp(source, output, init, dim, True, Region(block)))
    return reverse(low.emit, scan.scanned, [dim]) if backwards else scan.scanned


LOWERINGS: dict[str, Lower] = {"stablehlo.reduce_window": lower_reduce_window}
