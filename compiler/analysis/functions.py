"""Which functions of a module run on the host, and which are kernels."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ingot.compiler.dialects.dispatch import KERNEL_MARK


def kernel_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions that are kernels, in order."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and KERNEL_MARK in op.attributes]


def host_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The functions with a body that are not kernels, in order."""
    return [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.body.blocks and KERNEL_MARK not in op.attributes
    ]
