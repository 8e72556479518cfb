"""The names of ops that compute each element from those at its place."""

from __future__ import annotations

UNARY = (
    "abs", "cbrt", "ceil", "cosine", "count_leading_zeros", "exponential",
    "exponential_minus_one", "floor", "imag", "is_finite", "log", "log_plus_one", "logistic",
    "negate", "not", "popcnt", "real", "round_nearest_afz", "round_nearest_even", "rsqrt", "sign",
    "sine", "sqrt", "tan", "tanh", "convert", "bitcast_convert", "uniform_quantize",
    "uniform_dequantize",
)  # fmt: skip
BINARY = (
    "add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor",
)  # fmt: skip
