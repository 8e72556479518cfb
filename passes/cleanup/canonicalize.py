"""The pass `canonicalize`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import (
    ConstantOp,
    MaxSIOp,
    MinSIOp,
    SignlessIntegerBinaryOperation,
    SignlessIntegerBinaryOperationHasCanonicalizationPatternsTrait,
)
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import ConstantLike, HasCanonicalizationPatternsTrait, HasFolder

from ingot.compiler.analysis.index_range import constant_int, is_non_negative
from ingot.compiler.analysis.rewriting import ClassRewriter, ClassRules


@dataclass(frozen=True)
class CanonicalizePass(ModulePass):
    """Fold ops and apply the canonicalization patterns of each until nothing changes (any level).

        %c = arith.muli %two, %three : index
        %d = arith.addi %x, %zero : index
        use %c, %d
    becomes
        %six = arith.constant 6 : index
        use %six, %x

    The rules are xDSL's, which `ClassRewriter` applies in a third of the time, and `FoldClamp`.
    """

    name = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ClassRewriter(_rules, ctx, far=True).rewrite(op.body)


class FoldClamp(RewritePattern):
    """An index that is known to lie on one side of a constant: which of both is the larger one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, MaxSIOp | MinSIOp)
        if not isinstance(op.result.type, IndexType):
            return
        for value, bound in (op.operands, op.operands[::-1]):
            number, limit = constant_int(value), constant_int(bound)
            if limit is None:
                continue
            above = limit <= 0 and is_non_negative(value) if number is None else number >= limit
            if above or number is not None:
                rewriter.replace(op, [], [value if above == isinstance(op, MaxSIOp) else bound])
                return


_OWN: dict[type[Operation], tuple[RewritePattern, ...]] = {
    MaxSIOp: (FoldClamp(),),
    MinSIOp: (FoldClamp(),),
}


def _rules(op_type: type[Operation]) -> ClassRules:
    """What the traits of a class say."""
    traits = op_type.get_traits_of_type(HasCanonicalizationPatternsTrait)
    return ClassRules(
        folds=op_type.has_trait(HasFolder) and not op_type.has_trait(ConstantLike),
        patterns=(
            *(p for trait in traits for p in trait.get_patterns(op_type)),
            *_OWN.get(op_type, ()),
        ),
        applies=_has_constant if _needs_constant(op_type) else None,
    )


def _needs_constant(op_type: type[Operation]) -> bool:
    """Whether all rules of a class ask for a constant operand: those of most integer ops do."""
    return (
        issubclass(op_type, SignlessIntegerBinaryOperation)
        and op_type.fold is SignlessIntegerBinaryOperation.fold
        and all(
            type(trait) is SignlessIntegerBinaryOperationHasCanonicalizationPatternsTrait
            for trait in op_type.get_traits_of_type(HasCanonicalizationPatternsTrait)
        )
    )


def _has_constant(op: Operation) -> bool:
    return any(isinstance(operand.owner, ConstantOp) for operand in op.operands)
