"""Op classes are defined when they are first used, with the same outcome."""

from __future__ import annotations

from typing import ClassVar

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Commutative, Pure
from xdsl.utils.exceptions import PyRDLOpDefinitionError, VerifyException

from ingot.compiler import dialects  # noqa: F401  installs


class _Base(IRDLOperation):
    lhs = operand_def(i32)
    result = result_def(i32)
    traits = traits_def(Pure())


def _make() -> type[_Base]:
    @irdl_op_definition
    class Sum(_Base):
        name = "t.sum"
        KIND: ClassVar[int] = 3
        rhs = opt_operand_def(i32)
        traits = traits_def(Commutative())
        assembly_format = "$lhs (`,` $rhs^)? attr-dict"

        def verify_(self) -> None:
            if self.rhs is self.lhs:
                raise VerifyException("twice the same")

    return Sum


def _value() -> SSAValue:
    return test.TestOp(result_types=[i32]).results[0]


def test_the_first_use_defines() -> None:
    cls = _make()
    assert cls.has_trait(Pure)
    assert cls.has_trait(Commutative)
    value = _value()
    op = cls.create(operands=[value], result_types=[i32])
    assert op.lhs is value
    assert op.result is op.results[0]
    assert [name for name, _ in cls.get_irdl_definition().operands] == ["rhs", "lhs"]


def test_fields_that_a_class_gets_later_stay() -> None:
    cls = _make()
    setattr(cls, "INFO", 5)  # noqa: B010
    cls.get_irdl_definition()
    assert (vars(cls)["INFO"], vars(cls)["KIND"]) == (5, 3)


def test_verifying_defines_and_asks_the_class() -> None:
    value = _value()
    op = _make().create(operands=[value, value], result_types=[i32])
    with pytest.raises(VerifyException, match="twice the same"):
        op.verify_()


def test_a_wrong_class_is_refused_when_used() -> None:
    class Wrong(IRDLOperation):
        name = "t.wrong"
        value = 3

    cls = irdl_op_definition(Wrong)
    for _ in range(2):
        with pytest.raises(PyRDLOpDefinitionError, match=r"Wrong\.value"):
            cls.get_irdl_definition()


def test_accessors_of_properties_can_be_set() -> None:
    @irdl_op_definition
    class Named(IRDLOperation):
        name = "t.named"
        kind = prop_def(type(i32))

    op = Named.create()
    op.kind = i32
    assert op.properties == {"kind": i32}
