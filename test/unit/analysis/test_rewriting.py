"""Rewriting by the rules of an op's class."""

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ingot.compiler.analysis.rewriting import ClassRewriter, ClassRules


class LeaveAlone(RewritePattern):
    """Does nothing."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        del op, rewriter


class ProductToSum(RewritePattern):
    """Replaces the op that the rewriter is at, as patterns of other packages may."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert rewriter.current_operation is op
        rewriter.replace(op, arith.AddiOp(op.operands[0], op.operands[1]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_patterns_are_told_which_op_they_are_at() -> None:
    block = Block(arg_types=[i32, i32])
    first = arith.SubiOp(*block.args)
    second = arith.MuliOp(first.result, block.args[1])
    block.add_ops([first, second, TestOp([second.result])])
    rules = {
        arith.SubiOp: ClassRules(patterns=(LeaveAlone(),)),
        arith.MuliOp: ClassRules(patterns=(ProductToSum(),)),
    }
    ClassRewriter(lambda op_type: rules.get(op_type, ClassRules())).rewrite(Region(block))
    assert [op.name for op in block.ops] == ["arith.subi", "arith.addi", "test.op"]
