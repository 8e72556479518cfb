"""Bodies of elementwise ops as functions of their own, for code that evaluates them many times.

A thread that holds sixteen vectors of a product's result would otherwise get the ops of what
follows the product sixteen times: much to compile, and nothing to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FunctionType, StringAttr, UnitAttr, f32, i1, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.dispatch import HELPER_MARK
from ingot.compiler.dialects.linalg import GenericOp, YieldOp

LONG = 8
"""The ops, constants aside, from which on a body is worth a function."""


def can_be_called(op: GenericOp) -> bool:
    """Whether the body of `op` is long arithmetic on values of 32 bits and truth values alone.

    Those types are the same on all targets, as arguments too.
    """
    *ops, last = op.body.block.ops
    arithmetic = [inner for inner in ops if not isinstance(inner, ConstantOp)]
    return (
        len(arithmetic) >= LONG
        and isinstance(last, YieldOp)
        and len(last.operands) == 1
        and all(inner.name.startswith(("arith.", "math.")) for inner in arithmetic)
        and all(_is_plain(v.type) for inner in (*ops, last) for v in inner.operands)
        and all(_is_plain(v.type) for inner in ops for v in inner.results)
    )


def _is_plain(type_: Attribute) -> bool:
    return type_ in _PLAIN


_PLAIN = (f32, i32, i1)


@dataclass
class BodyFunctions:
    """The functions that the code of one kernel calls."""

    kernel: FuncOp
    functions: dict[tuple[GenericOp, tuple[Attribute, ...]], FuncOp] = field(
        default_factory=dict[tuple[GenericOp, tuple[Attribute, ...]], FuncOp]
    )

    def find(self, op: GenericOp, arguments: Sequence[SSAValue]) -> FuncOp | None:
        """The function for the body of `op` on arguments of these types, if it exists."""
        return self.functions.get((op, tuple(value.type for value in arguments)))

    def add(self, op: GenericOp, block: Block, result: SSAValue) -> FuncOp:
        """Make `block`, which computes `result`, the function for `op` on its arguments."""
        block.add_op(ReturnOp(result))
        types = [argument.type for argument in block.args]
        function = FuncOp(
            self._name(op, result.type),
            FunctionType.from_lists(types, [result.type]),
            Region(block),
            visibility=StringAttr("private"),
        )
        function.attributes[HELPER_MARK] = UnitAttr()
        function.location = op.location
        module = self.kernel.parent
        assert module is not None
        module.insert_op_before(function, self.kernel)
        self.functions[op, tuple(types)] = function
        return function

    def call(self, function: FuncOp, arguments: Sequence[SSAValue]) -> CallOp:
        """A call, not yet in a block."""
        return CallOp(function.sym_name.data, arguments, list(function.function_type.outputs))

    def _name(self, op: GenericOp, type_: Attribute) -> str:
        """`main_matmul_elementwise`, numbered where the module has that already."""
        module = self.kernel.parent
        assert module is not None
        taken = {o.sym_name.data for o in module.ops if isinstance(o, FuncOp)}
        name = base = f"{self.kernel.sym_name.data}_elementwise"
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name
