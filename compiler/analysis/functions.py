"""Which functions of a module run on the host, and which are kernels."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ingot.compiler.dialects.dispatch import HELPER_MARK, KERNEL_MARK


def kernel_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions that are kernels, in order."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and KERNEL_MARK in op.attributes]


def device_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The kernels, and the functions that hold parts of their code, in order."""
    marks = {KERNEL_MARK, HELPER_MARK}
    return [op for op in module.ops if isinstance(op, func.FuncOp) and op.attributes.keys() & marks]


def host_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions of one block that are not kernels, in order.

    What has branches between blocks that `lift-cf-to-scf` leaves is refused by `verify-supported`:
    no pass before that has to know of them.
    """
    return [f for f in _with_body(module) if len(f.body.blocks) == 1]


def branching_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions of several blocks that are not kernels, in order."""
    return [f for f in _with_body(module) if len(f.body.blocks) > 1]


def _with_body(module: ModuleOp) -> list[func.FuncOp]:
    return [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and op.body.blocks
        and not {KERNEL_MARK, HELPER_MARK} & op.attributes.keys()
    ]
