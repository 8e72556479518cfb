"""Tiles of keys and values in threadgroup memory, for attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.building import before
from ingot.compiler.analysis.expressions import Expressions, Leaf
from ingot.compiler.analysis.structured import element_type, indexing_maps, loop_extents
from ingot.compiler.dialects.arith import CmpiOp, MinSIOp, SelectOp
from ingot.compiler.dialects.gpu import AddressSpace, AddressSpaceAttr
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.scf import ForallOp
from ingot.passes.kernel.attention_row import LANES, AttentionRow
from ingot.passes.kernel.cooperative import Row, over_chunks
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.memory import View
from ingot.passes.kernel.store import store


@dataclass(frozen=True)
class Lines:
    """An operand that has a line for each key, or for each query."""

    op: GenericOp
    position: int
    along: int
    """The loop of `op` along a line."""
    loops: tuple[int | None, ...]
    """For each loop of `op` that of the product."""

    @property
    def width(self) -> int:
        """Elements of a line, rounded up to whole vectors."""
        return -(-loop_extents(self.op)[self.along] // LANES) * LANES


def line_vector(lines: Lines, row: AttentionRow, key: Linear, start: Linear) -> SSAValue:
    """Four elements of the line of a key (or of the row's query); zero past the end of the line."""
    evaluator, op, along = row.evaluator, lines.op, lines.along
    map_, value = indexing_maps(op)[lines.position], op.operands[lines.position]
    extent = loop_extents(op)[along]
    at = row.loops(lines.loops, key)
    if extent % LANES == 0:
        at[along] = start
        vector = evaluator.operand_element(value, map_, at, Lanes(along, LANES))
        return evaluator.widen(vector, LANES)
    elements: list[SSAValue] = []
    zero = evaluator.zero(element_type(value))
    for lane in range(LANES):
        at[along] = start + lane
        known = at[along].known
        if known is not None and known >= extent:
            elements.append(zero)
            continue
        inside = None
        if known is None:
            position = evaluator.materialize(at[along])
            end = evaluator.index_value(extent)
            inside = evaluator.pure(CmpiOp, position, end, "slt")
            at[along] = _kept(evaluator, at[along], extent - 1)
        element = evaluator.operand_element(value, map_, at, None)
        if inside is not None:
            element = evaluator.emit(SelectOp(inside, element, zero)).result
        elements.append(element)
    return evaluator.from_elements(elements)


def _kept(evaluator: Evaluator, position: Linear, last: int) -> Linear:
    """A position, but `last` where it is past that."""
    at = evaluator.materialize(position)
    return Linear.of(evaluator.pure(MinSIOp, at, evaluator.index_value(last)))


class StagedLines:
    """A tile of lines in threadgroup memory."""

    def __init__(self, row: AttentionRow, lines: Lines, name: str, blocks: ForallOp) -> None:
        """Allocate it in front of `blocks`, the loop over threadgroups."""
        self.row = row
        self.evaluator = row.evaluator
        self.lines = lines
        self.size = row.schedule.reduction
        self.key = lines.loops.index(row.attention.key_loop)
        self.count = loop_extents(lines.op)[self.key]
        type_ = MemRefType(
            element_type(lines.op.operands[lines.position]),
            [self.size, lines.width],
            NoneAttr(),
            AddressSpaceAttr(AddressSpace.WORKGROUP),
        )
        alloc = memref.AllocOp([], [], type_)
        alloc.memref.name_hint = name
        self.view = View(before(blocks).insert(alloc).memref, [Linear()] * 2, [False] * 2)

    def read(self, line: Linear, chunk: int) -> SSAValue:
        """A vector of a line, in f32."""
        index = [line, Linear((), chunk * LANES)]
        return self.row.wide(self.evaluator.load(self.view, index, Lanes(1, LANES)))

    def copy(self, base: Linear) -> None:
        """Copy the tile that starts at `base`, all threads together; the last key stands for those
        past the end."""
        across = self._is_across()
        shape = (self.lines.width, self.size) if across else (self.size, self.lines.width)
        row = Row(shape, self.row.schedule.threads, LANES)
        one_vector = LANES if across else 1

        def step(number: Linear, _: Sequence[SSAValue]) -> list[SSAValue]:
            chunk = row.chunk(self.evaluator, number)
            line, element = chunk.index[:: -1 if across else 1]
            key = base + line
            if self.count % self.size:
                key = _kept(self.evaluator, key, self.count - one_vector)
            if across:
                value = self._keys(key, element)
            else:
                value = line_vector(self.lines, self.row, key, element)
            lanes = Lanes(0 if across else 1, LANES)
            store(self.evaluator, self.view, (line, element), lanes, value, chunk.valid)
            return []

        with self.evaluator.on_behalf_of(self.lines.op):
            over_chunks(self.evaluator, row, [], step)

    def _is_across(self) -> bool:
        """Whether vectors of keys lie together in memory, instead of the lines."""
        op, position = self.lines.op, self.lines.position
        extents = loop_extents(op)
        expressions = Expressions(len(extents))
        number = expressions.element(op.operands[position], indexing_maps(op)[position].results)
        if number is None or self.count % LANES or extents[self.lines.along] % LANES:
            return False
        read = [leaf for leaf in expressions.leaves(number) if isinstance(leaf, Leaf)]
        return all(leaf.index and leaf.index[-1] == AffineDimExpr(self.key) for leaf in read)

    def _keys(self, key: Linear, element: Linear) -> SSAValue:
        """One element of the lines of four keys."""
        lines = self.lines
        at = self.row.loops(lines.loops, key)
        at[lines.along] = element
        map_, value = indexing_maps(lines.op)[lines.position], lines.op.operands[lines.position]
        vector = self.evaluator.operand_element(value, map_, at, Lanes(self.key, LANES))
        return self.evaluator.widen(vector, LANES)
