"""`tensor.expand_shape` as upstream has it, also from a tensor of rank 0."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException


class ExpandShapeOp(tensor.ExpandShapeOp):
    """xDSL's verifier wants every dimension of the result in a group of dimensions.

    A tensor of rank 0 has no dimension to belong to: all of the result's have size 1 then.
    """

    def verify_(self) -> None:
        source = cast("TensorType[Attribute]", self.src.type)
        if source.get_num_dims():
            super().verify_()
            return
        if any(size != 1 for size in self.result.type.get_shape()) or self.reassociation.data:
            raise VerifyException("a tensor of rank 0 expands to dimensions of size 1 only")
