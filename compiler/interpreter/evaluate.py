"""The entry point of the reference evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, ModuleOp
from xdsl.ir import Attribute

from ingot.compiler.analysis.constants import numpy_dtype
from ingot.compiler.analysis.types import element_type, shape_of_type
from ingot.compiler.interpreter.frame import call, find_function
from ingot.compiler.interpreter.values import (
    Array,
    EvaluationError,
    Mode,
    Types,
    bit_width,
)

_HANDLERS = (
    "affine",
    "complex_numbers",
    "control",
    "packing",
    "attention",
    "scans",
    "sorts",
    "structured",
    "tensors",
)
"""The modules that register how ops are evaluated."""

for _name in _HANDLERS:
    import_module(f"ingot.compiler.interpreter.{_name}")


def evaluate(
    module: ModuleOp, function_name: str, inputs: Sequence[Array], mode: Mode = "program"
) -> list[Array]:
    """Run a function of an L1 module (also of linalg before generalization) on NumPy arrays.

    `inputs` have the shapes and types of the arguments; bf16 may be given as uint16 bits, i4 as i8,
    and results of i4 are int4 of ml_dtypes. In mode
    "program" every result is rounded to its type; in mode "float64" every float is a float64, the
    results too. Sums and contractions are accumulated in float64 in either mode. Raises
    `EvaluationError` for wrong inputs, failed asserts and reads outside of a tensor, and `Refusal`
    for ops that the evaluator does not know.
    """
    function = find_function(module, function_name)
    if function is None:
        raise EvaluationError(f"the module has no function '{function_name}'")
    types = Types(mode)
    expected = function.function_type.inputs.data
    if len(inputs) != len(expected):
        raise EvaluationError(
            f"'{function_name}' takes {len(expected)} inputs, but {len(inputs)} are given"
        )
    args = [
        _argument(np.asarray(value), type, index, types)
        for index, (value, type) in enumerate(zip(inputs, expected, strict=True))
    ]
    results = call(module, function_name, args, types)
    return [
        _result(np.asarray(result, order="C"), type)
        for result, type in zip(results, function.function_type.outputs.data, strict=True)
    ]


def _argument(value: Array, type: Attribute, index: int, types: Types) -> Array:
    shape, element = shape_of_type(type), element_type(type)
    own = numpy_dtype(element)
    if own.name == "bfloat16" and value.dtype == np.uint16:
        value = value.view(own)
    if bit_width(element) == 4 and value.dtype.name == "int4":
        value = value.astype(own)
    sizes_agree = len(shape) == value.ndim and all(
        size in (DYNAMIC_INDEX, actual) for size, actual in zip(shape, value.shape, strict=True)
    )
    if not sizes_agree or value.dtype not in (own, types.dtype(element)):
        raise EvaluationError(
            f"input {index} is {value.dtype} of shape {value.shape}, but the program takes {type}"
        )
    return types.fit(value, element)


def _result(value: Array, type: Attribute) -> Array:
    """The array as a caller knows it: i4, which is computed in i8, has a type of its own."""
    if isinstance(element_type(type), IntegerType) and bit_width(type) == 4:
        import ml_dtypes

        return value.astype(ml_dtypes.int4)
    return value
