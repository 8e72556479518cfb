"""Ops on complex tensors: a complex tensor of shape S is one of floats of shape S x 2 in L1.

The last dimension holds the real and the imaginary part, as complex numbers lie in memory. Ops that
only move elements are those of real tensors with one more dimension; arithmetic reads both parts
and computes the one that it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, loop_indices, make_generic
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo import dot, shapes
from ingot.passes.stablehlo.elementwise import broadcast_map
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_complex
from ingot.passes.stablehlo.scalar import Scalar
from ingot.passes.stablehlo.slices import extract_slice, pad

Pair = tuple[Scalar, Scalar]
"""Real and imaginary part."""
Compute = Callable[..., Pair]


def part_map(rank: int, part: int, loops: int | None = None) -> AffineMap:
    """How one part of a complex tensor of `rank` dimensions is read."""
    exprs = [AffineExpr.dimension(dim) for dim in range(rank)]
    return AffineMap(rank if loops is None else loops, 0, (*exprs, AffineConstantExpr(part)))


def _read(
    low: Lowering, op: StableHLOOp, loops: int
) -> tuple[list[SSAValue], list[AffineMap], list[bool]]:
    """Inputs and maps that read both parts of complex operands, and which operands are such."""
    inputs: list[SSAValue] = []
    maps: list[AffineMap] = []
    kinds: list[bool] = []
    for old, new in zip(op.ins, low.operands(op), strict=True):
        complex_ = is_complex(old.type)
        rank = len(shape_of(new)) - complex_
        kinds.append(complex_)
        if complex_:
            inputs += [new, new]
            maps += [part_map(rank, part, loops) for part in range(2)]
        else:
            inputs.append(new)
            maps.append(AffineMap(loops, 0, tuple(AffineExpr.dimension(i) for i in range(rank))))
    return inputs, maps, kinds


def _group(emit: Emitter, args: Sequence[SSAValue], kinds: Sequence[bool]) -> list[Scalar | Pair]:
    scalars = [Scalar(emit, arg) for arg in args]
    grouped: list[Scalar | Pair] = []
    position = 0
    for complex_ in kinds:
        if complex_:
            grouped.append((scalars[position], scalars[position + 1]))
        else:
            grouped.append(scalars[position])
        position += 1 + complex_
    return grouped


def _to_complex(compute: Compute) -> Lower:
    """An elementwise op with a complex result."""

    def lower(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
        type_ = low.result_type(op)
        rank = type_.get_num_dims()
        inputs, maps, kinds = _read(low, op, rank)

        def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            real, imaginary = compute(*_group(emit, args, kinds))
            part = Scalar(emit, loop_indices(emit, rank)[-1])
            return [part.eq(0).select(real, imaginary).ssa]

        return [elementwise(low.emit, type_, inputs, maps, body)]

    return lower


def _to_real(compute: Callable[..., Scalar]) -> Lower:
    """An elementwise op on complex operands with a real result."""

    def lower(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
        type_ = low.result_type(op)
        inputs, maps, kinds = _read(low, op, type_.get_num_dims())

        def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            return [compute(*_group(emit, args, kinds)).ssa]

        return [elementwise(low.emit, type_, inputs, maps, body)]

    return lower


def multiply(a: Pair, b: Pair) -> Pair:
    """(ar br - ai bi) + (ar bi + ai br) i."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def divide(a: Pair, b: Pair) -> Pair:
    """By Smith's formula, which does not overflow where the quotient does not."""
    by_real = b[0].abs().compare("ge", b[1].abs())
    large, small = by_real.select(b[0], b[1]), by_real.select(b[1], b[0])
    ratio = small / large
    scale = large + small * ratio
    x, y = by_real.select(a[0], a[1]), by_real.select(a[1], a[0])
    real = (x + y * ratio) / scale
    first = (y - x * ratio) / scale
    return real, by_real.select(first, -first)


def magnitude(a: Pair) -> Scalar:
    """sqrt(re^2 + im^2) without overflow; infinite if a part is."""
    x, y = a[0].abs(), a[1].abs()
    large, small = x.maximum(y), x.minimum(y)
    ratio = small / large
    result = large * (ratio * ratio + 1.0).call("math.sqrt")
    result = large.eq(0.0).select(large, result)
    infinite = x.like(float("inf"))
    return (x.eq(infinite) | y.eq(infinite)).select(infinite, result)


def exponential(a: Pair) -> Pair:
    """exp(re) (cos im + i sin im)."""
    size = a[0].call("math.exp")
    return size * a[1].call("math.cos"), size * a[1].call("math.sin")


def logarithm(a: Pair) -> Pair:
    """log |a| + i arg a."""
    return magnitude(a).call("math.log"), a[1].call("math.atan2", a[0])


def _real(a: Pair) -> Scalar:
    return a[0]


def _imaginary(a: Pair) -> Scalar:
    return a[1]


def _pair(real: Scalar, imaginary: Scalar) -> Pair:
    return real, imaginary


def _add(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def _subtract(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def _negate(a: Pair) -> Pair:
    return -a[0], -a[1]


def _conjugate(a: Pair) -> Pair:
    return a[0], -a[1]


def _square(a: Pair) -> Pair:
    return multiply(a, a)


def _select(condition: Scalar, a: Pair, b: Pair) -> Pair:
    return condition.select(a[0], b[0]), condition.select(a[1], b[1])


def lower_compare(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Equal if both parts are."""
    direction = op.word("comparison_direction")
    if direction not in ("EQ", "NE"):
        raise refuse(op, f"stablehlo.compare {direction} of complex numbers is not defined")

    def compute(a: Pair, b: Pair) -> Scalar:
        equal = a[0].eq(b[0]) & a[1].eq(b[1])
        return equal if direction == "EQ" else ~equal

    return _to_real(compute)(low, op)


def lower_convert(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """A real number has no imaginary part; of a complex one the real part is kept."""
    if not is_complex(op.outs[0].type):
        element = low.result_type(op).element_type

        def real(a: Pair) -> Scalar:
            return a[0].to(element)

        return _to_real(real)(low, op)
    if is_complex(op.ins[0].type):
        return low.operands(op)
    element = low.result_type(op).element_type

    def compute(a: Scalar) -> Pair:
        real = a.to(element)
        return real, real.like(0.0)

    return _to_complex(compute)(low, op)


def lower_broadcast_in_dim(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Both parts follow."""
    (value,) = low.operands(op)
    type_ = low.result_type(op)
    dims = (*(op.ints("broadcast_dimensions") or ()), type_.get_num_dims() - 1)
    map_ = broadcast_map(shape_of(value), type_.get_shape(), dims)
    return [elementwise(low.emit, type_, [value], [map_], lambda _, args: args)]


def lower_transpose(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Both parts follow."""
    permutation = op.ints("permutation") or ()
    return [shapes.transpose(low.emit, low.value(op.ins[0]), (*permutation, len(permutation)))]


def lower_slice(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Both parts follow."""
    (value,) = low.operands(op)
    starts, strides = op.ints("start_indices") or (), op.ints("strides")
    sizes = low.result_type(op).get_shape()
    strides = strides or (1,) * len(starts)
    return [extract_slice(low.emit, value, (*starts, 0), sizes, (*strides, 1))]


def parts(emit: Emitter, value: SSAValue) -> list[SSAValue]:
    """The real and the imaginary part of a complex tensor as tensors."""
    type_ = tensor_type(value)
    shape = type_.get_shape()[:-1]
    part: TensorType[Attribute] = TensorType(type_.element_type, shape)
    return [
        elementwise(emit, part, [value], [part_map(len(shape), i)], lambda _, args: args)
        for i in range(2)
    ]


def join(emit: Emitter, type_: TensorType[Attribute], values: Sequence[SSAValue]) -> SSAValue:
    """The complex tensor of a real and an imaginary part."""
    rank = type_.get_num_dims()
    map_ = AffineMap(rank, 0, tuple(AffineExpr.dimension(i) for i in range(rank - 1)))

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        part = Scalar(inner, loop_indices(inner, rank)[-1])
        return [part.eq(0).select(Scalar(inner, args[0]), Scalar(inner, args[1])).ssa]

    return elementwise(emit, type_, values, [map_, map_], body)


def lower_pad(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Each part padded by its own."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    amounts = [op.ints(name) or () for name in names]
    value, padding = low.operands(op)
    type_ = low.result_type(op)
    padded: list[SSAValue] = []
    for i, part in enumerate(parts(low.emit, value)):
        extract = tensor.ExtractOp(padding, [low.emit.index(i)], type_.element_type)
        padded.append(pad(low.emit, part, low.emit.add(extract).result, *amounts))
    return [join(low.emit, type_, padded)]


def lower_dot_general(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Four products of parts."""
    type_ = low.result_type(op)
    part: TensorType[Attribute] = TensorType(type_.element_type, type_.get_shape()[:-1])
    left, right = (parts(low.emit, value) for value in low.operands(op))
    products = [[dot.product(low, op, [a, b], part) for b in right] for a in left]
    identity = AffineMap.identity(part.get_num_dims())

    def combine(a: SSAValue, b: SSAValue, subtract: bool) -> SSAValue:
        def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            x, y = Scalar(inner, args[0]), Scalar(inner, args[1])
            return [(x - y if subtract else x + y).ssa]

        return elementwise(low.emit, part, [a, b], [identity, identity], body)

    real = combine(products[0][0], products[1][1], subtract=True)
    imaginary = combine(products[0][1], products[1][0], subtract=False)
    return [join(low.emit, type_, [real, imaginary])]


def lower_reduce(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Sums, each part by itself."""
    first = op.bodies[0].block.first_op
    arguments = set(op.bodies[0].block.args)
    if (
        len(op.outs) != 1
        or first is None
        or first.name != "stablehlo.add"
        or set(first.operands) != arguments
        or first.next_op is not op.bodies[0].block.last_op
    ):
        raise refuse(op, "stablehlo.reduce of complex numbers is supported for sums only")
    value, init = low.operands(op)
    type_ = low.result_type(op)
    rank, kept = len(shape_of(value)), type_.get_num_dims()
    last = AffineMap(kept, 0, (AffineExpr.dimension(kept - 1),))
    start = elementwise(low.emit, type_, [init], [last], lambda _, args: args)
    block = Block(arg_types=[type_.element_type] * 2)
    inner = Emitter.at_end(block, low.emit.location)
    inner.add(YieldOp((Scalar(inner, block.args[1]) + Scalar(inner, block.args[0])).ssa))
    dims = op.ints("dimensions") or ()
    output = tuple(AffineExpr.dimension(dim) for dim in range(rank) if dim not in dims)
    iterators = [
        IteratorTypeAttr.reduction() if dim in dims else IteratorTypeAttr.parallel()
        for dim in range(rank)
    ]
    maps = [AffineMap.identity(rank), AffineMap(rank, 0, output)]
    return make_generic(low.emit, [value], [start], maps, iterators, Region(block)).results


LOWERINGS: dict[str, Lower] = {
    f"stablehlo.{name}": rule
    for name, rule in {
        "constant": shapes.lower_constant,
        "reshape": shapes.lower_reshape,
        "reverse": shapes.lower_reverse,
        "concatenate": shapes.lower_concatenate,
        "optimization_barrier": shapes.lower_barrier,
        "broadcast_in_dim": lower_broadcast_in_dim,
        "transpose": lower_transpose,
        "slice": lower_slice,
        "pad": lower_pad,
        "dot_general": lower_dot_general,
        "reduce": lower_reduce,
        "complex": _to_complex(_pair),
        "real": _to_real(_real),
        "imag": _to_real(_imaginary),
        "abs": _to_real(magnitude),
        "compare": lower_compare,
        "convert": lower_convert,
        "select": _to_complex(_select),
        "add": _to_complex(_add),
        "subtract": _to_complex(_subtract),
        "multiply": _to_complex(multiply),
        "divide": _to_complex(divide),
        "negate": _to_complex(_negate),
        "exponential": _to_complex(exponential),
        "log": _to_complex(logarithm),
    }.items()
} | {
    "chlo.conj": _to_complex(_conjugate),
    "chlo.square": _to_complex(_square),
}
