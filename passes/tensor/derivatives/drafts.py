"""What a forward op adds to the cotangent of one thing it reads, in each of its iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.cost import op_cost
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.saving import reads_saved
from ingot.compiler.analysis.structured import element_type, indexing_maps, is_parallel, shape_of
from ingot.compiler.analysis.structured import loop_extents as extents_of
from ingot.compiler.dialects.linalg import GenericOp, IndexOp, YieldOp

from .indices import place_of
from .scalars import Cotangent, Flattener, ScalarReverse, depends_on, erase_unused


@dataclass
class Draft:
    """The body of a backward kernel, over the loops of its forward op.

    `operands` are what the arguments of `block` are read from, by `maps` over loops of `extents`.
    `value` is what each iteration computes; further `values` (indices) may follow it.
    """

    block: Block
    emit: Emitter
    extents: tuple[int, ...]
    operands: list[SSAValue] = field(default_factory=list[SSAValue])
    maps: list[AffineMap] = field(default_factory=list[AffineMap])
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    places: list[AffineExpr | None] = field(default_factory=list["AffineExpr | None"])
    """Indices that follow the contribution, as functions of the loops that hold where it is not 0;
    None for other indices."""

    def read(self, operand: SSAValue, map_: AffineMap) -> BlockArgument:
        """A new argument: the element of `operand` at `map_` of the loops."""
        self.operands.append(operand)
        self.maps.append(map_)
        argument = self.block.insert_arg(element_type(operand), len(self.block.args))
        argument.name_hint = operand.name_hint
        return argument

    @property
    def value(self) -> SSAValue:
        """The contribution."""
        return self.values[0]

    @property
    def type(self) -> Attribute:
        """The type of the contribution."""
        return self.value.type

    def loops_of(self, value: SSAValue) -> frozenset[int]:
        """The loops that a value of the body depends on."""
        if isinstance(value, BlockArgument):
            is_here = value.block is self.block
            return frozenset(self.maps[value.index].used_dims()) if is_here else frozenset()
        owner = value.owner
        if isinstance(owner, IndexOp):
            return frozenset({owner.dim.value.data})
        assert isinstance(owner, Operation)
        if owner.parent_block() is not self.block:
            return frozenset()
        return frozenset(i for operand in owner.operands for i in self.loops_of(operand))

    def prune(self) -> None:
        """Drop ops and arguments that the values do not need."""
        keep = self.emit.add(YieldOp(*self.values))
        region = self.block.parent_region()
        assert region is not None
        erase_unused(region)
        for i in reversed(range(len(self.block.args))):
            if not self.block.args[i].uses:
                self.block.erase_arg(self.block.args[i])
                del self.operands[i], self.maps[i]
        keep.detach()
        keep.erase()


Seed = Callable[[Draft], Cotangent]
"""Emits the cotangent of a value of the forward body in each iteration."""

Seeds = Sequence[tuple[SSAValue, Seed]]
"""Values of a forward body, and their cotangents."""

Leaf = BlockArgument | SSAValue | int
"""What a draft is for: an argument of the forward body, a scalar from above, or the n-th
`tensor.extract` of the flat body."""


def reading(cotangent: SSAValue, map_: AffineMap) -> Seed:
    """The seed that is an element of a tensor."""
    return lambda draft: Cotangent(draft.read(cotangent, map_))


def seeds_of_results(op: GenericOp, cotangents: Sequence[SSAValue | None]) -> Seeds:
    """The cotangents of the results, for what the body yields."""
    maps = indexing_maps(op)[len(op.inputs) :]
    terminator = op.body.block.last_op
    assert terminator is not None
    return [
        (value, reading(cotangent, map_))
        for value, cotangent, map_ in zip(terminator.operands, cotangents, maps, strict=True)
        if cotangent is not None
    ]


def empty_draft(location: LocationAttr, extents: tuple[int, ...]) -> Draft:
    """A draft over loops that reads nothing yet."""
    block = Block()
    Region(block)
    return Draft(block, Emitter.at_end(block, location), extents)


def reading_draft(emit: Emitter, value: SSAValue) -> Draft:
    """A draft whose contribution is an element of a tensor."""
    draft = empty_draft(emit.location, shape_of(value))
    draft.values = [draft.read(value, AffineMap.identity(len(draft.extents)))]
    return draft


def open_draft(op: GenericOp) -> tuple[Draft, Flattener]:
    """A draft with a flat copy of the body of `op`, which reads all that `op` reads."""
    draft = empty_draft(op.location, extents_of(op))
    copies: dict[SSAValue, SSAValue] = {}
    for argument, operand, map_ in zip(
        op.body.block.args, op.operands, indexing_maps(op), strict=True
    ):
        copies[argument] = draft.read(operand, map_)
    flattener = Flattener(draft.emit, copies)
    return draft, flattener


def draft_of(op: GenericOp, seeds: Seeds, leaf: Leaf) -> Draft | None:
    """What `op` adds to the cotangent of `leaf`; None when that is nothing.

    For the n-th extract the draft's values are the contribution, then its indices.
    """
    draft, flattener = open_draft(op)
    yielded = flattener.block(op.body.block)
    flat = list(draft.block.ops)
    target, indices = _target(flat, flattener, leaf)
    dependent = depends_on(flat, target)
    reverse = ScalarReverse(draft.emit, dependent)
    for value, seed in seeds:
        if (copy := flattener.get(value)) in dependent:
            reverse.add(copy, seed(draft))
    reverse.run(flat)
    found = reverse.cotangents.get(target)
    if found is None:
        return None
    draft.emit.location = op.location
    draft.values = [found.value, *indices]
    if isinstance(leaf, int):
        sizes = shape_of(target.owner.operands[0]) if isinstance(target.owner, Operation) else ()
        draft.places = [
            place_of(index, found.condition, draft.extents, size)
            for index, size in zip(indices, sizes, strict=True)
        ]
    if all(is_parallel(op)):
        _reload(op, draft, yielded, target)
    draft.prune()
    return draft


def _target(
    flat: Sequence[Operation], flattener: Flattener, leaf: Leaf
) -> tuple[SSAValue, list[SSAValue]]:
    if isinstance(leaf, int):
        extract = [o for o in flat if isinstance(o, tensor.ExtractOp)][leaf]
        return extract.result, list(extract.indices)
    return flattener.get(leaf), []


def flat_extracts(op: GenericOp) -> list[SSAValue]:
    """The tensors that the extracts of the flat body read, in its order."""
    draft, flattener = open_draft(op)
    flattener.block(op.body.block)
    found = [o.tensor for o in draft.block.ops if isinstance(o, tensor.ExtractOp)]
    for inner in reversed(list(draft.block.ops)):
        inner.detach()
        inner.erase()
    return found


def _reload(op: GenericOp, draft: Draft, yielded: Sequence[SSAValue], target: SSAValue) -> None:
    """Read results of `op` that would take long to compute again (`saving.py`)."""
    iterations = prod(draft.extents)
    maps = indexing_maps(op)[len(op.inputs) :]
    for value, result, map_ in zip(yielded, op.results, maps, strict=True):
        if isinstance(value, BlockArgument) or value is target or not value.uses:
            continue
        if reads_saved(cost_of(value), prod(shape_of(result)), iterations):
            index = next((i for i, v in enumerate(draft.values) if v is value), None)
            again = draft.read(result, map_)
            value.replace_all_uses_with(again)
            if index is not None:
                draft.values[index] = again


def cost_of(value: SSAValue) -> int:
    """What computing a value of a flat body takes, in additions."""
    seen: set[Operation] = set()
    stack = [value.owner]
    while stack:
        owner = stack.pop()
        if isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            stack += [operand.owner for operand in owner.operands]
    return sum(op_cost(owner) for owner in seen)
