"""StableHLO as JAX and torch-mlir print it: definitions of our own, for reading it and no more.

`table` lists the ops that share one syntax; `products`, `regions` and `operations` have the others,
`attributes` the dimension numbers and enums. Lowerings look ops up by name, and read properties by
`op.ints("permutation")`.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from ingot.compiler.dialects.stablehlo.attributes import ATTRIBUTES
from ingot.compiler.dialects.stablehlo.base import StableHLOOp, define
from ingot.compiler.dialects.stablehlo.operations import OPERATIONS
from ingot.compiler.dialects.stablehlo.regions import ReturnOp
from ingot.compiler.dialects.stablehlo.table import SPECS

TABLE_OPS: dict[str, type[StableHLOOp]] = {spec.name: define(spec) for spec in SPECS}
"""The classes of the table's ops by name."""

StableHLO = Dialect("stablehlo", [*TABLE_OPS.values(), *OPERATIONS, ReturnOp], ATTRIBUTES)
