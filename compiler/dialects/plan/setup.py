"""What the host computes from the sizes of the arguments before a call."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
)

from .ranges import Number, RegisterAttr


@irdl_op_definition
class SizeOp(IRDLOperation):
    """A register gets the size of a dimension of an argument; before all commands."""

    name = "plan.size"

    target = prop_def(RegisterAttr)
    argument = prop_def(IntegerAttr[i64])
    dimension = prop_def(IntegerAttr[i64])

    assembly_format = "$target `argument` $argument `dimension` $dimension attr-dict"

    def __init__(self, target: RegisterAttr, argument: int, dimension: int):
        super().__init__(
            properties={
                "target": target,
                "argument": IntegerAttr(argument, i64),
                "dimension": IntegerAttr(dimension, i64),
            }
        )


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """A register gets what `operation` (as the bundle names it) makes of two numbers."""

    name = "plan.compute"

    target = prop_def(RegisterAttr)
    operation = prop_def(StringAttr)
    lhs = prop_def(Number)
    rhs = prop_def(Number)

    assembly_format = "$target $operation $lhs `,` $rhs attr-dict"

    def __init__(self, target: RegisterAttr, operation: str, lhs: Number, rhs: Number):
        super().__init__(
            properties={
                "target": target,
                "operation": StringAttr(operation),
                "lhs": lhs,
                "rhs": rhs,
            }
        )


@irdl_op_definition
class CheckOp(IRDLOperation):
    """Refuse the call with `message` where a number is 0."""

    name = "plan.check"

    condition = prop_def(Number)
    message = prop_def(StringAttr)

    assembly_format = "$condition `,` $message attr-dict"

    def __init__(self, condition: Number, message: str):
        super().__init__(properties={"condition": condition, "message": StringAttr(message)})


SetupOp = SizeOp | ComputeOp | CheckOp
