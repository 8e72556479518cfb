"""The pass `cse`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ingot.compiler.analysis.subexpressions import eliminate_subexpressions


@dataclass(frozen=True)
class CsePass(ModulePass):
    """Compute once what equal ops compute, and drop what nothing needs (any level).

        %a = arith.addi %x, %y : i32
        %b = arith.addi %x, %y : i32
        use %a, %b
    becomes
        %a = arith.addi %x, %y : i32
        use %a, %a

    The same as xDSL's pass of this name in a third of the time: an op is compared by numbers for
    its attributes, and what its class does to memory is asked once.
    """

    name = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for region in op.regions:
            eliminate_subexpressions(region)
