"""Split reductions of few, long lines over more threadgroups."""

from __future__ import annotations

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
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, empty, erase, fill, make_generic, materialize
from ingot.compiler.analysis.neutral import neutral_element
from ingot.compiler.analysis.structured import (
    Combiner,
    indexing_maps,
    loop_extents,
    match_combiner,
    reduction_loops,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import GenericOp, IndexOp, IteratorTypeAttr, YieldOp

FEW_RESULTS = 32
"""Results from which one threadgroup for each keeps a device busy."""

LONG = 1 << 16
"""Elements of one result from which it is split."""

CHUNK = 4096
"""The fewest elements of a chunk, which one threadgroup reduces."""

MOST_CHUNKS = 256
"""Chunks of one line, whose partial results are left to the second step."""


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
    chunks = min(MOST_CHUNKS, extents[loop] // max(1, CHUNK // inside))
    if chunks < 2:
        return None
    size = extents[loop] // chunks
    return Split(loop, chunks, size, extents[loop] - chunks * size)


def _part(
    op: GenericOp, split: Split, exprs: AffineExpr, extent: int, output: SSAValue, parallel: bool
) -> SSAValue:
    """The reduction with the split loop replaced by `exprs` over that loop and one more loop.

    The loop itself runs over `extent` elements; the new one, when `parallel`, over the last
    dimension of `output`.
    """
    emit = Emitter.before(op)
    maps = indexing_maps(op)
    rank = maps[0].num_dims
    dims: list[AffineExpr] = [AffineDimExpr(i) for i in range(rank)]
    dims[split.loop] = exprs
    total = rank + 1 if parallel else rank
    new_maps = [substitute(m, dims, total) for m in maps[:-1]]
    written = [AffineDimExpr(d) for d in plain_dims(maps[-1]) if d is not None]
    if parallel:
        written.append(AffineDimExpr(rank))
    # An input that is only a shape says how far the split loop runs.
    element = tensor_type(output).element_type
    shape: TensorType[Attribute] = TensorType(element, [extent])
    inputs = [*op.inputs, empty(emit, shape)]
    new_maps += [
        AffineMap(total, 0, (AffineDimExpr(split.loop),)),
        AffineMap(total, 0, tuple(written)),
    ]
    body = op.body.clone()
    block = body.block
    block.insert_arg(element, len(op.inputs))
    for index in [o for o in body.walk() if isinstance(o, IndexOp)]:
        if index.dim.value.data != split.loop:
            continue
        inner = Emitter.before(index)
        loops = [
            inner.add(IndexOp(i)).result if i in exprs.used_dims() else index.result
            for i in range(total)
        ]
        index.result.replace_all_uses_with(materialize(inner, exprs, loops))
        erase(index)
    iterators = list(op.iterator_types.data)
    if parallel:
        iterators.append(IteratorTypeAttr.parallel())
    return make_generic(emit, inputs, [output], new_maps, iterators, body).results[0]


def _combined(op: GenericOp, combiner: Combiner, partial: SSAValue, init: SSAValue) -> SSAValue:
    """The reduction of the last dimension of `partial`."""
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
    maps = [
        AffineMap.identity(rank),
        AffineMap(rank, 0, tuple(AffineDimExpr(i) for i in range(rank - 1))),
    ]
    iterators = [IteratorTypeAttr.parallel()] * (rank - 1) + [IteratorTypeAttr.reduction()]
    return make_generic(emit, [partial], [init], maps, iterators, Region(block)).results[0]


def _split(op: GenericOp) -> None:
    combiner = match_combiner(op)
    if combiner is None or permutation_of(indexing_maps(op)[-1]) is None:
        return
    element = tensor_type(op.results[0]).element_type
    neutral = neutral_element(combiner.op.name, element)
    # Sums of short floats are accumulated in f32 and rounded once: partial ones would round twice.
    if neutral is None or isinstance(element, Float16Type | BFloat16Type):
        return
    reduced = reduction_loops(op)
    innermost = [plain_dims(m)[-1] for m in indexing_maps(op)[:-1] if m.results]
    last = next((loop for loop in innermost if loop in reduced), None)
    split = choose_split(loop_extents(op), reduced, last)
    if split is None:
        return
    emit = Emitter.before(op)
    rank = len(loop_extents(op))
    shape = [*tensor_type(op.results[0]).get_shape(), split.chunks]
    scalar = emit.add(arith.ConstantOp(neutral)).result
    start = fill(emit, scalar, TensorType(element, shape))
    loop = AffineDimExpr(split.loop)
    in_chunk = AffineDimExpr(rank) * split.size + loop
    partial = _part(op, split, in_chunk, split.size, start, parallel=True)
    init = op.outputs[0]
    if split.rest:
        behind = loop + split.chunks * split.size
        init = _part(op, split, behind, split.rest, init, parallel=False)
    result = _combined(op, combiner, partial, init)
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    erase(op)


@dataclass(frozen=True)
class LinalgSplitReductionPass(ModulePass):
    """Reduce few, long lines in two steps, so that more than one threadgroup works (L1 to L1).

    The order is fixed: the second step starts from what is left behind the chunks.

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
