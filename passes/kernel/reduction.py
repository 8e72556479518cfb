"""Emit reductions that one thread computes alone, as loops with accumulators.

Sums of f16 and bf16, and the products in them, are computed in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    UnitAttr,
    VectorType,
    f32,
)
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.type import get_element_type_or_self

from ingot.compiler.analysis.constant_zeros import ZERO_STAYS
from ingot.compiler.analysis.structured import (
    Combiner,
    indexing_maps,
    loop_extents,
    match_combiner,
    match_contraction,
    reduction_loops,
    shape_of,
)
from ingot.compiler.dialects.arith import AddfOp, ExtFOp, MulfOp, TruncFOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.emitter import Lanes, on_behalf_of_op
from ingot.passes.kernel.evaluate import Evaluator, loops_of
from ingot.passes.kernel.indices import dimension_sizes, result_index
from ingot.passes.kernel.linear import Linear, linear_of_expr
from ingot.passes.kernel.memory import shift


def wide_accumulator(value: SSAValue) -> Attribute | None:
    """f32 when `value` is a sum of f16 or bf16 that a reduction computes, else None."""
    owner = value.owner
    if not isinstance(owner, GenericOp):
        return None
    combiner = match_combiner(owner)
    return f32 if combiner is not None and _is_narrow_sum(combiner) else None


def _is_narrow_sum(combiner: Combiner) -> bool:
    return isinstance(combiner.op, AddfOp) and isinstance(
        combiner.contribution.type, Float16Type | BFloat16Type
    )


def widen_accumulator(evaluator: Evaluator, value: SSAValue, wide: Attribute | None) -> SSAValue:
    """Extend an accumulator, scalar or vector, to the type that it is summed in."""
    if wide is None or isinstance(get_element_type_or_self(value.type), Float32Type):
        return value
    return evaluator.emit(ExtFOp(value, with_element(value.type, wide))).result


def rescaled(evaluator: Evaluator, total: SSAValue, factor: SSAValue) -> SSAValue:
    """A sum of exponentials, or of what they weigh, for a new maximum; nothing stays nothing."""
    product = evaluator.emit(MulfOp(total, factor))
    product.attributes[ZERO_STAYS] = UnitAttr()
    return product.result


def narrow(evaluator: Evaluator, value: SSAValue, like: SSAValue) -> SSAValue:
    """Round an accumulator to the element type of the tensor `like`."""
    element = get_element_type_or_self(like.type)
    if get_element_type_or_self(value.type) == element:
        return value
    return evaluator.emit(TruncFOp(value, with_element(value.type, element))).result


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """A scalar or vector type with another element type."""
    if isinstance(type_, VectorType):
        return VectorType(element, type_.get_shape())
    return element


@on_behalf_of_op
def reduce_at(
    evaluator: Evaluator,
    op: GenericOp,
    value: SSAValue,
    index: Sequence[Linear],
    lanes: Lanes | None,
) -> SSAValue:
    """One element, or vector, of a result of a reduction."""
    result = result_index(value)
    maps = indexing_maps(op)[len(op.inputs) :]
    start, loop_lanes = loops_of(maps[result], index, lanes)
    return _reduce(evaluator, op, [start], loop_lanes)[0][result]


@on_behalf_of_op
def reduce_points(
    evaluator: Evaluator,
    op: GenericOp,
    points: Sequence[tuple[Linear, ...]],
    lanes: Lanes | None,
    unroll: int = 1,
) -> None:
    """Compute a reduction at all points of its first result in one loop nest, and remember it.

    `unroll` steps of a contraction's innermost loop are emitted together where they divide it.
    """
    maps = indexing_maps(op)[len(op.inputs) :]
    loop_lanes = None
    starts: list[list[Linear]] = []
    for index in points:
        start, loop_lanes = loops_of(maps[0], index, lanes)
        starts.append(start)
    for start, values in zip(
        starts, _reduce(evaluator, op, starts, loop_lanes, unroll), strict=True
    ):
        for value, map_, code in zip(op.results, maps, values, strict=True):
            index, own_lanes = _index_of(map_, start, loop_lanes)
            evaluator.remember(value, index, own_lanes, code)


def _index_of(
    out: AffineMap, loops: Sequence[Linear], lanes: Lanes | None
) -> tuple[list[Linear], Lanes | None]:
    index: list[Linear] = []
    own = None
    for position, expr in enumerate(out.results):
        assert isinstance(expr, AffineDimExpr)
        index.append(loops[expr.position])
        if lanes is not None and lanes.dim == expr.position:
            own = Lanes(position, lanes.width)
    return index, own


def _reduce(
    evaluator: Evaluator,
    op: GenericOp,
    starts: Sequence[Sequence[Linear]],
    lanes: Lanes | None,
    unroll: int = 1,
) -> list[list[SSAValue]]:
    """The results at each start, each in its own type unless a loop carries it wide."""
    maps = indexing_maps(op)[len(op.inputs) :]
    combiner = match_combiner(op)
    wide = f32 if combiner is not None and _is_narrow_sum(combiner) else None
    width = None if lanes is None else lanes.width
    carried = False
    accumulators: list[SSAValue] = []
    for start in starts:
        for output, map_ in zip(op.outputs, maps, strict=True):
            index, own = _index_of(map_, start, lanes)
            init = evaluator.widen(evaluator.element(output, index, own), width)
            carried = carried or init.type != with_element(
                init.type, get_element_type_or_self(output.type)
            )
            accumulators.append(widen_accumulator(evaluator, init, wide))

    def single(points: Sequence[Sequence[Linear]], current: Sequence[SSAValue]) -> list[SSAValue]:
        count = len(op.outputs)
        after: list[SSAValue] = []
        for i, loops in enumerate(points):
            before = current[i * count : (i + 1) * count]
            if combiner is not None and wide is not None:
                after.append(_add_wide(evaluator, op, loops, lanes, before[0], combiner))
            else:
                values = evaluator.inline(op, loops, lanes, before)
                after.extend(evaluator.widen(v, width) for v in values)
        return after

    loops = reduction_loops(op)
    extent = loop_extents(op)[loops[-1]]
    step: _Step = single
    if unroll > 1 and extent > unroll and match_contraction(op):
        step = _unrolled(evaluator, op, loops[-1], single, unroll, lanes)
    else:
        unroll = 1
    points = [list(s) for s in starts]
    finals = _nest(evaluator, op, loops, points, accumulators, step, unroll, single)
    count = len(op.outputs)
    if wide is not None and not carried:
        finals = [narrow(evaluator, v, op.outputs[i % count]) for i, v in enumerate(finals)]
    return [finals[i * count : (i + 1) * count] for i in range(len(starts))]


@on_behalf_of_op
def accumulate(
    evaluator: Evaluator,
    op: GenericOp,
    loops: Sequence[Linear],
    lanes: Lanes | None,
    accumulator: SSAValue,
) -> SSAValue:
    """One step of a reduction with one result, at a point of its loops."""
    combiner = match_combiner(op)
    if combiner is not None and _is_narrow_sum(combiner):
        return _add_wide(evaluator, op, loops, lanes, accumulator, combiner)
    (value,) = evaluator.inline(op, loops, lanes, [accumulator])
    return evaluator.widen(value, None if lanes is None else lanes.width)


def _add_wide(
    evaluator: Evaluator,
    op: GenericOp,
    loops: Sequence[Linear],
    lanes: Lanes | None,
    accumulator: SSAValue,
    combiner: Combiner,
) -> SSAValue:
    """Add a contribution of f16 or bf16 to an accumulator in f32.

    A product is computed in f32, where it is exact, from factors that are extended once.
    """
    width = None if lanes is None else lanes.width
    product = combiner.contribution.owner

    def extended(value: SSAValue) -> SSAValue:
        (part,) = evaluator.inline(op, loops, lanes, [accumulator], until=value)
        type_ = with_element(part.type, f32)
        return evaluator.once(
            ("extended", part), lambda: evaluator.emit(ExtFOp(part, type_)).result
        )

    if isinstance(product, MulfOp):
        lhs, rhs = (evaluator.widen(extended(v), width) for v in product.operands)
        part = evaluator.emit(MulfOp(lhs, rhs)).result
    else:
        part = evaluator.widen(extended(combiner.contribution), width)
    return evaluator.emit(AddfOp(accumulator, part)).result


_Step = Callable[[Sequence[Sequence[Linear]], Sequence[SSAValue]], list[SSAValue]]


def _nest(
    evaluator: Evaluator,
    op: GenericOp,
    loops: Sequence[int],
    points: list[list[Linear]],
    accumulators: Sequence[SSAValue],
    step: _Step,
    stride: int,
    single: _Step,
) -> list[SSAValue]:
    """One `scf.for` for each reduction loop, outermost first, around `step`.

    The innermost loop advances by `stride`; what is left behind it takes `single` steps.
    """
    if not loops:
        return step(points, accumulators)
    loop, *rest = loops
    extent = _extent(op, loop)
    if extent == 1:
        at = [[Linear() if i == loop else f for i, f in enumerate(p)] for p in points]
        return _nest(evaluator, op, rest, at, accumulators, step, stride, single)
    left = extent % stride if isinstance(extent, int) and not rest else 0
    whole = extent - left if isinstance(extent, int) else extent
    lower, upper = evaluator.index_value(0), evaluator.index_value(whole)
    advance = evaluator.index_value(1 if rest else stride)
    block = Block(arg_types=[advance.type, *(v.type for v in accumulators)])
    with evaluator.inside(block):
        iv = Linear.of(block.args[0])
        at = [[iv if i == loop else f for i, f in enumerate(p)] for p in points]
        inner = _nest(evaluator, op, rest, at, block.args[1:], step, stride, single)
        evaluator.emit(YieldOp(*inner))
    result = ForOp(lower, upper, advance, accumulators, block)
    result.location = op.location
    values: list[SSAValue] = list(evaluator.emit(result).results)
    for number in range(left):
        assert isinstance(whole, int)
        last = Linear((), whole + number)
        at = [[last if i == loop else f for i, f in enumerate(p)] for p in points]
        values = single(at, values)
    return values


def _unrolled(
    evaluator: Evaluator, op: GenericOp, loop: int, step: _Step, count: int, lanes: Lanes | None
) -> _Step:
    """`count` steps along `loop` at once; inputs that are contiguous along it, or along a loop of
    which a thread computes several points, are read as vectors."""
    inputs = list(zip(op.inputs, indexing_maps(op), strict=False))
    along_lanes = None if lanes is None else AffineDimExpr(lanes.dim)

    def steps(points: Sequence[Sequence[Linear]], current: Sequence[SSAValue]) -> list[SSAValue]:
        for operand, map_ in inputs:
            if map_.results[-1] == AffineDimExpr(loop):
                _read_vectors(evaluator, operand, map_, _of_each_lane(points, lanes), count)
        values = list(current)
        for number in range(count):
            at = [[f + number if i == loop else f for i, f in enumerate(p)] for p in points]
            for operand, map_ in inputs:
                last = map_.results[-1]
                if last not in (AffineDimExpr(loop), along_lanes):
                    _read_vectors(evaluator, operand, map_, at, count, only_these=True)
            values = step(at, values)
        return values

    return steps


def _of_each_lane(
    points: Sequence[Sequence[Linear]], lanes: Lanes | None
) -> Sequence[Sequence[Linear]]:
    """The points that the lanes of a vector at each point are for."""
    if lanes is None:
        return points
    return [
        [f + lane if i == lanes.dim else f for i, f in enumerate(p)]
        for p in points
        for lane in range(lanes.width)
    ]


def _read_vectors(
    evaluator: Evaluator,
    operand: SSAValue,
    map_: AffineMap,
    points: Sequence[Sequence[Linear]],
    width: int,
    only_these: bool = False,
) -> None:
    """Read `width` elements at once along the last dimension, and remember each.

    With `only_these`, where every one of them is an element of some point.
    """
    view = evaluator.view(operand)
    if view is None or view.partial[-1] or shape_of(view.buffer)[-1] % width:
        return
    last = len(map_.results) - 1
    places: dict[tuple[Linear, ...], None] = {}
    for loops in points:
        index = [linear_of_expr(e, loops) for e in map_.results]
        known = tuple(form for form in index if form is not None)
        if len(known) > last:
            places[known] = None
    for known in places:
        elements = [tuple(shift(known, last, lane)) for lane in range(width)]
        if evaluator.known((operand, known, None)) is not None:
            continue
        if only_these and not all(element in places for element in elements):
            continue
        vector = evaluator.load(view, list(known), Lanes(last, width))
        for lane, element in enumerate(elements):
            evaluator.remember(operand, list(element), None, evaluator.lane(vector, lane))


def _extent(op: GenericOp, loop: int) -> SSAValue | int:
    extent = loop_extents(op)[loop]
    if extent >= 0:
        return extent
    for operand, map_ in zip(op.operands, indexing_maps(op), strict=True):
        for size, expr in zip(dimension_sizes(operand), map_.results, strict=True):
            if isinstance(expr, AffineDimExpr) and expr.position == loop:
                return size
    raise AssertionError("every loop is indexed by a plain dimension of some operand")
