"""The functions and reducers of index notation, as tables of ops."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ingot.compiler.dialects.math import FloatPredicate, IsFiniteOp, IsInfOp, IsNaNOp

Unary = Callable[[SSAValue], Operation]
Binary = Callable[[SSAValue, SSAValue], Operation]

FLOAT_UNARY: dict[str, Unary] = {
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "expm1": math.ExpM1Op,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "cbrt": math.CbrtOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "atan": math.AtanOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "tanh": math.TanhOp,
    "asinh": math.AsinhOp,
    "acosh": math.AcoshOp,
    "atanh": math.AtanhOp,
    "erf": math.ErfOp,
}
"""Functions of a float; integers are converted first."""

ROUNDING: dict[str, Unary] = {
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "trunc": math.TruncOp,
    "round": math.RoundEvenOp,
}
"""Functions of a float that change no integer; `round` goes to the even one of two."""

FLOAT_BINARY: dict[str, Binary] = {
    "atan2": math.Atan2Op,
    "copysign": math.CopySignOp,
    "pow": math.PowFOp,
}
"""Functions of two floats."""

PREDICATES: dict[str, type[FloatPredicate]] = {
    "isnan": IsNaNOp,
    "isinf": IsInfOp,
    "isfinite": IsFiniteOp,
}
"""Questions about a float."""

BIT_COUNTS: dict[str, Unary] = {
    "count_ones": math.CtPopOp,
    "leading_zeros": math.CountLeadingZerosOp,
    "trailing_zeros": math.CountTrailingZerosOp,
}
"""Functions of the bits of an integer."""

FLOAT_ARITHMETIC: dict[str, Binary] = {
    "+": arith.AddfOp,
    "-": arith.SubfOp,
    "*": arith.MulfOp,
    "/": arith.DivfOp,
    "max": arith.MaximumfOp,
    "min": arith.MinimumfOp,
}
"""`max` and `min` are NaN where an operand is, as Julia's."""

INTEGER_ARITHMETIC: dict[str, Binary] = {
    "+": arith.AddiOp,
    "-": arith.SubiOp,
    "*": arith.MuliOp,
    "÷": arith.DivSIOp,
    "%": arith.RemSIOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "&": arith.AndIOp,
    "|": arith.OrIOp,
}
"""`÷` and `%` round to zero, `mod` to minus infinity, as Julia's."""

COMPARISONS: dict[str, tuple[str, str]] = {
    "==": ("eq", "oeq"),
    "!=": ("ne", "une"),
    "<": ("slt", "olt"),
    "<=": ("sle", "ole"),
    ">": ("sgt", "ogt"),
    ">=": ("sge", "oge"),
}
"""The predicates on integers and on floats; only `!=` holds for NaN."""

CONSTANTS: dict[str, float] = {
    "pi": 3.141592653589793,
    "π": 3.141592653589793,
    "Inf": float("inf"),
    "NaN": float("nan"),
}
"""Names that stand for a number where no array has them."""
