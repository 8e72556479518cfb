"""Doubles numbers by adding them to themselves."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ingot.compiler.dialects import arith


@dataclass(frozen=True)
class DoubleByAddingPass(ModulePass):
    """Replace products with the constant 2 by sums (any level to the same).

        %1 = arith.mulf %0, %two : f32
    becomes
        %1 = arith.addf %0, %0 : f32
    """

    name = "double-by-adding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every product of scalars with 2."""
        PatternRewriteWalker(ProductWithTwo()).rewrite_module(op)


class ProductWithTwo(RewritePattern):
    """`x * 2` is `x + x`, to the bit."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MulfOp, rewriter: PatternRewriter) -> None:
        for factor, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if is_two(other):
                rewriter.replace_op(op, arith.AddfOp(factor, factor, op.fastmath))
                return


def is_two(value: SSAValue) -> bool:
    """Whether a value is the constant 2."""
    constant = value.owner
    return (
        isinstance(constant, arith.ConstantOp)
        and isinstance(constant.value, FloatAttr)
        and constant.value.value.data == 2.0
    )
