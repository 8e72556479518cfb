"""Which values depend on what is differentiated, through floats."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.compiler.analysis.types import element_type


def is_float(type_: Attribute) -> bool:
    """Whether a scalar, or an element of a tensor, of this type can have a gradient."""
    return isinstance(element_type(type_), AnyFloat)


def propagate(block: Block, active: set[SSAValue]) -> None:
    """Add to `active` the floats of `block` that depend on those in it, inside of regions too."""
    for op in block.ops:
        _propagate_op(op, active)


def _propagate_op(op: Operation, active: set[SSAValue]) -> None:
    match op:
        case scf.ForOp():
            _loop(op.body.block, op.iter_args, op.body.block.args[1:], active)
            _mark(op.results, _yielded(op.body.block), active)
            _mark(op.results, op.iter_args, active)
        case scf.IfOp():
            for region in op.regions:
                if region.blocks:
                    propagate(region.block, active)
            arms = [_yielded(region.block) for region in op.regions if region.blocks]
            for i, result in enumerate(op.results):
                if any(arm[i] in active for arm in arms) and is_float(result.type):
                    active.add(result)
        case _:
            used = (v for inner in op.walk() for v in inner.operands)
            if any(v in active for v in used):
                active.update(r for r in op.results if is_float(r.type))


def _loop(
    block: Block, initial: Sequence[SSAValue], carried: Sequence[SSAValue], active: set[SSAValue]
) -> None:
    """Until nothing changes: what a loop carries is active when it starts or becomes so."""
    _mark(carried, initial, active)
    while True:
        before = len(active)
        propagate(block, active)
        if isinstance(block.last_op, scf.YieldOp):
            _mark(carried, _yielded(block), active)
        if len(active) == before:
            return


def _yielded(block: Block) -> list[SSAValue]:
    return list(block.last_op.operands) if block.last_op is not None else []


def _mark(values: Sequence[SSAValue], sources: Sequence[SSAValue], active: set[SSAValue]) -> None:
    for value, source in zip(values, sources, strict=True):
        if source in active and is_float(value.type):
            active.add(value)
