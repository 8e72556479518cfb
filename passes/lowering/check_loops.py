"""The pass `check-loops`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.index_range import constant_int


def turns(block: Block) -> int:
    """The turns of all loops below `block` in one run of it, of those whose bounds are known.

    Of a branch the longer side counts, and any other loop as one turn.
    """
    total = 0
    for op in block.ops:
        inside = [turns(inner) for region in op.regions for inner in region.blocks]
        if isinstance(op, scf.ForOp):
            total += _trips(op) * (1 + inside[0])
        elif isinstance(op, scf.IfOp):
            total += max(inside, default=0)
        else:
            total += sum(inside)
    return total


def _trips(op: scf.ForOp) -> int:
    lower, upper, step = (constant_int(value) for value in (op.lb, op.ub, op.step))
    if lower is None or upper is None or step is None or step < 1:
        return 1
    return max(0, -(-(upper - lower) // step))


@dataclass(frozen=True)
class CheckLoopsPass(ModulePass):
    """Refuses kernels whose threads have more turns of loops than the driver runs, on L4.

    A driver that ends loops early reports nothing, so the values would be wrong.

        error: a thread of kernel f_sum has 100000 turns of loops, but the driver ends them at 65535
    """

    name = "check-loops"

    most_turns: int = 65535

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises `Refusal`."""
        for kernel in kernel_functions(op):
            self._check(kernel)

    def _check(self, kernel: FuncOp) -> None:
        count = turns(kernel.body.block)
        if count >= self.most_turns:
            raise refuse(
                kernel,
                f"a thread of kernel {kernel.sym_name.data} has {count} turns of loops, "
                f"but the driver ends them at {self.most_turns}",
                "split the loop into several, or compile for a device without this limit",
            )
