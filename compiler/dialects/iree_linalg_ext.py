"""`iree_linalg_ext`: IREE's ops beside linalg, which have the forms of `tm_tensor`'s."""

from __future__ import annotations

from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import IsTerminator, Pure

from ingot.compiler.dialects import tm_tensor


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """The value that a body computes."""

    name = "iree_linalg_ext.yield"

    traits = traits_def(IsTerminator(), Pure())


@irdl_op_definition
class ScanOp(tm_tensor.ScanLike):
    """See `tm_tensor.ScanLike`."""

    name = "iree_linalg_ext.scan"


@irdl_op_definition
class SortOp(tm_tensor.SortLike):
    """See `tm_tensor.SortLike`."""

    name = "iree_linalg_ext.sort"


@irdl_op_definition
class TopkOp(tm_tensor.TopkLike):
    """See `tm_tensor.TopkLike`."""

    name = "iree_linalg_ext.topk"


@irdl_op_definition
class ScatterOp(tm_tensor.ScatterLike):
    """See `tm_tensor.ScatterLike`; the map of dimensions is printed as `dimension_map = [0]`."""

    name = "iree_linalg_ext.scatter"


IREELinalgExt = Dialect("iree_linalg_ext", [ScanOp, SortOp, TopkOp, ScatterOp, YieldOp], [])
