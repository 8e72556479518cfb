"""Split reductions of few, long lines over more threadgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import permutation_of, plain_dims, substitute
from ingot.compiler.analysis.dispatch_graph import role_of
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.fusion_graph import Role
from ingot.compiler.analysis.generics import (
    Emitter,
    empty,
    erase,
    fill,
    make_generic,
    materialize,
)
from ingot.compiler.analysis.neutral import neutral_element
from ingot.compiler.analysis.structured import (
    Combiner,
    indexing_maps,
    loop_extents,
    match_combiner,
    match_contraction,
    reduction_loops,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import (
    GenericOp,
    IndexOp,
    IteratorType,
    IteratorTypeAttr,
    YieldOp,
)

from .reduction_turns import LONGEST_LOOP, is_plain, most_terms, products_in_turns, turn

FEW_RESULTS = 32
"""Results from which one threadgroup for each keeps a device busy."""

LONG = 1 << 16
"""Elements of one result from which it is split."""

CHUNK = 4096
"""The fewest elements of a chunk, which one threadgroup reduces."""

MOST_CHUNKS = 256
"""Chunks of one line, whose partial results are left to the second step, unless they are longer
than `LONGEST_LOOP`."""

FEW_COLUMNS = 1024
"""Columns from which those of one threadgroup each keep a device busy."""

MANY_ELEMENTS = 1 << 22
"""Elements from which sums of few columns pay for a second step."""

COLUMNS_AT_ONCE = 4096
"""Columns of all chunks together."""


@dataclass(frozen=True)
class Split:
    """Loop `loop` is cut into chunks of `size` elements."""

    loop: int
    chunks: int
    size: int
    rest: int
    """Elements behind the last chunk."""


def choose_split(extents: tuple[int, ...], reduced: list[int], last: int | None) -> Split | None:
    """How to split a reduction over the loops `reduced`, or None when that gains nothing.

    `last` is the loop that runs over adjacent elements, if one of `reduced` does. It is left whole
    when another loop is long enough.
    """
    results = prod(n for i, n in enumerate(extents) if i not in reduced)
    if DYNAMIC_INDEX in extents or 0 in extents or results >= FEW_RESULTS:
        return None
    if prod(extents[i] for i in reduced) < LONG:
        return None
    others = [i for i in reduced if i != last and extents[i] >= FEW_RESULTS]
    loop = others[0] if others else max(reduced, key=lambda i: extents[i])
    inside = prod(extents[i] for i in reduced if i != loop)
    most = max(MOST_CHUNKS, -(-extents[loop] * inside // LONGEST_LOOP))
    chunks = min(most, extents[loop] // max(1, CHUNK // inside))
    if chunks < 2:
        return None
    return _in_about(chunks, loop, extents[loop])


def choose_column_split(extents: tuple[int, ...], reduced: list[int]) -> Split | None:
    """How to split a reduction whose results lie side by side, or None when that gains nothing.

    A threadgroup takes neighbouring columns, so a few of them are too few threadgroups.
    """
    columns = prod(n for i, n in enumerate(extents) if i not in reduced)
    if DYNAMIC_INDEX in extents or not FEW_RESULTS <= columns < FEW_COLUMNS:
        return None
    if prod(extents) < MANY_ELEMENTS:
        return None
    loop = max(reduced, key=lambda i: extents[i])
    rows = prod(extents[i] for i in reduced)
    chunks = max(COLUMNS_AT_ONCE // columns, -(-rows // LONGEST_LOOP))
    return _in_about(chunks, loop, extents[loop]) if extents[loop] >= 2 * chunks else None


def _in_about(chunks: int, loop: int, extent: int) -> Split:
    """A split into `chunks`, or some fewer that leave no rest, which needs no kernel then."""
    chunks = next((n for n in range(chunks, chunks // 2, -1) if extent % n == 0), chunks)
    size = extent // chunks
    return Split(loop, chunks, size, extent - chunks * size)


def _part(
    op: GenericOp,
    loop: int,
    expr: AffineExpr,
    extents: tuple[int, int],
    outputs: Sequence[SSAValue],
    added: IteratorTypeAttr,
    columns: bool = False,
) -> list[SSAValue]:
    """The reduction with `loop` replaced by `expr` over that loop and a new, last one.

    `extents` are those of the two loops; a new loop that is parallel is the last dimension of the
    outputs, or with `columns` the first one.
    """
    emit = Emitter.before(op)
    maps = indexing_maps(op)
    count = len(op.inputs)
    rank = maps[0].num_dims
    dims: list[AffineExpr] = [AffineDimExpr(i) for i in range(rank)]
    dims[loop] = expr
    new_maps = [substitute(m, dims, rank + 1) for m in maps[:count]]
    # An input that is only a shape says how far the two loops run, reductions last: that lets a
    # threadgroup share them.
    is_parallel = added.data is IteratorType.PARALLEL
    places = {loop: extents[0], rank: extents[1]}
    order = [rank, loop] if is_parallel else [loop, rank]
    element = tensor_type(outputs[0]).element_type
    shape: TensorType[Attribute] = TensorType(element, [places[i] for i in order])
    inputs = [*op.inputs, empty(emit, shape)]
    new_maps.append(AffineMap(rank + 1, 0, tuple(AffineDimExpr(i) for i in order)))
    chunk = (AffineDimExpr(rank),) if is_parallel else ()
    for map_ in maps[count:]:
        written = (*chunk, *map_.results) if columns else (*map_.results, *chunk)
        new_maps.append(AffineMap(rank + 1, 0, written))
    body = op.body.clone()
    body.block.insert_arg(element, count)
    for index in [o for o in body.walk() if isinstance(o, IndexOp)]:
        if index.dim.value.data != loop:
            continue
        inner = Emitter.before(index)
        loops = [
            inner.add(IndexOp(i)).result if i in expr.used_dims() else index.result
            for i in range(rank + 1)
        ]
        index.result.replace_all_uses_with(materialize(inner, expr, loops))
        erase(index)
    iterators = [*op.iterator_types.data, added]
    return list(make_generic(emit, inputs, list(outputs), new_maps, iterators, body).results)


def _combined(
    op: GenericOp, combiner: Combiner, partial: SSAValue, init: SSAValue, columns: bool
) -> SSAValue:
    """The reduction of the last dimension of `partial`, or with `columns` of the first one."""
    emit = Emitter.before(op)
    rank = len(tensor_type(partial).get_shape())
    element = tensor_type(init).element_type
    block = Block(arg_types=[element, element])
    inner = Emitter.at_end(block, op.location)
    accumulator = op.body.block.args[-1]
    values: dict[SSAValue, SSAValue] = {
        accumulator: block.args[1],
        combiner.contribution: block.args[0],
    }
    inner.add(YieldOp(inner.builder.insert(combiner.op.clone(values)).results[0]))
    kept, chunk = tuple(AffineDimExpr(i) for i in range(rank - 1)), (AffineDimExpr(rank - 1),)
    maps = [
        AffineMap(rank, 0, (*chunk, *kept) if columns else (*kept, *chunk)),
        AffineMap(rank, 0, kept),
    ]
    iterators = [IteratorTypeAttr.parallel()] * (rank - 1) + [IteratorTypeAttr.reduction()]
    return make_generic(emit, [partial], [init], maps, iterators, Region(block)).results[0]


def _in_chunks(
    op: GenericOp, combiner: Combiner, split: Split, neutral: SSAValue, columns: bool
) -> SSAValue:
    """Reduce the chunks side by side from the neutral element, then their results.

    Where the results lie side by side, those of one chunk do, too.
    """
    type_ = tensor_type(op.results[0])
    kept = type_.get_shape()
    shape = [split.chunks, *kept] if columns else [*kept, split.chunks]
    start = fill(Emitter.before(op), neutral, TensorType(type_.element_type, shape))
    loop, rank = AffineDimExpr(split.loop), len(loop_extents(op))
    in_chunk = AffineDimExpr(rank) * split.size + loop
    sizes = (split.size, split.chunks)
    parallel = IteratorTypeAttr.parallel()
    (partial,) = _part(op, split.loop, in_chunk, sizes, [start], parallel, columns)
    init = op.outputs[0]
    if split.rest:
        behind = AffineDimExpr(rank) + loop + split.chunks * split.size
        reduction = IteratorTypeAttr.reduction()
        (init,) = _part(op, split.loop, behind, (split.rest, 1), [init], reduction)
        assert isinstance(init.owner, GenericOp)
        init = _split(init.owner)[0]
    return _combined(op, combiner, partial, init, columns)


def _in_turns(op: GenericOp) -> list[SSAValue]:
    """Reduce one range after another, in order, each from what the last one left."""
    extents = loop_extents(op)
    reduced = reduction_loops(op)
    loop = max(reduced, key=lambda i: extents[i])
    inside = prod(extents[i] for i in reduced if i != loop)
    size = max(1, LONGEST_LOOP // inside)
    values = list(op.outputs)
    if all(is_plain(map_, loop) for map_ in indexing_maps(op)):
        for start in range(0, extents[loop], size):
            values = turn(op, loop, start, min(size, extents[loop] - start), values)
        return values
    for start in range(0, extents[loop], size):
        # The new loop has one iteration: a plain loop would have to run over all elements.
        expr = AffineDimExpr(len(extents)) * size + AffineDimExpr(loop) + start
        sizes = (min(size, extents[loop] - start), 1)
        values = _part(op, loop, expr, sizes, values, IteratorTypeAttr.reduction())
    return values


def _split(op: GenericOp) -> Sequence[SSAValue]:
    """Split one reduction, if it is too long; the values that stand for its results."""
    extents, reduced = loop_extents(op), reduction_loops(op)
    written = all(permutation_of(m) is not None for m in indexing_maps(op)[len(op.inputs) :])
    if DYNAMIC_INDEX in extents or 0 in extents or not written:
        return op.results
    results: Sequence[SSAValue]
    combiner = match_combiner(op)
    element = tensor_type(op.results[0]).element_type
    # Sums of short floats are accumulated in f32 and rounded once: partial ones would round twice.
    short = isinstance(element, Float16Type | BFloat16Type)
    neutral = None if combiner is None or short else neutral_element(combiner.op.name, element)
    innermost = [plain_dims(m)[-1] for m in indexing_maps(op)[: len(op.inputs)] if m.results]
    last = next((loop for loop in innermost if loop in reduced), None)
    columns = role_of(op) is Role.REDUCTION
    split = choose_split(extents, reduced, None if columns else last)
    if split is None and columns:
        split = choose_column_split(extents, reduced)
    if combiner is not None and neutral is not None and split is not None:
        scalar = Emitter.before(op).add(arith.ConstantOp(neutral)).result
        results = [_in_chunks(op, combiner, split, scalar, columns)]
    elif match_contraction(op) is not None:
        if prod(extents[i] for i in reduced) <= most_terms(op):
            return op.results
        results = products_in_turns(op)
    elif prod(extents[i] for i in reduced) > LONGEST_LOOP and not _is_shared(op):
        results = _in_turns(op)
    else:
        return op.results
    for old, new in zip(op.results, results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)
    return results


def _is_shared(op: GenericOp) -> bool:
    """Whether the threads of a threadgroup share the reduction."""
    return role_of(op) is Role.ROW_REDUCTION and match_combiner(op) is not None


@dataclass(frozen=True)
class LinalgSplitReductionPass(ModulePass):
    """Reduce few, long lines in two steps, so that more than one threadgroup works (L1 to L1).

    The order is fixed: the second step starts from what is left behind the chunks. A body that is
    no plain combiner (argmax) goes on in its order, in kernels one after another.

        %s = linalg.generic {sum over d0} ins(%x : tensor<1048576xf32>) outs(%i : tensor<f32>)
    becomes
        %p = linalg.generic {(i, c) -> (c * 4096 + i)} ins(%x) outs(%zeros : tensor<256xf32>)
        %s = linalg.generic {sum over d0} ins(%p) outs(%i)
    """

    name = "linalg-split-reduction"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, GenericOp) and reduction_loops(inner):
                    _split(inner)
