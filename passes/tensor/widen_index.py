"""Compute with 64 bits where an index is a number that 32 may not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.index_bounds import index_bounds
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import loop_extents
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects.arith import (
    CmpiOp,
    ExtSIOp,
    ExtUIOp,
    IndexCastOp,
    IndexCastUIOp,
    TruncIOp,
)
from ingot.compiler.dialects.linalg import GenericOp

_LIMIT = 1 << 31
_CASTS = (arith.IndexCastOp, IndexCastUIOp)
_NEVER_LARGER = (
    arith.MinSIOp, arith.MaxSIOp, arith.MinUIOp, arith.MaxUIOp, arith.CmpiOp, arith.SelectOp,
    arith.AndIOp, arith.OrIOp, arith.XOrIOp,
)  # fmt: skip
"""Ops that give the same result in 32 and 64 bits for operands that 32 hold."""
_SIGNED_DIVISIONS = (arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp)
_UNSIGNED_DIVISIONS = (arith.DivUIOp, arith.RemUIOp, arith.CeilDivUIOp)


def _is_index(value: SSAValue) -> bool:
    return isinstance(value.type, IndexType)


def _width(value: SSAValue) -> int:
    return integer_width(value.type) or 64


def _is_address(value: SSAValue) -> bool:
    """Whether an index only chooses elements, limited before at the most: then an index too large
    for 32 bits may become the largest."""
    return all(
        isinstance(use.operation, tensor.ExtractOp)
        or (
            isinstance(use.operation, arith.MinSIOp | arith.MaxSIOp)
            and _is_address(use.operation.results[0])
        )
        for use in value.uses
    )


@dataclass
class _Body:
    """The index arithmetic of one structured op."""

    extents: Sequence[int]
    wide: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The i64 of each index that needs one."""

    def widen(self, op: GenericOp) -> None:
        replaced: list[Operation] = []
        for inner in list(op.body.walk()):
            if self._needs_64_bits(inner):
                self._replace(inner)
                replaced.append(inner)
        for inner in reversed(replaced):
            for result in inner.results:
                if _is_index(result) and result in self.wide:
                    self._narrow_for_other_uses(result)
            erase(inner)

    def _needs_64_bits(self, op: Operation) -> bool:
        if not op.name.startswith(("arith.", "math.")) or isinstance(op, arith.ConstantOp):
            return False
        if not any(_is_index(v) for v in (*op.operands, *op.results)):
            return False
        if any(operand in self.wide for operand in op.operands):
            return True
        if isinstance(op, _CASTS):
            if not _is_index(op.results[0]) or _is_address(op.results[0]):
                return False
            return _width(op.input) > (31 if isinstance(op, IndexCastUIOp) else 32)
        if isinstance(op, _NEVER_LARGER):
            return False
        if isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            return not self._is_within(op.result, -_LIMIT, _LIMIT - 1)
        if isinstance(op, _SIGNED_DIVISIONS):
            return not self._is_within(op.rhs, 1, _LIMIT - 1)
        if isinstance(op, _UNSIGNED_DIVISIONS):
            known = self._is_within(op.lhs, 0, _LIMIT - 1)
            return not (known and self._is_within(op.rhs, 1, _LIMIT - 1))
        if isinstance(op, arith.ShRSIOp):
            return not self._is_within(op.rhs, 0, 31)
        return True

    def _is_within(self, value: SSAValue, least: int, most: int) -> bool:
        low, high = index_bounds(value, self.extents)
        return least <= low and high <= most

    def _as_i64(self, value: SSAValue, emit: Emitter) -> SSAValue:
        """An index as i64: from the integer that it was, where it is converted from one."""
        if value in self.wide:
            return self.wide[value]
        if (known := int_of(value)) is not None:
            return emit.add(arith.ConstantOp(IntegerAttr(known, i64))).result
        owner = value.owner
        if isinstance(owner, _CASTS):
            if _width(owner.input) == 64:
                return owner.input
            extend = ExtUIOp if isinstance(owner, IndexCastUIOp) else ExtSIOp
            return emit.add(extend(owner.input, i64)).result
        return emit.add(IndexCastOp(value, i64)).result

    def _replace(self, op: Operation) -> None:
        emit = Emitter.before(op)
        result = op.results[0]
        if isinstance(op, _CASTS):
            if _is_index(result):
                self.wide[result] = self._as_i64(result, emit)
                return
            wide = self._as_i64(op.input, emit)
            width = _width(result)
            narrow = wide if width == 64 else emit.add(TruncIOp(wide, IntegerType(width))).result
            result.replace_all_uses_with(narrow)
            return
        operands = [self._as_i64(v, emit) if _is_index(v) else v for v in op.operands]
        if isinstance(op, arith.CmpiOp):
            lhs, rhs = operands
            result.replace_all_uses_with(emit.add(CmpiOp(lhs, rhs, op.predicate.value.data)).result)
            return
        new = op.clone()
        new.operands = operands
        for old, fresh in zip(op.results, emit.add(new).results, strict=True):
            if _is_index(old):
                fresh._type = i64  # pyright: ignore[reportPrivateUsage]
                self.wide[old] = fresh
            else:
                old.replace_all_uses_with(fresh)

    def _narrow_for_other_uses(self, value: SSAValue) -> None:
        uses = list(value.uses)
        if not uses:
            return
        for use in uses:
            if isinstance(use.operation, scf.YieldOp):
                raise refuse(
                    use.operation,
                    "an index that may need 64 bits leaves an scf.if",
                    "convert it to i64 inside of the branch",
                )
        wide = self.wide[value]
        owner = value.owner
        assert isinstance(owner, Operation)
        emit = Emitter.before(owner)
        emit.builder.insertion_point = InsertPoint.after(owner)
        value.replace_all_uses_with(emit.add(IndexCastOp(wide, IndexType())).result)


@dataclass(frozen=True)
class WidenIndexPass(ModulePass):
    """Compute on i64 what a structured op's body computes on indices that may leave 32 bits, and
    divisions by what may be zero (L1 to L1).

    A kernel's indices have 32 bits where its buffers allow, but the source's `index` has 64. What
    loops and constants bound stays an index, and so does one from data that only chooses elements:
    it is limited to the tensor anyway.

        %i = arith.index_cast %x : i64 to index
        %j = arith.muli %i, %i : index
        %r = arith.index_cast %j : index to i64
    becomes
        %r = arith.muli %x, %x : i64
    """

    name = "widen-index"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal`."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, GenericOp):
                    # a tensor holds no more elements than 32 bits count
                    extents = [_LIMIT - 1 if e < 0 else e for e in loop_extents(inner)]
                    _Body(extents).widen(inner)
