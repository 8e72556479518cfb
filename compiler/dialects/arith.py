"""xDSL's `arith` dialect, with what MLIR has and xDSL lacks.

Comparisons, selections and conversions take vectors (and tensors) as well as scalars, as in MLIR;
`arith.remf` and `arith.index_castui` are added; xDSL's other ops are here too. Each class here
derives from xDSL's where that has one, so xDSL's own patterns keep recognising the ops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    AddfOp,
    AddiOp,
    AddUIExtendedOp,
    AndIOp,
    BitcastOp,
    CeilDivSIOp,
    CeilDivUIOp,
    ConstantOp,
    DivfOp,
    DivSIOp,
    DivUIOp,
    ExtFOp,
    FastMathFlagsAttr,
    FloorDivSIOp,
    IntegerOverflowAttr,
    MaximumfOp,
    MaxnumfOp,
    MaxSIOp,
    MaxUIOp,
    MinimumfOp,
    MinnumfOp,
    MinSIOp,
    MinUIOp,
    MulfOp,
    MuliOp,
    MulSIExtendedOp,
    MulUIExtendedOp,
    NegfOp,
    OrIOp,
    RemSIOp,
    RemUIOp,
    ShLIOp,
    ShRSIOp,
    ShRUIOp,
    SubfOp,
    SubiOp,
    TruncFOp,
    XOrIOp,
)
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
    container_of,
    i1,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OpDef,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self, have_compatible_shape

__all__ = (
    "CMPF_COMPARISON_OPERATIONS",
    "CMPI_COMPARISON_OPERATIONS",
    "AddUIExtendedOp",
    "AddfOp",
    "AddiOp",
    "AndIOp",
    "Arith",
    "BitcastOp",
    "CeilDivSIOp",
    "CeilDivUIOp",
    "CmpfOp",
    "CmpiOp",
    "ConstantOp",
    "DivSIOp",
    "DivUIOp",
    "DivfOp",
    "ExtFOp",
    "ExtSIOp",
    "ExtUIOp",
    "FPToSIOp",
    "FPToUIOp",
    "FastMathFlagsAttr",
    "FloorDivSIOp",
    "IndexCastOp",
    "IndexCastUIOp",
    "IntegerOverflowAttr",
    "MaxSIOp",
    "MaxUIOp",
    "MaximumfOp",
    "MaxnumfOp",
    "MinSIOp",
    "MinUIOp",
    "MinimumfOp",
    "MinnumfOp",
    "MulSIExtendedOp",
    "MulUIExtendedOp",
    "MulfOp",
    "MuliOp",
    "NegfOp",
    "OrIOp",
    "RemFOp",
    "RemSIOp",
    "RemUIOp",
    "SIToFPOp",
    "SelectOp",
    "ShLIOp",
    "ShRSIOp",
    "ShRUIOp",
    "SubfOp",
    "SubiOp",
    "TruncFOp",
    "TruncIOp",
    "UIToFPOp",
    "XOrIOp",
    "bool_like",
)

_BOOL = container_of(i1)
_INTEGER = container_of(IntegerType)
_FLOAT = container_of(AnyFloatConstr)
_INDEX_LIKE = container_of(IntegerType | IndexType)


def _relaxed(op: type[IRDLOperation], **constraints: AttrConstraint) -> OpDef:
    """The definition of `op` with other constraints on the operands and results named."""
    definition = op.get_irdl_definition()

    def constrain(fields: list[tuple[str, object]]) -> list[tuple[str, object]]:
        changed: list[tuple[str, object]] = []
        for name, field in fields:
            if name in constraints:
                field = type(field)(constraints[name])  # pyright: ignore
            changed.append((name, field))
        return changed

    return replace(
        definition,
        operands=constrain(list(definition.operands)),  # pyright: ignore
        results=constrain(list(definition.results)),  # pyright: ignore
        traits=definition.traits,
    )


def bool_like(type_: Attribute) -> Attribute:
    """`i1`, or the vector or tensor of `i1` with the shape of `type_`."""
    if isinstance(type_, VectorType):
        return VectorType(i1, type_.shape, type_.scalable_dims)
    if isinstance(type_, TensorType):
        return TensorType(i1, type_.get_shape(), type_.encoding)
    return i1


def _predicate(mnemonic: str, names: list[str]) -> int:
    if mnemonic not in names:
        raise VerifyException(f"unknown comparison predicate '{mnemonic}'")
    return names.index(mnemonic)


class _Redefined(IRDLOperation):
    """An op of xDSL's with another definition: other constraints, the same fields."""

    _definition: ClassVar[OpDef]

    @classmethod
    def get_irdl_definition(cls) -> OpDef:
        return cls._definition

    def verify_(self) -> None:
        self._definition.verify(self)
        self.check()

    def check(self) -> None:
        """Raise `VerifyException` for what the constraints do not say."""


class CmpiOp(_Redefined, arith.CmpiOp):
    """Integer comparison of scalars, vectors or tensors."""

    _definition: ClassVar[OpDef] = _relaxed(arith.CmpiOp, result=_BOOL)

    def __init__(self, lhs: Operation | SSAValue, rhs: Operation | SSAValue, arg: int | str):
        lhs = SSAValue.get(lhs)
        if isinstance(arg, str):
            arg = _predicate(arg, CMPI_COMPARISON_OPERATIONS)
        IRDLOperation.__init__(
            self,
            operands=[lhs, rhs],
            result_types=[bool_like(lhs.type)],
            properties={"predicate": IntegerAttr(arg, 64)},
        )


class CmpfOp(_Redefined, arith.CmpfOp):
    """Floating-point comparison of scalars, vectors or tensors."""

    _definition: ClassVar[OpDef] = _relaxed(arith.CmpfOp, result=_BOOL)

    def __init__(
        self,
        lhs: Operation | SSAValue,
        rhs: Operation | SSAValue,
        arg: int | str,
        fastmath: FastMathFlagsAttr | None = None,
    ):
        lhs = SSAValue.get(lhs)
        if isinstance(arg, str):
            arg = _predicate(arg, CMPF_COMPARISON_OPERATIONS)
        IRDLOperation.__init__(
            self,
            operands=[lhs, rhs],
            result_types=[bool_like(lhs.type)],
            properties={
                "predicate": IntegerAttr(arg, 64),
                "fastmath": fastmath or FastMathFlagsAttr("none"),
            },
        )


class SelectOp(_Redefined, arith.SelectOp):
    """Selection by one condition, or by a condition for each element."""

    _definition: ClassVar[OpDef] = _relaxed(arith.SelectOp, cond=_BOOL)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        cond = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        cond_type: Attribute = i1
        type_ = parser.parse_type()
        if parser.parse_optional_punctuation(","):
            cond_type, type_ = type_, parser.parse_type()
        op = cls(
            parser.resolve_operand(cond, cond_type),
            parser.resolve_operand(lhs, type_),
            parser.resolve_operand(rhs, type_),
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    def check(self) -> None:
        if self.cond.type != i1 and not have_compatible_shape(self.cond.type, self.result.type):
            raise VerifyException("the condition must be i1 or have the shape of the result")


def _check_same_shape(op: IRDLOperation) -> None:
    if not have_compatible_shape(op.operands[0].type, op.results[0].type):
        raise VerifyException("operand and result must have the same shape")


def _bitwidth(type_: Attribute) -> int:
    element = get_element_type_or_self(type_)
    assert isinstance(element, IntegerType)
    return element.bitwidth


class _Convert(_Redefined):
    """A conversion whose operand and result may be vectors or tensors of the same shape."""

    def check(self) -> None:
        _check_same_shape(self)


class IndexCastOp(_Convert, arith.IndexCastOp):
    """Conversion between `index` and a signed integer type."""

    _definition: ClassVar[OpDef] = _relaxed(
        arith.IndexCastOp, input=_INDEX_LIKE, result=_INDEX_LIKE
    )


class FPToSIOp(_Convert, arith.FPToSIOp):
    """Float to signed integer, towards zero."""

    _definition: ClassVar[OpDef] = _relaxed(arith.FPToSIOp, input=_FLOAT, result=_INTEGER)


class FPToUIOp(_Convert, arith.FPToUIOp):
    """Float to unsigned integer, towards zero."""

    _definition: ClassVar[OpDef] = _relaxed(arith.FPToUIOp, input=_FLOAT, result=_INTEGER)


class SIToFPOp(_Convert, arith.SIToFPOp):
    """Signed integer to float, to nearest even."""

    _definition: ClassVar[OpDef] = _relaxed(arith.SIToFPOp, input=_INTEGER, result=_FLOAT)


class UIToFPOp(_Convert, arith.UIToFPOp):
    """Unsigned integer to float, to nearest even."""

    _definition: ClassVar[OpDef] = _relaxed(arith.UIToFPOp, input=_INTEGER, result=_FLOAT)


class TruncIOp(_Convert, arith.TruncIOp):
    """Integer to a narrower integer type, dropping the high bits."""

    _definition: ClassVar[OpDef] = _relaxed(arith.TruncIOp, input=_INTEGER, result=_INTEGER)

    def check(self) -> None:
        _check_same_shape(self)
        if _bitwidth(self.result.type) >= _bitwidth(self.input.type):
            raise VerifyException("the result of arith.trunci must be narrower than its operand")


class ExtSIOp(_Convert, arith.ExtSIOp):
    """Integer to a wider integer type, repeating the sign bit."""

    # xDSL forgets that arith.extsi is pure
    _definition: ClassVar[OpDef] = replace(
        _relaxed(arith.ExtSIOp, input=_INTEGER, result=_INTEGER),
        traits=arith.ExtUIOp.get_irdl_definition().traits,
    )
    traits = arith.ExtUIOp.traits

    def check(self) -> None:
        _check_same_shape(self)
        if _bitwidth(self.result.type) <= _bitwidth(self.input.type):
            raise VerifyException("the result of arith.extsi must be wider than its operand")


class ExtUIOp(_Convert, arith.ExtUIOp):
    """Integer to a wider integer type, with zeros in the high bits."""

    _definition: ClassVar[OpDef] = _relaxed(arith.ExtUIOp, input=_INTEGER, result=_INTEGER)

    def check(self) -> None:
        _check_same_shape(self)
        if _bitwidth(self.result.type) <= _bitwidth(self.input.type):
            raise VerifyException("the result of arith.extui must be wider than its operand")


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """Conversion between `index` and an unsigned integer type."""

    name = "arith.index_castui"

    input = operand_def(_INDEX_LIKE)
    result = result_def(_INDEX_LIKE)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, value: SSAValue | Operation, target_type: Attribute):
        super().__init__(operands=[value], result_types=[target_type])


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """Remainder of the division truncated towards zero, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


_OVERRIDES: tuple[type[Operation], ...] = (
    CmpiOp,
    CmpfOp,
    SelectOp,
    IndexCastOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    UIToFPOp,
    TruncIOp,
    ExtSIOp,
    ExtUIOp,
    IndexCastUIOp,
    RemFOp,
)
_NAMES = {op.name for op in _OVERRIDES}

Arith = Dialect(
    "arith",
    [op for op in arith.Arith.operations if op.name not in _NAMES] + list(_OVERRIDES),
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)
"""xDSL's dialect with the classes of this module in place of xDSL's."""
