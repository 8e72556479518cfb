"""Turn composites into calls of their decompositions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ingot.compiler.analysis.generics import Emitter, erase


@dataclass(frozen=True)
class StableHLOExpandCompositesPass(ModulePass):
    """Turn `stablehlo.composite` into a call of the function that computes the same (to L1).

        %r = stablehlo.composite "chlo.erf" %x {decomposition = @erf} : (T) -> T
    becomes
        %r = func.call @erf(%x) : (T) -> T
    """

    name = "stablehlo-expand-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the whole module."""
        found = [inner for inner in op.walk() if inner.name == "stablehlo.composite"]
        if not found:
            return
        from ingot.compiler.dialects.stablehlo.operations import CompositeOp

        for composite in found:
            assert isinstance(composite, CompositeOp)
            call = Emitter.before(composite).add(
                func.CallOp(composite.callee, composite.ins, composite.result_types)
            )
            for old, new in zip(composite.results, call.results, strict=True):
                new.name_hint = old.name_hint
                old.replace_all_uses_with(new)
            erase(composite)
