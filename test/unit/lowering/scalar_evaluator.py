"""Evaluates functions of scalar arith, math and scf ops with NumPy, in the types of the ops.

Each SSA value is an array: one element for each element of the inputs. A vector type is evaluated
as its element type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, func, math, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.passes.lowering.emitter import element_type

Array = npt.NDArray[Any]


def dtype_of(type_: Attribute) -> np.dtype[Any]:
    """NumPy's type for the elements of an IR type."""
    match element_type(type_):
        case Float32Type():
            return np.dtype(np.float32)
        case Float16Type():
            return np.dtype(np.float16)
        case IndexType():
            return np.dtype(np.int64)
        case IntegerType(width=width):
            return np.dtype(np.bool_ if width.data == 1 else f"i{width.data // 8}")
        case other:
            raise TypeError(f"no NumPy type for {other}")


def _unsigned(x: Array) -> Array:
    return x if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def _signed_quotient(a: Array, b: Array) -> Array:
    if (b == 0).any():
        raise ZeroDivisionError
    if ((b == -1) & (a == np.iinfo(a.dtype).min)).any():
        raise OverflowError
    quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return np.where((a < 0) != (b < 0), -quotient, quotient).astype(a.dtype)


def _unsigned_division(a: Array, b: Array, function: Callable[..., Array]) -> Array:
    if (b == 0).any():
        raise ZeroDivisionError
    return function(_unsigned(a), _unsigned(b)).view(a.dtype)


def _shift(function: Callable[..., Array], a: Array, n: Array) -> Array:
    if (_unsigned(n) >= 8 * a.dtype.itemsize).any():
        raise OverflowError
    return function(a, n.astype(a.dtype))


def _bit_count(x: Array) -> Array:
    bits = np.unpackbits(_unsigned(x).reshape(-1, 1).view(np.uint8), axis=1)
    return bits.sum(axis=1).astype(x.dtype).reshape(x.shape)


def _leading_zeros(x: Array) -> Array:
    width = 8 * x.dtype.itemsize
    return np.array([width - int(v).bit_length() for v in _unsigned(x)], x.dtype)


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.divsi": _signed_quotient,
    "arith.divui": lambda a, b: _unsigned_division(a, b, np.floor_divide),
    "arith.remui": lambda a, b: _unsigned_division(a, b, np.remainder),
    "arith.shli": lambda a, n: _shift(np.left_shift, a, n),
    "arith.shrsi": lambda a, n: _shift(np.right_shift, a, n),
    "arith.shrui": lambda a, n: _shift(np.right_shift, _unsigned(a), _unsigned(n)).view(a.dtype),
}
_PARTIAL = frozenset(
    f"arith.{name}"
    for name in ("divsi", "divui", "remui", "shli", "shrsi", "shrui", "fptosi", "fptoui")
)
"""Ops that some operands make undefined."""
_UNARY: dict[str, Callable[[Array], Array]] = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.sqrt": np.sqrt,
    "math.roundeven": np.rint,
    "math.trunc": np.trunc,
    "math.floor": np.floor,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.ctpop": _bit_count,
    "math.ctlz": _leading_zeros,
}
_CMPI: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}


def _cmpf(predicate: str, a: Array, b: Array) -> Array:
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in ("uno", "ord"):
        return unordered if predicate == "uno" else ~unordered
    ordered = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    holds = ordered[predicate[1:]]
    return (holds | unordered) if predicate[0] == "u" else (holds & ~unordered)


def _float_to_int(x: Array, target: np.dtype[Any], *, signed: bool) -> Array:
    info = np.iinfo(target if signed else f"u{target.itemsize}")
    if not ((x > float(info.min) - 1) & (x < float(info.max) + 1)).all():
        raise OverflowError("conversion of a value out of range")
    return x.astype(info.dtype).view(target)


class Evaluator:
    """Runs the functions of a module on arrays of equal shape."""

    def __init__(self, module: ModuleOp):
        self._functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
        self._values: dict[SSAValue, Array] = {}
        self._active: Array | None = None
        """Which elements take the branch or loop being evaluated; None for all."""

    def run(self, name: str, *arguments: Array) -> list[Array]:
        """The results of a function; `arguments` have one axis."""
        with np.errstate(all="ignore"):
            return self._block(self._functions[name].body.block, arguments)

    def _block(self, block: Block, arguments: Sequence[Array]) -> list[Array]:
        for argument, array in zip(block.args, arguments, strict=True):
            self._values[argument] = array
        for op in block.ops:
            operands = [self._values[operand] for operand in op.operands]
            if op.name in ("func.return", "scf.yield", "scf.condition"):
                return operands
            for result, array in zip(op.results, self._op(op, operands), strict=True):
                self._values[result] = np.asarray(array).astype(dtype_of(result.type), copy=False)
        raise AssertionError("a block without a terminator")

    def _op(self, op: Operation, operands: list[Array]) -> list[Array]:
        name = op.name
        if name in _PARTIAL and self._active is not None:
            operands = [np.where(self._active, x, x.dtype.type(1)) for x in operands]
        if name in _BINARY:
            return [_BINARY[name](*operands)]
        if name in _UNARY:
            return [_UNARY[name](*operands)]
        target = dtype_of(op.results[0].type)
        match op:
            case arith.ConstantOp(value=value):
                splat = isinstance(value, DenseIntOrFPElementsAttr)
                number = value.get_values()[0] if splat else value.value.data  # pyright: ignore
                if target.kind == "i":
                    number = int(number) & ((1 << 8 * target.itemsize) - 1)
                    return [np.array(number, f"u{target.itemsize}").view(target)]
                return [np.array(number, target)]
            case arith.CmpfOp():
                return [_cmpf(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data], *operands)]
            case arith.CmpiOp():
                predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
                if predicate in ("eq", "ne") or predicate[0] == "s":
                    return [_CMPI[predicate](*operands)]
                a, b = map(_unsigned, operands)
                return [_CMPI["s" + predicate[1:]](a, b)]
            case arith.SelectOp():
                return [np.where(*operands)]
            case arith.BitcastOp():
                return [np.ascontiguousarray(operands[0]).view(target)]
            case arith.FPToSIOp() | arith.FPToUIOp():
                return [_float_to_int(operands[0], target, signed=isinstance(op, arith.FPToSIOp))]
            case arith.ExtUIOp() | arith.UIToFPOp():
                return [_unsigned(operands[0])]
            case arith.ExtFOp() | arith.TruncFOp() | arith.SIToFPOp() | arith.ExtSIOp():
                return [operands[0]]
            case arith.TruncIOp():
                return [operands[0]]
            case func.CallOp():
                body = self._functions[op.callee.string_value()].body
                return self._block(body.block, operands)
            case math.FmaOp():
                wide = [x.astype(np.float64) for x in operands]
                return [wide[0] * wide[1] + wide[2]]
            case scf.IfOp():
                true, false = (
                    self._masked(taken, region.block, ())
                    for taken, region in zip((operands[0], ~operands[0]), op.regions, strict=True)
                )
                return [np.where(operands[0], t, f) for t, f in zip(true, false, strict=True)]
            case scf.WhileOp():
                return self._while(op, operands)
            case _:
                raise NotImplementedError(name)

    def _masked(self, taken: Array, block: Block, arguments: Sequence[Array]) -> list[Array]:
        """The results of a block that only some elements take."""
        outer = self._active
        self._active = taken if outer is None else taken & outer
        results = self._block(block, arguments)
        self._active = outer
        return results

    def _while(self, op: scf.WhileOp, state: list[Array]) -> list[Array]:
        """All elements step together; one that is done keeps its state."""
        running = np.ones(np.broadcast(*state).shape, bool)
        while True:
            holds, *passed = self._masked(running, op.before_region.block, state)
            running = running & holds
            state = [np.where(running, p, s) for p, s in zip(passed, state, strict=True)]
            if not running.any():
                return state
            stepped = self._masked(running, op.after_region.block, state)
            state = [np.where(running, n, s) for n, s in zip(stepped, state, strict=True)]
