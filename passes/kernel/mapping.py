"""Which hardware ids the loops of an `scf.forall` run over."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation

from ingot.compiler.dialects.gpu import BlockMappingAttr, MappingId, ThreadMappingAttr
from ingot.compiler.dialects.scf import ForallOp


def block_mapping(count: int) -> ArrayAttr[Attribute]:
    """Threadgroups, the last loop fastest."""
    return ArrayAttr([BlockMappingAttr(_linear(i)) for i in reversed(range(count))])


def thread_mapping(count: int) -> ArrayAttr[Attribute]:
    """Threads of a threadgroup, the last loop fastest."""
    return ArrayAttr([ThreadMappingAttr(_linear(i)) for i in reversed(range(count))])


def is_over_blocks(op: Operation) -> bool:
    """Whether `op` is an `scf.forall` over threadgroups."""
    return isinstance(op, ForallOp) and _first_is(op, BlockMappingAttr)


def is_over_threads(op: Operation) -> bool:
    """Whether `op` is an `scf.forall` over the threads of a threadgroup."""
    return isinstance(op, ForallOp) and _first_is(op, ThreadMappingAttr)


def _first_is(op: ForallOp, kind: type[Attribute]) -> bool:
    return op.mapping is not None and bool(op.mapping.data) and isinstance(op.mapping.data[0], kind)


def _linear(i: int) -> MappingId:
    return MappingId(f"linear_dim_{i}")
