"""Matrices spread over the lanes of a SIMD-group, as Apple's GPUs multiply them."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BFloat16Type, Float16Type, VectorType, f32
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_FRAGMENT_SUM = VectorType(f32, [2])


@irdl_op_definition
class MultiplyAccumulateOp(IRDLOperation):
    """`c + a * b` for 8x8 matrices that the 32 lanes of a SIMD-group hold together.

    Each lane holds two elements of a row of each matrix: with q = lane / 4, those of row
    (q & 4) + (lane / 2) % 4 in columns (q & 2) * 2 + (lane % 2) * 2 and the next. Products and sums
    are single precision, in ascending order of the depth.

    ```mlir
    %d = simdgroup.multiply_accumulate %a, %b, %c : vector<2xf16>
    ```
    """

    name = "simdgroup.multiply_accumulate"

    _T: ClassVar = VarConstraint("T", AnyAttr())

    a = operand_def(_T)
    b = operand_def(_T)
    c = operand_def(_FRAGMENT_SUM)
    result = result_def(_FRAGMENT_SUM)

    traits = traits_def(Pure())
    assembly_format = "$a `,` $b `,` $c attr-dict `:` type($a)"

    def __init__(self, a: SSAValue | Operation, b: SSAValue | Operation, c: SSAValue | Operation):
        super().__init__(operands=[a, b, c], result_types=[_FRAGMENT_SUM])

    def verify_(self) -> None:
        types = [VectorType(e, [2]) for e in (Float16Type(), BFloat16Type(), f32)]
        if self.a.type not in types:
            raise VerifyException("a factor must be a vector of two f16, bf16 or f32")


Simdgroup = Dialect("simdgroup", [MultiplyAccumulateOp], [])
