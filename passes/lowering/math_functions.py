"""Puts the formulas of math ops into private functions of the module, one for each operand type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FunctionType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnknownLoc,
    VectorType,
)
from xdsl.ir import Attribute, Block, Region

from ingot.passes.lowering import (
    math_conversion,
    math_division,
    math_exponential,
    math_loops,
    math_minmax,
    math_trigonometric,
)
from ingot.passes.lowering.emitter import Emitter, Value

ROUND_TO_BF16 = "ingot.round_to_bf16"
"""Name of the function that rounds an f32 to a number that bf16 has."""

_SCALAR: dict[str, Callable[..., Value]] = {
    **math_loops.FUNCTIONS,
    **math_trigonometric.SCALAR_FUNCTIONS,
}
FORMULAS: dict[str, Callable[..., Value]] = {
    ROUND_TO_BF16: math_conversion.round_to_bf16,
    **math_exponential.FUNCTIONS,
    **math_trigonometric.FUNCTIONS,
    **_SCALAR,
    **math_minmax.FUNCTIONS,
    **math_division.FUNCTIONS,
}
"""Formula by op name."""

_BINARY = frozenset(
    {
        *("math.powf", "math.atan2", "arith.remf", "math.ipowi"),
        *math_minmax.FUNCTIONS,
        *math_division.FUNCTIONS,
    }
)


def scalar_only(name: str) -> bool:
    """Whether a vector has to call the function for each of its elements."""
    return name in _SCALAR


def function_name(name: str, type_: Attribute) -> str:
    """`ingot_exp_f32` for `math.exp` on f32, `ingot_exp_4xf32` on a vector of four."""
    suffix = str(type_)
    if isinstance(type_, VectorType):
        suffix = suffix.removeprefix("vector<").removesuffix(">")
    return f"ingot_{name.partition('.')[2]}_{suffix}"


@dataclass
class FunctionLibrary:
    """The math functions of one module, built when first asked for."""

    module: ModuleOp

    def __post_init__(self) -> None:
        self._functions = {
            op.sym_name.data: op for op in self.module.ops if isinstance(op, func.FuncOp)
        }

    def get(self, name: str, type_: Attribute) -> func.FuncOp:
        """The function for the op `name` on operands and result of `type_`."""
        symbol = function_name(name, type_)
        if (known := self._functions.get(symbol)) is not None:
            return known
        arguments = [type_] * (2 if name in _BINARY else 1)
        block = Block(arg_types=arguments)
        for argument, hint in zip(block.args, "xy", strict=False):
            argument.name_hint = hint
        function = func.FuncOp(
            symbol,
            FunctionType.from_lists(arguments, [type_]),
            Region(block),
            visibility=StringAttr("private"),
        )
        self._functions[symbol] = function
        emitter = Emitter(block, None, _LOCATION, self.get)
        result = FORMULAS[name](*(emitter.value(argument) for argument in block.args))
        emitter.insert(func.ReturnOp(result.ssa))
        self.module.body.block.add_op(function)
        return function


_LOCATION: LocationAttr = UnknownLoc()
