"""Erase `cf.assert`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import erase
from ingot.compiler.analysis.module_warnings import add_warning


@dataclass(frozen=True)
class DropAssertsPass(ModulePass):
    """Erase `cf.assert`: device code cannot stop the host (L1 to L1).

    Each message becomes a warning in the module's `ingot.warnings`.

        cf.assert %in_range, "index must be smaller than dim size"
    becomes
        (nothing; `clamp-extracts` keeps the index that was checked in range)
    """

    name = "drop-asserts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in [i for i in function.body.walk() if isinstance(i, cf.AssertOp)]:
                add_warning(op, f'the check "{inner.msg.data}" is not made on the device')
                erase(inner)
