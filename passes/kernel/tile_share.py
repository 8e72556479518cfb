"""How the threads of a threadgroup take their parts of a two-dimensional tile that they copy."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ingot.compiler.dialects.arith import CmpiOp, SelectOp
from ingot.passes.kernel.cooperative import thread_id
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear

_NEIGHBOURS = 8
"""Threads whose vectors of 16 bytes reach all banks of threadgroup memory."""


@dataclass(frozen=True)
class Place:
    """Where a thread's block begins in one step: its line, and its place in the line."""

    slow: Linear
    fast: Linear
    valid: SSAValue | None
    """Whether the thread has a block in this step; None when every thread has one."""


@dataclass(frozen=True)
class TileShare:
    """A tile of `lines` by `length` elements in blocks of `height` lines by `width` elements.

    Neighbouring threads take the blocks of a line one after the other, so that they read
    neighbouring memory; blocks of several lines are meant to be written turned, and there eight
    neighbours take blocks below each other.
    """

    threads: int
    lines: int
    length: int
    height: int
    width: int
    first: int = 0
    """The thread that takes the first block."""

    @property
    def blocks(self) -> int:
        """Blocks of the tile."""
        return (self.lines // self.height) * (self.length // self.width)

    def places(self, evaluator: Evaluator) -> list[Place]:
        """The blocks of the thread, in the order of its steps."""
        blocks = self.blocks
        return [
            self._place(evaluator, start, blocks - start)
            for start in range(0, blocks, self.threads)
        ]

    def _place(self, evaluator: Evaluator, start: int, left: int) -> Place:
        thread = thread_id(evaluator)
        d: AffineExpr = AffineDimExpr(0)
        if self.first:
            thread = evaluator.apply((d + (self.threads - self.first)) % self.threads, thread)
        per_line = self.length // self.width
        below = _NEIGHBOURS if self.height > 1 else 1
        if (self.lines // self.height) % below:
            below = 1
        period = below * per_line
        if moved := start % period:
            d = d + moved
        line = evaluator.form(d // period, thread) * below + start // period * below
        if below > 1:
            line = line + evaluator.form(d % below, thread)
            d = d // below
        fast = evaluator.form(d % per_line, thread) * self.width
        slow, valid = line * self.height, None
        if left < self.threads:
            end = evaluator.index_value(left)
            valid = evaluator.pure(CmpiOp, thread, end, "slt")
            # Without a block, a thread reads some other one: a branch would wait for the loads.
            position = evaluator.materialize(slow)
            zero = evaluator.index_value(0)
            slow = Linear.of(evaluator.pure(SelectOp, valid, position, zero))
        return Place(slow, fast, valid)
