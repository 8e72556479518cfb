"""`linalg.generic` and `linalg.fill`, backwards."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, erase, fill, make_generic
from ingot.compiler.analysis.structured import (
    captured_tensors,
    element_type,
    indexing_maps,
    is_parallel,
    loop_extents,
    reduction_loops,
    shape_of,
    through_casts,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, YieldOp

from .activity import is_float
from .drafts import (
    Draft,
    Seed,
    draft_of,
    empty_draft,
    flat_extracts,
    open_draft,
    reading,
    reading_draft,
    seeds_of_results,
)
from .formulas import constant
from .gathers import gathered_or_scattered, scattered
from .kernels import arrange, close, finish, summed_over_all
from .products import others_of_product
from .reverse import Reverse, cotangent_type, reverses
from .scalars import Cotangent, ScalarReverse

NO_WINNER = (1 << 31) - 1
"""The position of the greatest element where that is what the reduction started from."""

_EXTREMES: dict[type[Operation], tuple[str, str]] = {
    arith.MaximumfOp: ("ueq", "ugt"),
    arith.MaxnumfOp: ("oeq", "ogt"),
    arith.MinimumfOp: ("ueq", "ult"),
    arith.MinnumfOp: ("oeq", "olt"),
}
"""When an element is the result, and when it replaces what there was before."""


@reverses(GenericOp)
def _generic(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    assert isinstance(op, GenericOp)
    if all(is_parallel(op)):
        seeds = list(seeds_of_results(op, cotangents))
        leaves = list(range(len(op.operands)))
    else:
        seeds: list[tuple[SSAValue, Seed]] = []
        for position, cotangent in enumerate(cotangents):
            if cotangent is not None:
                seeds += _reduction(reverse, op, position, cotangent)
        leaves = list(range(len(op.inputs)))
    maps = indexing_maps(op)
    emit = reverse.emit
    for i in leaves:
        operand = op.operands[i]
        if operand not in reverse.active:
            continue
        draft = draft_of(op, seeds, op.body.block.args[i])
        if draft is None:
            continue
        if isinstance(operand.type, TensorType):
            gradient = gathered_or_scattered(emit, draft, maps[i], tensor_type(operand))
        else:
            gradient = summed_over_all(emit, draft)
        reverse.add(operand, gradient)
    if any(v in reverse.active for v in captured_tensors(op)):
        for n, source in enumerate(flat_extracts(op)):
            if source in reverse.active:
                draft = draft_of(op, seeds, n)
                if draft is not None:
                    reverse.add(source, scattered(emit, draft, tensor_type(source)))
    for scalar in _captured_scalars(op):
        if scalar in reverse.active:
            draft = draft_of(op, seeds, scalar)
            if draft is not None:
                reverse.add(scalar, summed_over_all(emit, draft))


def _captured_scalars(op: GenericOp) -> list[SSAValue]:
    """Floats from above that the body uses."""
    inside = set(op.body.walk())
    found: dict[SSAValue, None] = {}
    for inner in inside:
        for operand in inner.operands:
            owner = operand.owner
            block = owner if isinstance(owner, Block) else owner.parent_block()
            is_above = block is not op.body.block and (
                block is None or block.parent_op() not in inside
            )
            if is_above and is_float(operand.type) and not isinstance(operand.type, TensorType):
                found[operand] = None
    return list(found)


def _reduction(
    reverse: Reverse, op: GenericOp, position: int, cotangent: SSAValue
) -> list[tuple[SSAValue, Seed]]:
    """The seeds of one result of a reduction; what it started from gets its part here."""
    terminator = op.body.block.last_op
    assert terminator is not None
    yielded = terminator.operands[position]
    accumulator = op.body.block.args[len(op.inputs) + position]
    init = op.outputs[position]
    map_ = indexing_maps(op)[len(op.inputs) + position]
    if _is_sum(yielded, accumulator, op):
        reverse.add(init, cotangent)
        return [(yielded, reading(cotangent, map_))]
    combiner = yielded.owner
    pair = combiner.operands[-2:] if isinstance(combiner, Operation) else ()
    if isinstance(combiner, Operation) and accumulator in pair and len(pair) == 2:
        term = pair[1] if pair[0] is accumulator else pair[0]
        if term is not accumulator and not _reads_accumulator(term, op):
            if type(combiner) in _EXTREMES:
                return [_extreme(reverse, op, position, cotangent, combiner, term)]
            if isinstance(combiner, arith.MulfOp):
                return [_product(reverse, op, position, cotangent, term)]
            if isinstance(combiner, arith.SelectOp):
                winner = _winner_by_choice(reverse.emit, op, position)
                return [_chosen(reverse, op, position, cotangent, winner, term)]
    raise refuse(
        op,
        f"result {position} of this reduction cannot be differentiated: its body is neither a sum "
        "nor a product of terms, and does not choose one of them",
        "write it as a reduction and an elementwise op that finishes it",
    )


def _is_sum(value: SSAValue, accumulator: BlockArgument, op: GenericOp) -> bool:
    """Whether the body adds terms, which do not depend on it, to the accumulator."""
    while value is not accumulator:
        owner = value.owner
        if not isinstance(owner, Operation):
            return False
        match owner:
            case arith.AddfOp():
                terms = [v for v in owner.operands if not _reads_accumulator(v, op)]
                rest = [v for v in owner.operands if _reads_accumulator(v, op)]
            case arith.SubfOp():
                terms, rest = [owner.operands[1]], [owner.operands[0]]
            case arith.ExtFOp() | arith.TruncFOp():
                terms, rest = [], [owner.operands[0]]
            case _ if owner.name == "math.fma":
                terms, rest = list(owner.operands[:2]), [owner.operands[2]]
            case _:
                return False
        if len(rest) != 1 or any(_reads_accumulator(v, op) for v in terms):
            return False
        value = rest[0]
    return True


def _reads_accumulator(value: SSAValue, op: GenericOp) -> bool:
    """Whether a value of the body depends on any accumulator."""
    accumulators = op.body.block.args[len(op.inputs) :]
    stack, seen = [value], {value}
    while stack:
        current = stack.pop()
        if current in accumulators:
            return True
        owner = current.owner
        if isinstance(owner, Operation):
            for operand in (v for inner in owner.walk() for v in inner.operands):
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
    return False


def _linear_position(emit: Emitter, op: GenericOp) -> SSAValue:
    """Where an iteration comes among those that make one result, as i32."""
    extents = loop_extents(op)
    position: SSAValue | None = None
    for loop in reduction_loops(op):
        index = emit.add(IndexOp(loop)).result
        if position is not None:
            row = emit.add(arith.MuliOp(position, emit.index(extents[loop]))).result
            index = emit.add(arith.AddiOp(row, index)).result
        position = index
    assert position is not None
    return emit.add(arith.IndexCastOp(position, i32)).result


def _extreme(
    reverse: Reverse,
    op: GenericOp,
    position: int,
    cotangent: SSAValue,
    combiner: Operation,
    term: SSAValue,
) -> tuple[SSAValue, Seed]:
    """The first of the elements that equal the result gets the whole cotangent."""
    if prod(loop_extents(op)[i] for i in reduction_loops(op)) >= NO_WINNER:
        raise refuse(op, "an extreme of 2^31 elements or more cannot be differentiated")
    is_stored = isinstance(through_casts(term), BlockArgument)
    find = _winner_by_value if is_stored else _winner_by_search
    winner = find(reverse.emit, op, position, type(combiner), term)
    return _chosen(reverse, op, position, cotangent, winner, term)


def _chosen(
    reverse: Reverse,
    op: GenericOp,
    position: int,
    cotangent: SSAValue,
    winner: SSAValue,
    term: SSAValue,
) -> tuple[SSAValue, Seed]:
    """The seed of a result that is one of the terms: `winner` says which."""
    map_ = indexing_maps(op)[len(op.inputs) + position]
    init = op.outputs[position]
    if init in reverse.active:
        reverse.add(init, _where_no_winner(reverse.emit, winner, cotangent))

    def seed(draft: Draft) -> Cotangent:
        here = _linear_position(draft.emit, op)
        wins = draft.emit.add(arith.CmpiOp(here, draft.read(winner, map_), "eq")).result
        value = draft.read(cotangent, map_)
        zero = constant(draft.emit, 0.0, value.type)
        return Cotangent(draft.emit.add(arith.SelectOp(wins, value, zero)).result, wins)

    return term, seed


def _where_no_winner(emit: Emitter, winner: SSAValue, cotangent: SSAValue) -> SSAValue:
    type_ = tensor_type(cotangent)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        none = constant(inner, NO_WINNER, i32)
        nobody = inner.add(arith.CmpiOp(args[0], none, "eq")).result
        zero = constant(inner, 0.0, type_.element_type)
        return [inner.add(arith.SelectOp(nobody, args[1], zero)).result]

    maps = [AffineMap.identity(type_.get_num_dims())] * 2
    return elementwise(emit, type_, [winner, cotangent], maps, body)


def _positions(emit: Emitter, shape: Sequence[int]) -> SSAValue:
    return fill(emit, constant(emit, NO_WINNER, i32), TensorType(i32, shape))


def _kept_loops(op: GenericOp, position: int) -> list[int]:
    """The loops that are the dimensions of a result, in its order."""
    map_ = indexing_maps(op)[len(op.inputs) + position]
    return [d for e in map_.results for d in e.used_dims()]


def _winner_by_value(
    emit: Emitter, op: GenericOp, position: int, kind: type[Operation], term: SSAValue
) -> SSAValue:
    """The first position whose element equals the result: elements that are read as they are
    stored compare exactly."""
    equal, greater = _EXTREMES[kind]
    map_ = indexing_maps(op)[len(op.inputs) + position]
    draft, flattener = open_draft(op)
    flattener.block(op.body.block)
    result = draft.read(op.results[position], map_)
    start = draft.read(op.outputs[position], map_)
    inner = draft.emit
    matches = inner.add(arith.CmpfOp(flattener.get(term), result, equal)).result
    replaces = inner.add(arith.CmpfOp(result, start, greater)).result
    wins = inner.add(arith.AndIOp(matches, replaces)).result
    here = _linear_position(inner, op)
    none = constant(inner, NO_WINNER, i32)
    draft.values = [inner.add(arith.SelectOp(wins, here, none)).result]
    draft.prune()
    arrange(draft, _kept_loops(op, position))
    (winner,) = close(
        emit,
        draft,
        [_positions(emit, shape_of(op.results[position]))],
        lambda e, new, old: [e.add(arith.MinSIOp(old[0], new[0])).result],
    )
    return winner


def _winner_by_search(
    emit: Emitter, op: GenericOp, position: int, kind: type[Operation], term: SSAValue
) -> SSAValue:
    """The position of the extreme, searched for with its value: a value that is computed again
    in another kernel may be rounded differently, so that it must not be compared."""
    _, greater = _EXTREMES[kind]
    draft, flattener = open_draft(op)
    flattener.block(op.body.block)
    draft.values = [flattener.get(term), _linear_position(draft.emit, op)]
    draft.prune()
    arrange(draft, _kept_loops(op, position))

    def search(e: Emitter, new: Sequence[SSAValue], old: Sequence[SSAValue]) -> Sequence[SSAValue]:
        replaces = e.add(arith.CmpfOp(new[0], old[0], greater)).result
        return [e.add(arith.SelectOp(replaces, a, b)).result for a, b in zip(new, old, strict=True)]

    start = op.outputs[position]
    where = _positions(emit, shape_of(start))
    return close(emit, draft, [start, where], search)[1]


def _winner_by_choice(emit: Emitter, op: GenericOp, position: int) -> SSAValue:
    """The position of the term that a body of several results, as that of an argmax, selects: the
    same body once more, with the position as a further result."""
    maps = indexing_maps(op)
    body = op.body.clone()
    block = body.block
    terminator = block.last_op
    assert terminator is not None
    old = block.insert_arg(i32, len(block.args))
    inner = Emitter.before(terminator)
    copy = terminator.operands[position].owner
    assert isinstance(copy, arith.SelectOp)
    here = _linear_position(inner, op)
    accumulator = block.args[len(op.inputs) + position]
    arms = [old if arm is accumulator else here for arm in (copy.lhs, copy.rhs)]
    new = inner.add(arith.SelectOp(copy.cond, arms[0], arms[1])).result
    inner.add(YieldOp(*terminator.operands, new))
    erase(terminator)
    where = _positions(emit, shape_of(op.outputs[position]))
    again = make_generic(
        emit,
        list(op.inputs),
        [*op.outputs, where],
        [*maps, maps[len(op.inputs) + position]],
        list(op.iterator_types.data),
        body,
    )
    return again.results[-1]


def _product(
    reverse: Reverse, op: GenericOp, position: int, cotangent: SSAValue, term: SSAValue
) -> tuple[SSAValue, Seed]:
    """Each factor gets the cotangent times the product of the other factors, zeros or not."""
    emit = reverse.emit
    kept, reduced = _kept_loops(op, position), reduction_loops(op)
    extents = loop_extents(op)
    draft, flattener = open_draft(op)
    flattener.block(op.body.block)
    draft.values = [flattener.get(term)]
    draft.prune()
    order = [*kept, *reduced]
    arrange(draft, order)
    type_ = TensorType(element_type(op.results[position]), [extents[loop] for loop in order])
    factors = finish(emit, draft, type_)
    init = op.outputs[position]
    others, total = others_of_product(emit, factors, len(kept), init, cotangent)
    reverse.add(init, total)
    read = AffineMap(
        len(extents), 0, tuple(AffineMap.identity(len(extents)).results[i] for i in order)
    )
    return term, reading(others, read)


@reverses(FillOp)
def _fill(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """A scalar that fills a tensor gets the sum."""
    assert isinstance(op, FillOp)
    (cotangent,) = cotangents
    scalar = op.inputs[0]
    if cotangent is None or scalar not in reverse.active:
        return
    reverse.add(scalar, sum_of(reverse.emit, cotangent))


def sum_of(emit: Emitter, value: SSAValue) -> SSAValue:
    """The sum of all elements, as a tensor of rank 0."""
    draft = reading_draft(emit, value)
    return summed_over_all(emit, draft)


@reverses(Operation)
def _scalar(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """A scalar op of the host: the cotangents of scalars are tensors of rank 0."""
    for i, operand in enumerate(op.operands):
        if operand not in reverse.active or operand in op.operands[:i]:
            continue
        draft = empty_draft(op.location, ())
        scalars = ScalarReverse(draft.emit, {operand})
        for result, cotangent in zip(op.results, cotangents, strict=True):
            if cotangent is not None:
                scalars.dependent.add(result)
                scalars.add(result, Cotangent(draft.read(cotangent, AffineMap.identity(0))))
        scalars.run([op])
        found = scalars.cotangents.get(operand)
        if found is not None:
            draft.values = [found.value]
            draft.prune()
            reverse.add(operand, finish(reverse.emit, draft, cotangent_type(operand.type)))
