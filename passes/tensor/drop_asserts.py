"""Erase `cf.assert`, but for those about sizes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, cf, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.module_warnings import add_warning
from ingot.compiler.dialects.host import CheckOp


def _is_of_sizes(value: SSAValue) -> bool:
    """Whether the host computes a scalar from nothing but sizes and constants."""
    owner = value.owner
    if isinstance(owner, tensor.DimOp | arith.ConstantOp):
        return True
    if not isinstance(owner, Operation) or owner.name.partition(".")[0] != "arith":
        return False
    return all(map(_is_of_sizes, owner.operands))


@dataclass(frozen=True)
class DropAssertsPass(ModulePass):
    """Erase `cf.assert`: device code cannot stop the host (L1 to L1).

    Each message becomes a warning in the module's `ingot.warnings`. What is said about sizes alone
    is checked when the function is called.

        cf.assert %in_range, "index must be smaller than dim size"
        cf.assert %equal_sizes, "mismatched size for broadcast"
    becomes
        (nothing; `clamp-extracts` keeps the index that was checked in range)
        host.check %equal_sizes, "mismatched size for broadcast"
    """

    name = "drop-asserts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in [i for i in function.body.walk() if isinstance(i, cf.AssertOp)]:
                if inner.parent_block() is function.body.block and _is_of_sizes(inner.arg):
                    Emitter.before(inner).add(CheckOp(inner.arg, inner.msg.data))
                    erase(inner)
                    continue
                add_warning(op, f'the check "{inner.msg.data}" is not made on the device')
                erase(inner)
