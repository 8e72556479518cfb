"""`linalg` as LLVM 19 to 22 print it.

`GenericOp` is what every pass of L1 handles; the named ops are classes made from one table
(`table.py`) and become `GenericOp` by `linalg-generalize-named-ops`.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects.linalg.attrs import (
    ElementwiseKind,
    ElementwiseKindAttr,
    TypeFn,
    TypeFnAttr,
)
from ingot.compiler.dialects.linalg.core import (
    GenericOp,
    IndexOp,
    IteratorType,
    IteratorTypeAttr,
    YieldOp,
)
from ingot.compiler.dialects.linalg.named import (
    NAMED_OP_CLASSES,
    BatchMatmulOp,
    FillOp,
    MatmulOp,
    NamedOp,
    rank_of,
)
from ingot.compiler.dialects.linalg.structured import (
    BroadcastOp,
    ContractOp,
    ElementwiseOp,
    MapOp,
    PackOp,
    ReduceOp,
    SoftmaxOp,
    TransposeOp,
    UnPackOp,
)

__all__ = [
    "NAMED_OP_CLASSES",
    "BatchMatmulOp",
    "BroadcastOp",
    "ContractOp",
    "ElementwiseKind",
    "ElementwiseKindAttr",
    "ElementwiseOp",
    "FillOp",
    "GenericOp",
    "IndexOp",
    "IteratorType",
    "IteratorTypeAttr",
    "Linalg",
    "MapOp",
    "MatmulOp",
    "NamedOp",
    "PackOp",
    "ReduceOp",
    "SoftmaxOp",
    "TransposeOp",
    "TypeFn",
    "TypeFnAttr",
    "UnPackOp",
    "YieldOp",
    "element_type",
    "rank_of",
]

Linalg = Dialect(
    "linalg",
    [
        GenericOp,
        YieldOp,
        IndexOp,
        *NAMED_OP_CLASSES.values(),
        TransposeOp,
        BroadcastOp,
        ReduceOp,
        MapOp,
        ContractOp,
        ElementwiseOp,
        SoftmaxOp,
        PackOp,
        UnPackOp,
    ],
    [IteratorTypeAttr, TypeFnAttr, ElementwiseKindAttr],
)
