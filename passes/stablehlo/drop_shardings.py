"""Drop what is said about the arrangement of devices."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects.sdy import MeshOp, ShardingConstraintOp


@dataclass(frozen=True)
class DropShardingsPass(ModulePass):
    """Drop Shardy's meshes and constraints, which JAX writes for one device too (L1 to L1).

        sdy.mesh @empty_mesh = <[]>
        %0 = sdy.sharding_constraint %key <@empty_mesh, [{}]> : tensor<2xui32>
    becomes
        (nothing, and %key in place of %0)
    """

    name = "drop-shardings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Refuse a mesh of several devices, and erase the others."""
        for inner in list(op.walk()):
            if isinstance(inner, MeshOp):
                devices = prod(inner.sizes.get_values())
                if devices != 1:
                    name = inner.sym_name.data
                    message = f"the mesh @{name} has {devices} devices, and a program runs on one"
                    raise refuse(inner, message, "export it without shardings")
                inner.detach()
                inner.erase()
            elif isinstance(inner, ShardingConstraintOp):
                inner.result.replace_all_uses_with(inner.input)
                inner.detach()
                inner.erase()
