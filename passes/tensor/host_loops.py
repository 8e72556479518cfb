"""Loops of the host program over tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import math, scf
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block, SSAValue

from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.dialects import arith

Turn = Callable[[Emitter, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""What one turn makes, given its number and what is carried."""


def for_loop(
    emit: Emitter, times: SSAValue, carried: Sequence[SSAValue], turn: Turn
) -> Sequence[SSAValue]:
    """`scf.for` from 0 to `times`, an index; returns what it carries in the end."""
    block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
    inner = Emitter.at_end(block, emit.location)
    inner.add(scf.YieldOp(*turn(inner, block.args[0], block.args[1:])))
    start, step = emit.index(0), emit.index(1)
    return emit.add(scf.ForOp(start, times, step, list(carried), block)).results


def doublings(emit: Emitter, length: SSAValue) -> SSAValue:
    """How often 1 has to be doubled to reach `length`, an index; 0 for lengths below 2."""
    last = emit.add(arith.SubiOp(length, emit.index(1))).result
    word = emit.add(arith.IndexCastOp(last, i32)).result
    zeros = emit.add(math.CountLeadingZerosOp(word)).result
    width = emit.add(arith.ConstantOp.from_int_and_width(32, 32)).result
    bits = emit.add(arith.SubiOp(width, zeros)).result
    count = emit.add(arith.IndexCastOp(bits, IndexType())).result
    is_long = emit.add(arith.CmpiOp(length, emit.index(1), "sgt")).result
    return emit.add(arith.SelectOp(is_long, count, emit.index(0))).result
