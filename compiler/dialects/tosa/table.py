"""The ops of TOSA that share one syntax, with the operands and attributes of LLVM 19 to 22.

Later versions moved shapes, shifts, zero points and scales from attributes to operands; a row has
both. `tosa-upgrade` brings every form to that of LLVM 22.
"""

from __future__ import annotations

from ingot.compiler.dialects.tosa.base import OpSpec


def _op(name: str, operands: str, properties: str = "", results: int | None = 1) -> OpSpec:
    return OpSpec(f"tosa.{name}", operands, properties, results)


_UNARY = (
    "abs bitwise_not ceil clz cos erf exp floor identity log logical_not "
    "reciprocal rsqrt sigmoid sin tanh cast"
)
_BINARY = (
    "add bitwise_and bitwise_or bitwise_xor equal greater greater_equal intdiv logical_and "
    "logical_left_shift logical_or logical_right_shift logical_xor pow sub"
)
_CONVOLUTION = "input weight bias input_zp? weight_zp?"
_CONVOLUTION_ATTRIBUTES = "pad stride dilation acc_type? local_bound? quantization_info?"
_ZERO_POINTS = "input_zp? output_zp?"

_ARITHMETIC_OF_SHAPES = (
    "add div_ceil div_floor exp2 log2_ceil log2_floor max min mod mul sub concat slice"
)
_BLOCK_SCALED = (
    "cast_from_block_scaled cast_to_block_scaled conv2d_block_scaled matmul_t_block_scaled "
    "reshape_block_scaled row_gather_block_scaled"
)

UNREAD: dict[str, tuple[str, str]] = {
    **{
        f"tosa.{name}": (
            "variables keep values from call to call, which functions of a bundle cannot",
            "make the variable an argument and a result",
        )
        for name in ("variable", "variable_read", "variable_write")
    },
    **{
        f"tosa.{name}": (
            "block-scaled types cannot be stored",
            "export the program with scales written out as multiplications",
        )
        for name in _BLOCK_SCALED.split()
    },
    **{
        f"tosa.{name}": (
            "shapes that are computed are not supported",
            "export the program with static shapes, or `?` in its types",
        )
        for name in (
            *(f"{op}_shape" for op in _ARITHMETIC_OF_SHAPES.split()), "assert_equal_shape", "dim",
        )
    },
}  # fmt: skip
"""Ops of newer versions and extensions that are not read: why, and what to do instead."""

SPECS: tuple[OpSpec, ...] = (
    *(_op(name, "input") for name in _UNARY.split()),
    *(_op(name, "input1 input2") for name in _BINARY.split()),
    # Elementwise
    _op("arithmetic_right_shift", "input1 input2", "round"),
    _op("clamp", "input", "min_val? max_val? nan_mode? min_int? max_int? min_fp? max_fp?"),
    _op("maximum", "input1 input2", "nan_mode?"),
    _op("minimum", "input1 input2", "nan_mode?"),
    _op("mul", "input1 input2 shift?", "shift?"),
    _op("negate", "input input_zp? output_zp?", "input1_zp? output_zp? quantization_info?"),
    _op("select", "condition on_true on_false"),
    # Reductions
    _op("argmax", "input", "axis nan_mode?"),
    _op("reduce_all", "input", "axis"),
    _op("reduce_any", "input", "axis"),
    _op("reduce_max", "input", "axis nan_mode?"),
    _op("reduce_min", "input", "axis nan_mode?"),
    _op("reduce_prod", "input", "axis"),
    _op("reduce_product", "input", "axis"),
    _op("reduce_sum", "input", "axis"),
    # Products, convolutions and poolings
    _op("conv2d", _CONVOLUTION, _CONVOLUTION_ATTRIBUTES),
    _op("conv3d", _CONVOLUTION, _CONVOLUTION_ATTRIBUTES),
    _op("depthwise_conv2d", _CONVOLUTION, _CONVOLUTION_ATTRIBUTES),
    _op(
        "transpose_conv2d",
        _CONVOLUTION,
        "out_pad stride out_shape? acc_type? local_bound? quantization_info?",
    ),
    _op("fully_connected", _CONVOLUTION, "quantization_info? input_zp? weight_zp?"),
    _op("matmul", "a b a_zp? b_zp?", "a_zp? b_zp? quantization_info?"),
    _op(
        "avg_pool2d",
        "input input_zp? output_zp?",
        f"kernel stride pad acc_type? quantization_info? {_ZERO_POINTS}",
    ),
    _op("max_pool2d", "input", "kernel stride pad nan_mode?"),
    # Layout
    _op("concat", "inputs*", "axis"),
    _op("pad", "input padding value?", "quantization_info? input_zp?"),
    _op("reshape", "input shape?", "new_shape?"),
    _op("reverse", "input", "axis"),
    _op("slice", "input start? size?", "start? size?"),
    _op("tile", "input multiples?", "multiples?"),
    _op("transpose", "input perms?", "perms?"),
    _op("gather", "values indices"),
    _op("scatter", "values indices input"),
    _op("resize", "input scale? offset? border?", "mode scale? offset? border?"),
    # Quantization
    _op("table", "input table"),
    _op("apply_scale", "value multiplier shift", "double_round? rounding_mode?"),
    _op(
        "rescale",
        "input multiplier? shift? input_zp? output_zp?",
        "scale32 per_channel multiplier? shift? input_zp? output_zp? double_round? rounding_mode? "
        "input_unsigned? output_unsigned?",
    ),
    # Fourier transforms
    _op("fft2d", "real imaginary", "inverse local_bound?", results=2),
    _op("rfft2d", "input", "local_bound?", results=2),
    # Constants
    _op("const", "", "values? value?"),
    _op("const_shape", "", "values? value?"),
    # Of the implementation's own
    _op(
        "custom",
        "inputs*",
        "operator_name domain_name implementation_attrs",
        results=None,
    ),
)
"""Every op but those with regions."""
