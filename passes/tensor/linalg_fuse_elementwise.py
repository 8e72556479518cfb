"""Fuse elementwise producers into the generics that read them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import dims_given, permutation_of, plain_dims, substitute
from ingot.compiler.analysis.cost import body_cost
from ingot.compiler.analysis.dispatch_graph import is_contraction
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.fusion_profit import Candidate, should_fuse
from ingot.compiler.analysis.generics import Emitter, empty, erase, materialize
from ingot.compiler.analysis.loop_merging import merge_verdict
from ingot.compiler.analysis.structured import (
    captured_tensors,
    indexing_maps,
    is_parallel,
    loop_extents,
    shape_of,
    users_of,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import GenericOp, IndexOp, YieldOp

from .generic_patterns import set_operands, share_equal_inputs


def _as_producer(value: SSAValue) -> GenericOp | None:
    """The op that makes `value` if it computes each element on its own, from its inputs alone."""
    op = value.owner
    if not isinstance(op, GenericOp) or not all(is_parallel(op)) or len(op.results) != 1:
        return None
    written = permutation_of(indexing_maps(op)[-1])
    whole = written is not None and len(written) == len(op.iterator_types.data)
    return op if whole and not op.body.block.args[-1].uses else None


def _follows_reduction(op: GenericOp) -> bool:
    """Whether `op` finishes a reduction: no elementwise op between them changes the shape."""
    shape = shape_of(op.results[0])
    seen = {op}
    waiting = [op]
    while waiting:
        for operand in waiting.pop().inputs:
            owner = operand.owner
            if not isinstance(owner, GenericOp) or owner in seen or shape_of(operand) != shape:
                continue
            if not all(is_parallel(owner)):
                return True
            seen.add(owner)
            waiting.append(owner)
    return False


def _width(value: SSAValue) -> int:
    """Bytes of one element."""
    element = tensor_type(value).element_type
    return getattr(element, "size", 8)


def _candidate(producer: GenericOp, consumer: GenericOp, extracts: int) -> Candidate:
    elements = prod(loop_extents(producer))
    large = [v for v in producer.inputs if prod(shape_of(v)) >= elements]
    result = producer.results[0]
    users = users_of(producer)
    return Candidate(
        cost=body_cost(producer),
        elements=elements,
        reads=prod(loop_extents(consumer)) * max(1, extracts),
        only_user=users == {consumer},
        consumer_cost=body_cost(consumer),
        into_contraction=is_contraction(consumer),
        follows_reduction=_follows_reduction(producer),
        can_vanish=all(isinstance(u, GenericOp) and not is_contraction(u) for u in users),
        one_large_input=len(large) <= 1
        and all(_width(v) <= _width(result) for v in large)
        and not captured_tensors(producer),
    )


def _inline(
    producer: GenericOp,
    emit: Emitter,
    arguments: dict[SSAValue, SSAValue],
    loops: list[SSAValue | int],
) -> SSAValue:
    """Emit the body of `producer`; its loop i is an index, or loop `loops[i]` of the consumer.

    Where nobody else needs the producer, its ops are moved instead of cloned.
    """
    last = sum(result.uses.get_length() for result in producer.results) == 1
    block = producer.body.block
    if last:
        for old, value in arguments.items():
            old.replace_all_uses_with(value)
    for op in block.ops:
        if isinstance(op, YieldOp):
            value = op.operands[0]
            return arguments.get(value, value)
        if isinstance(op, IndexOp):
            loop = loops[op.dim.value.data]
            index = loop if isinstance(loop, SSAValue) else emit.add(IndexOp(loop)).result
            if last:
                op.result.replace_all_uses_with(index)
            arguments[op.result] = index
            continue
        if last:
            op.detach()
        new = op if last else op.clone(arguments)
        _renumber(new, loops)
        emit.builder.insert(new)
    raise AssertionError("the body of a generic ends in linalg.yield")


def _renumber(op: Operation, loops: list[SSAValue | int]) -> None:
    """Renumber `linalg.index` in the regions of a cloned op."""
    for inner in [i for region in op.regions for i in region.walk() if isinstance(i, IndexOp)]:
        loop = loops[inner.dim.value.data]
        if isinstance(loop, SSAValue):
            inner.result.replace_all_uses_with(loop)
            erase(inner)
        else:
            inner.properties["dim"] = IndexOp(loop).dim


def _composed(producer: GenericOp, map_: AffineMap) -> tuple[list[AffineExpr], list[AffineMap]]:
    """The producer's loops, and the maps of its inputs, over the loops of `map_`, by which its
    consumer reads its result."""
    written = permutation_of(indexing_maps(producer)[-1])
    assert written is not None
    # Loop l of the producer runs over dimension written.index(l) of its result.
    loops = [map_.results[written.index(loop)] for loop in range(len(written))]
    maps = [substitute(m, loops, map_.num_dims) for m in indexing_maps(producer)[:-1]]
    return loops, maps


def _is_legal(producer: GenericOp, consumer: GenericOp, position: int) -> bool:
    """Whether the consumer can read the producer's inputs by maps.

    A plain loop must run over a whole dimension. A matrix product or convolution must stay one:
    its operands are indexed by plain loops, and no more loops than before are left when those that
    are contiguous are merged.
    """
    maps = indexing_maps(consumer)
    extents = loop_extents(consumer)
    _, composed = _composed(producer, maps[position])
    for operand, map_ in zip(producer.inputs, composed, strict=True):
        for size, loop in zip(shape_of(operand), plain_dims(map_), strict=True):
            if loop is not None and extents[loop] != size:
                return False
    if not is_contraction(consumer):
        return True
    after = [*maps[:position], *composed, *maps[position + 1 :]]
    return all(m.is_projected_permutation() for m in composed) and (
        _merged_count(after, extents) <= _merged_count(maps, extents)
    )


def _merged_count(maps: list[AffineMap], extents: tuple[int, ...]) -> int:
    return len(extents) - sum(
        all(merge_verdict(m, i, extents[i + 1]) != "blocked" for m in maps)
        for i in range(len(extents) - 1)
    )


def _fuse_input(producer: GenericOp, consumer: GenericOp, position: int) -> None:
    """Compute input `position` of `consumer` inside it."""
    maps = indexing_maps(consumer)
    extents = loop_extents(consumer)
    rank = len(extents)
    block = consumer.body.block
    loops, new_maps = _composed(producer, maps[position])
    first = block.first_op
    assert first is not None
    emit = Emitter.before(first)
    emit.location = producer.location
    arguments: dict[SSAValue, SSAValue] = {}
    count = len(new_maps)
    for offset, argument in enumerate(producer.body.block.args[:-1]):
        new = block.insert_arg(argument.type, position + 1 + offset, argument.location)
        new.name_hint = argument.name_hint
        arguments[argument] = new
    value = _inline(producer, emit, arguments, _loop_values(emit, producer, loops, rank))
    block.args[position].name_hint = None  # the computed value is no input
    block.args[position].replace_all_uses_with(value)
    block.erase_arg(block.args[position])
    inputs = [*consumer.inputs]
    inputs[position : position + 1] = producer.inputs
    maps[position : position + 1] = new_maps
    missing = sorted(set(range(rank)) - dims_given(maps))
    if missing:
        # Only the shape of what was fused said how far these loops run.
        element = IntegerType(1)
        shape = empty(Emitter.before(consumer), TensorType(element, [extents[d] for d in missing]))
        at = position + count
        block.insert_arg(element, at)
        inputs.insert(at, shape)
        maps.insert(at, AffineMap(rank, 0, tuple(AffineDimExpr(d) for d in missing)))
    set_operands(consumer, inputs, list(consumer.outputs), maps)
    share_equal_inputs(consumer)


def _loop_values(
    emit: Emitter, producer: GenericOp, loops: list[AffineExpr], rank: int
) -> list[SSAValue | int]:
    """The producer's loops inside the consumer; an index is computed only where it is used."""
    used = {op.dim.value.data for op in producer.body.walk() if isinstance(op, IndexOp)}
    values: list[SSAValue | int] = []
    for loop, expr in enumerate(loops):
        if isinstance(expr, AffineDimExpr) or loop not in used:
            values.append(expr.position if isinstance(expr, AffineDimExpr) else 0)
            continue
        indices: list[SSAValue] = []
        for dim in range(rank):
            needed = dim in expr.used_dims()
            indices.append(emit.add(IndexOp(dim)).result if needed else emit.index(0))
        values.append(materialize(emit, expr, indices))
    return values


def _fuse_extract(producer: GenericOp, extract: tensor.ExtractOp) -> None:
    """Compute the element that `extract` takes of the producer's result in its place."""
    written = permutation_of(indexing_maps(producer)[-1])
    assert written is not None
    loops: list[SSAValue | int] = [extract.indices[written.index(i)] for i in range(len(written))]
    values = [v for v in loops if isinstance(v, SSAValue)]
    emit = Emitter.before(extract)
    arguments: dict[SSAValue, SSAValue] = {}
    body = producer.body.block
    for operand, map_, argument in zip(
        producer.inputs, indexing_maps(producer), body.args, strict=False
    ):
        if argument.uses:
            indices = [materialize(emit, e, values) for e in map_.results]
            element = emit.add(tensor.ExtractOp(operand, indices, argument.type))
            arguments[argument] = element.result
    value = _inline(producer, emit, arguments, loops)
    extract.result.replace_all_uses_with(value)
    erase(extract)


def _extracts(consumer: GenericOp, value: SSAValue) -> list[tensor.ExtractOp]:
    return [
        op for op in consumer.body.walk() if isinstance(op, tensor.ExtractOp) and op.tensor is value
    ]


def _buffers(op: GenericOp) -> set[SSAValue]:
    """The tensors that a kernel of `op` alone reads."""
    read = [
        v for v in [*op.inputs, *captured_tensors(op)] if not isinstance(v.owner, tensor.EmptyOp)
    ]
    return set(read)


def _is_broadcast(value: SSAValue) -> bool:
    producer = _as_producer(value)
    return producer is not None and all(
        prod(shape_of(v)) < prod(shape_of(value)) for v in producer.inputs
    )


def _fuse_into(consumer: GenericOp, max_operands: int) -> None:
    """Fuse every producer of `consumer` that pays, until none does."""
    refused: set[SSAValue] = set()
    while True:
        # Broadcasts first: they free loops of an index, so that more of them can be merged.
        inputs = sorted(consumer.inputs, key=lambda v: not _is_broadcast(v))
        for value in [*inputs, *captured_tensors(consumer)]:
            producer = _as_producer(value)
            if producer is None or value in refused or producer.parent is not consumer.parent:
                continue
            extracts = _extracts(consumer, value)
            buffers = (_buffers(consumer) - {value}) | _buffers(producer)
            positions = [i for i, v in enumerate(consumer.inputs) if v is value]
            if (
                len(buffers) + len(consumer.results) > max_operands
                or not should_fuse(_candidate(producer, consumer, len(extracts)))
                or not all(_is_legal(producer, consumer, i) for i in positions)
            ):
                refused.add(value)
                continue
            while value in consumer.inputs:
                _fuse_input(producer, consumer, list(consumer.inputs).index(value))
            for extract in extracts:
                _fuse_extract(producer, extract)
            if not any(r.uses for r in producer.results):
                erase(producer)
            break
        else:
            return


def _fuse_block(block: Block, max_operands: int) -> None:
    for op in list(block.ops):
        if isinstance(op, GenericOp):
            share_equal_inputs(op)
            _fuse_into(op, max_operands)


@dataclass(frozen=True)
class LinalgFuseElementwisePass(ModulePass):
    """Compute elementwise producers inside the generics that read them (L1 to L1).

    Producers are fused when nothing costly is computed twice (compiler/analysis/fusion_profit.py);
    into matrix products and convolutions only what moves or converts data.

        %1 = linalg.generic {exp} ins(%x) ...
        %2 = linalg.generic {sum over d1} ins(%1) ...
    becomes
        %2 = linalg.generic {sum of exp over d1} ins(%x) ...
    """

    name = "linalg-fuse-elementwise"

    max_operands: int = 24

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse in every host function, in program order, so that producers are fused first."""
        for function in host_functions(op):
            _fuse_block(function.body.block, self.max_operands)
