"""The pass `expand-zero-arithmetic`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import math
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import Float16Type, Float32Type, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.constant_zeros import ZERO_STAYS
from ingot.compiler.dialects import arith
from ingot.passes.lowering import zero_arithmetic
from ingot.passes.lowering.emitter import Emitter, Value, element_type, replace_op


@dataclass(frozen=True)
class ExpandZeroArithmeticPass(ModulePass):
    """Writes out float arithmetic with constant zeros by the bits of the other operand, on L4.

    Mesa's lavapipe takes x * 0 and 0 / x for 0, x + 0 for x, and x / 0 for anything at all, also
    where the SPIR-V says that NaNs, infinities and the sign of zero matter. A value made of places
    of threads and counts of loops alone may be a zero once the driver has unrolled, and what a loop
    carries and begins with a zero may be a factor; sums of such are left as they are.

    ```mlir
    %r = arith.addf %x, %zero : f32
    ```
    becomes
    ```mlir
    %0 = arith.bitcast %x : f32 to i32
    %1 = arith.cmpi eq, %0, %sign : i32
    %2 = arith.select %1, %0_i32, %0 : i32
    %r = arith.bitcast %2 : i32 to f32
    ```
    """

    name = "expand-zero-arithmetic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known: dict[SSAValue, bool] = {}
        for inner in list(op.walk()):
            expand = _EXPANSIONS.get(type(inner))
            if expand is None or not isinstance(element_type(inner.results[0].type), _FLOATS):
                continue
            e = Emitter.before_op(inner)
            zeros = zero_arithmetic.Zeros(known, ZERO_STAYS not in inner.attributes)
            result = expand(zeros, *map(e.value, inner.operands))
            if result is not None:
                replace_op(inner, result)


_FLOATS = (Float16Type, Float32Type)


_EXPANSIONS: dict[type[Operation], Callable[..., Value | None]] = {
    arith.AddfOp: zero_arithmetic.add,
    arith.SubfOp: zero_arithmetic.subtract,
    arith.MulfOp: zero_arithmetic.multiply,
    arith.DivfOp: zero_arithmetic.divide,
    math.FmaOp: zero_arithmetic.fuse,
    xdsl_vector.FMAOp: zero_arithmetic.fuse,
}
