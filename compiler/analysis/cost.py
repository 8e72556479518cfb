"""How much one element of a structured op costs, for deciding what may be computed twice."""

from __future__ import annotations

from xdsl.dialects import arith, math, tensor
from xdsl.ir import Operation

from ingot.compiler.dialects.linalg import GenericOp, IndexOp, YieldOp

CONVERSIONS: tuple[type[Operation], ...] = (
    arith.ExtFOp,
    arith.TruncFOp,
    arith.IndexCastOp,
    arith.BitcastOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
)
"""Ops that change the type of one scalar."""

_FREE: tuple[type[Operation], ...] = (*CONVERSIONS, arith.ConstantOp, YieldOp, IndexOp)

_SLOW: dict[type[Operation], int] = {
    arith.DivfOp: 4,
    arith.DivSIOp: 16,
    arith.DivUIOp: 16,
    arith.RemSIOp: 16,
    arith.RemUIOp: 16,
    math.SqrtOp: 4,
    math.RsqrtOp: 4,
    tensor.ExtractOp: 2,
}
"""In additions; roughly what GPUs of today take."""

TRANSCENDENTAL = 12
"""Cost of any other function of the math dialect."""


def op_cost(op: Operation) -> int:
    """The cost of one scalar op, in additions."""
    if isinstance(op, _FREE):
        return 0
    if type(op) in _SLOW:
        return _SLOW[type(op)]
    return TRANSCENDENTAL if op.name.startswith("math.") else 1


def body_cost(op: GenericOp) -> int:
    """The cost of one iteration, in additions; 0 for what only moves or converts data."""
    return sum(op_cost(inner) for inner in op.body.walk())
