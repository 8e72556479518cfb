"""StableHLO programs as functions of JAX, so that `jax.grad` differentiates what Ingot compiles.

Only what the programs of the tests hold; an op that is missing raises `KeyError` with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ingot.compiler.analysis.constants import constant_array, numpy_dtype
from ingot.compiler.analysis.types import element_type, shape_of_type

Values = dict[SSAValue, Any]

UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": jnp.abs,
    "cbrt": jnp.cbrt,
    "ceil": jnp.ceil,
    "cosine": jnp.cos,
    "exponential": jnp.exp,
    "exponential_minus_one": jnp.expm1,
    "floor": jnp.floor,
    "imag": jnp.imag,
    "log": jnp.log,
    "log_plus_one": jnp.log1p,
    "negate": jnp.negative,
    "not": jnp.logical_not,
    "real": jnp.real,
    "round_nearest_even": jnp.round,
    "rsqrt": lax.rsqrt,
    "sign": jnp.sign,
    "sine": jnp.sin,
    "sqrt": jnp.sqrt,
    "tan": jnp.tan,
    "tanh": jnp.tanh,
    "atan": jnp.arctan,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "square": jnp.square,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": jnp.add,
    "and": jnp.logical_and,
    "atan2": jnp.arctan2,
    "complex": lax.complex,
    "divide": lax.div,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "multiply": jnp.multiply,
    "or": jnp.logical_or,
    "power": jnp.power,
    "subtract": jnp.subtract,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": jnp.equal,
    "NE": jnp.not_equal,
    "LT": jnp.less,
    "LE": jnp.less_equal,
    "GT": jnp.greater,
    "GE": jnp.greater_equal,
}
REDUCERS: dict[str, Callable[..., Any]] = {
    "stablehlo.add": jnp.sum,
    "stablehlo.and": jnp.all,
    "stablehlo.or": jnp.any,
    "stablehlo.maximum": jnp.max,
    "stablehlo.minimum": jnp.min,
}


def function_of(module: ModuleOp) -> Callable[..., list[Any]]:
    """The public function of a module, on arrays of JAX."""
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    (main,) = [f for f in functions.values() if f.sym_name.data == "main"]

    def call(*arguments: Any) -> list[Any]:
        return Interpreter(functions, {}).block(main.body.block, arguments)

    return call


def _ints(op: Operation, name: str) -> list[int]:
    value = op.properties[name]
    if isinstance(value, DenseArrayBase):
        return [int(n) for n in value.get_values()]
    return [int(n) for n in constant_array(value).reshape(-1)]


def _int(op: Operation, name: str) -> int:
    value = op.properties[name]
    assert isinstance(value, IntegerAttr)
    return value.value.data


def _word(op: Operation, name: str) -> str:
    attribute: Any = op.properties[name]
    return attribute.word.data


class Interpreter:
    """Runs blocks of StableHLO."""

    def __init__(self, functions: dict[str, func.FuncOp], values: Values) -> None:
        self.functions = functions
        self.values = values

    def block(self, block: Block, arguments: Sequence[Any]) -> list[Any]:
        """The operands of the terminator."""
        self.values |= dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [self.values[v] for v in op.operands]
            if op is block.last_op:
                return operands
            results = self._op(op, operands)
            if not isinstance(results, list):
                results = [results]
            self.values |= dict(zip(op.results, results, strict=True))
        return []

    def inner(self, block: Block, arguments: Sequence[Any]) -> list[Any]:
        """A region with values of its own."""
        return Interpreter(self.functions, dict(self.values)).block(block, arguments)

    def _op(self, op: Operation, x: list[Any]) -> Any:
        name = op.name.partition(".")[2]
        if name in UNARY:
            return UNARY[name](x[0])
        if name in BINARY:
            return BINARY[name](x[0], x[1])
        return getattr(self, f"_{name}")(op, x)

    def _call(self, op: Operation, x: list[Any]) -> list[Any]:
        callee = self.functions[op.properties["callee"].string_value()]  # type: ignore[attr-defined]
        return Interpreter(self.functions, {}).block(callee.body.block, x)

    def _constant(self, op: Operation, x: list[Any]) -> Any:
        return jnp.asarray(constant_array(op.properties["value"]))

    def _compare(self, op: Operation, x: list[Any]) -> Any:
        return COMPARE[_word(op, "comparison_direction")](x[0], x[1])

    def _select(self, op: Operation, x: list[Any]) -> Any:
        return jnp.where(x[0], x[1], x[2])

    def _convert(self, op: Operation, x: list[Any]) -> Any:
        return x[0].astype(numpy_dtype(element_type(op.results[0].type)))

    def _iota(self, op: Operation, x: list[Any]) -> Any:
        type_ = op.results[0].type
        dtype = numpy_dtype(element_type(type_))
        return lax.broadcasted_iota(dtype, shape_of_type(type_), _int(op, "iota_dimension"))

    def _broadcast_in_dim(self, op: Operation, x: list[Any]) -> Any:
        shape = shape_of_type(op.results[0].type)
        return lax.broadcast_in_dim(x[0], shape, _ints(op, "broadcast_dimensions"))

    def _reshape(self, op: Operation, x: list[Any]) -> Any:
        return x[0].reshape(shape_of_type(op.results[0].type))

    def _transpose(self, op: Operation, x: list[Any]) -> Any:
        return jnp.transpose(x[0], _ints(op, "permutation"))

    def _reverse(self, op: Operation, x: list[Any]) -> Any:
        return lax.rev(x[0], _ints(op, "dimensions"))

    def _slice(self, op: Operation, x: list[Any]) -> Any:
        return lax.slice(
            x[0], _ints(op, "start_indices"), _ints(op, "limit_indices"), _ints(op, "strides")
        )

    def _concatenate(self, op: Operation, x: list[Any]) -> Any:
        return lax.concatenate(x, _int(op, "dimension"))

    def _pad(self, op: Operation, x: list[Any]) -> Any:
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        return lax.pad(x[0], x[1], list(zip(*(_ints(op, n) for n in names), strict=True)))

    def _dot_general(self, op: Operation, x: list[Any]) -> Any:
        numbers: Any = op.properties["dot_dimension_numbers"]
        sides = [
            [numbers.list_of(f"{side}_{kind}_dimensions") for side in ("lhs", "rhs")]
            for kind in ("contracting", "batching")
        ]
        preferred = numpy_dtype(element_type(op.results[0].type))
        return lax.dot_general(
            x[0],
            x[1],
            (tuple(sides[0]), tuple(sides[1])),
            precision=lax.Precision.HIGHEST,
            preferred_element_type=preferred,
        )

    def _convolution(self, op: Operation, x: list[Any]) -> Any:
        numbers: Any = op.properties["dimension_numbers"]
        letters = {"b": "N", "f": "C", "i": "I", "o": "O"}
        sides = tuple(
            "".join(letters.get(s.data, s.data) for s in side)
            for side in (numbers.input, numbers.kernel, numbers.output)
        )
        rank = len(_ints(op, "window_strides"))
        padding = np.array(constant_array(op.properties["padding"])).reshape(rank, 2)
        return lax.conv_general_dilated(
            x[0],
            x[1],
            _ints(op, "window_strides"),
            [tuple(map(int, p)) for p in padding],
            _ints(op, "lhs_dilation"),
            _ints(op, "rhs_dilation"),
            sides,
            feature_group_count=_int(op, "feature_group_count"),
            batch_group_count=_int(op, "batch_group_count"),
            precision=lax.Precision.HIGHEST,
        )

    def _reduce(self, op: Operation, x: list[Any]) -> Any:
        combine = op.regions[0].block.first_op
        assert combine is not None and len(op.results) == 1
        return REDUCERS[combine.name](x[0], axis=tuple(_ints(op, "dimensions")))

    def _reduce_window(self, op: Operation, x: list[Any]) -> Any:
        combine = op.regions[0].block.first_op
        assert combine is not None
        reducer = {"stablehlo.add": lax.add, "stablehlo.maximum": lax.max}[combine.name]
        rank = x[0].ndim
        padding = np.array(constant_array(op.properties["padding"])).reshape(rank, 2)
        return lax.reduce_window(
            x[0],
            np.asarray(x[1]),
            reducer,
            _ints(op, "window_dimensions"),
            _ints(op, "window_strides"),
            [tuple(map(int, p)) for p in padding],
            _ints(op, "base_dilations"),
            _ints(op, "window_dilations"),
        )

    def _sort(self, op: Operation, x: list[Any]) -> list[Any]:
        """As the programs sort: by the first operand, upwards, equal elements in their order."""
        dimension = _int(op, "dimension")
        order = jnp.argsort(x[0], axis=dimension, stable=True)
        return [jnp.take_along_axis(v, order, axis=dimension) for v in x]

    def _gather(self, op: Operation, x: list[Any]) -> Any:
        numbers: Any = op.properties["dimension_numbers"]
        assert numbers.single("index_vector_dim") == x[1].ndim - 1
        dims = lax.GatherDimensionNumbers(
            offset_dims=numbers.list_of("offset_dims"),
            collapsed_slice_dims=numbers.list_of("collapsed_slice_dims"),
            start_index_map=numbers.list_of("start_index_map"),
            operand_batching_dims=numbers.list_of("operand_batching_dims"),
            start_indices_batching_dims=numbers.list_of("start_indices_batching_dims"),
        )
        return lax.gather(x[0], x[1], dims, _ints(op, "slice_sizes"), mode="clip")

    def _scatter(self, op: Operation, x: list[Any]) -> Any:
        combine, numbers = op.regions[0].block.first_op, op.properties["scatter_dimension_numbers"]
        assert combine is not None and combine.name == "stablehlo.add"
        at: Any = numbers
        assert at.single("index_vector_dim") == x[1].ndim - 1
        dims = lax.ScatterDimensionNumbers(
            update_window_dims=at.list_of("update_window_dims"),
            inserted_window_dims=at.list_of("inserted_window_dims"),
            scatter_dims_to_operand_dims=at.list_of("scatter_dims_to_operand_dims"),
            operand_batching_dims=at.list_of("input_batching_dims"),
            scatter_indices_batching_dims=at.list_of("scatter_indices_batching_dims"),
        )
        return lax.scatter_add(x[0], x[1], x[2], dims)

    def _dynamic_slice(self, op: Operation, x: list[Any]) -> Any:
        return lax.dynamic_slice(x[0], x[1:], _ints(op, "slice_sizes"))

    def _dynamic_update_slice(self, op: Operation, x: list[Any]) -> Any:
        return lax.dynamic_update_slice(x[0], x[1], x[2:])

    def _while(self, op: Operation, x: list[Any]) -> list[Any]:
        """Iterations one by one: JAX differentiates loops backwards only when they are unrolled."""
        condition, body = (region.block for region in op.regions)
        while bool(self.inner(condition, x)[0]):
            x = self.inner(body, x)
        return x

    def _fft(self, op: Operation, x: list[Any]) -> Any:
        return jnp.fft.rfft(x[0])
