"""The pass `fuse-multiply-add`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp, VectorType
from xdsl.dialects.math import FmaOp
from xdsl.dialects.vector import FMAOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.type import get_element_type_or_self

from ingot.compiler.analysis.building import before
from ingot.compiler.dialects.arith import AddfOp, MulfOp


@dataclass(frozen=True)
class FuseMultiplyAddPass(ModulePass):
    """Contract a product that only a sum uses to one fused op, in f32, in functions of L4.

    before:  %p = arith.mulf %a, %b : vector<4xf32>
             %s = arith.addf %c, %p : vector<4xf32>
    after:   %s = vector.fma %a, %b, %c : vector<4xf32>

    Where a target's compiler may not contract by itself, this is how contraction, which all but
    strict math allows, happens: at the same places on every device. The formulas of `expand-math`
    hold with and without.
    """

    name = "fuse-multiply-add"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            if isinstance(inner, AddfOp) and isinstance(
                get_element_type_or_self(inner.result.type), Float32Type
            ):
                _fuse(inner)


def _fuse(add: AddfOp) -> None:
    for product, other in ((add.rhs, add.lhs), (add.lhs, add.rhs)):
        multiply = product.owner
        if (
            isinstance(multiply, MulfOp)
            and product.uses.get_length() == 1
            and multiply.parent_block() is add.parent_block()
        ):
            fused = _fma(multiply.lhs, multiply.rhs, other)
            fused.location = add.location
            fused.attributes |= multiply.attributes
            before(add).insert(fused)
            fused.results[0].name_hint = add.result.name_hint
            add.result.replace_all_uses_with(fused.results[0])
            for op in (add, multiply):
                op.detach()
                op.erase()
            return


def _fma(a: SSAValue, b: SSAValue, c: SSAValue) -> Operation:
    if isinstance(c.type, VectorType):
        return FMAOp(a, b, c)
    return FmaOp(a, b, c)
