"""TOSA as torch-mlir and the TFLite converters print it, LLVM 19 to 22: definitions of our own.

`table` lists the ops, `control` has those with regions. Lowerings look ops up by name and read
properties by `op.ints("pad")`.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from ingot.compiler.dialects.tosa.attributes import (
    ATTRIBUTES,
    WORDS,
    QuantizationAttr,
    ShapeType,
    WordAttr,
)
from ingot.compiler.dialects.tosa.base import OpSpec, TosaOp, define
from ingot.compiler.dialects.tosa.control import CONTROL_OPS, CondIfOp, WhileLoopOp, YieldOp
from ingot.compiler.dialects.tosa.table import SPECS

__all__ = [
    "OPS",
    "WORDS",
    "CondIfOp",
    "OpSpec",
    "QuantizationAttr",
    "ShapeType",
    "Tosa",
    "TosaOp",
    "WhileLoopOp",
    "WordAttr",
    "YieldOp",
]

OPS: dict[str, type[TosaOp]] = {spec.name: define(spec) for spec in SPECS}
"""The classes of the table's ops by name."""

Tosa = Dialect("tosa", [*OPS.values(), *CONTROL_OPS], ATTRIBUTES)
