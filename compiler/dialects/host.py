"""The `host` dialect: control flow of the host program between kernels, and what it computes.

What runs conditionally or repeatedly is a function of its own, marked `ingot.host_body`, from
tensors to tensors: passes on host functions need to know nothing about control flow. Scalars that
cross the border are tensors of rank 0, an `index` among them is an i32, as on the device.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

HOST_BODY = "ingot.host_body"
"""Unit attribute of a function that only ops of this dialect run."""


@irdl_op_definition
class LoopOp(IRDLOperation):
    """Run `body` a number of times, from `carried` to new values of the same types.

    The body takes the carried values, then the captured ones. The number is `times`, or the one
    element of `count` without sign.

    `%r = host.loop @step times 16 carry(%h : tensor<4xf32>) use(%w : tensor<4xf32>)
          -> tensor<4xf32>`
    """

    name = "host.loop"

    body = prop_def(FlatSymbolRefAttrConstr)
    times = opt_prop_def(IntegerAttr[I64])
    count = opt_operand_def(TensorType)
    carried = var_operand_def(TensorType)
    captured = var_operand_def(TensorType)
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    assembly_format = (
        "$body (`times` $times^)? (`count` `(` $count^ `:` type($count) `)`)? "
        "(`carry` `(` $carried^ `:` type($carried) `)`)? "
        "(`use` `(` $captured^ `:` type($captured) `)`)? (`->` type($res)^)? attr-dict"
    )

    def __init__(
        self,
        body: str,
        times: int | SSAValue,
        carried: Sequence[SSAValue],
        captured: Sequence[SSAValue],
    ):
        static = isinstance(times, int)
        super().__init__(
            operands=[[] if static else [times], carried, captured],
            result_types=[[v.type for v in carried]],
            properties={
                "body": SymbolRefAttr(body),
                "times": IntegerAttr(times, i64) if static else None,
            },
        )

    def verify_(self) -> None:
        if (self.times is None) == (self.count is None):
            raise VerifyException("host.loop has either a constant number of times or a count")
        if [v.type for v in self.carried] != [r.type for r in self.res]:
            raise VerifyException("host.loop has the types of what it carries as results")


@irdl_op_definition
class WhileOp(IRDLOperation):
    """Run `condition` on what is carried, stop when it says no, else run `body`, and again.

    The condition takes the carried and the captured values, and returns a tensor<i1> and what goes
    to the body, or becomes the result. The body takes that and the captured values, and returns
    what is carried on.
    """

    name = "host.while"

    condition = prop_def(FlatSymbolRefAttrConstr)
    body = prop_def(FlatSymbolRefAttrConstr)
    carried = var_operand_def(TensorType)
    captured = var_operand_def(TensorType)
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    assembly_format = (
        "$condition `do` $body (`carry` `(` $carried^ `:` type($carried) `)`)? "
        "(`use` `(` $captured^ `:` type($captured) `)`)? (`->` type($res)^)? attr-dict"
    )

    def __init__(
        self,
        condition: str,
        body: str,
        carried: Sequence[SSAValue],
        captured: Sequence[SSAValue],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[carried, captured],
            result_types=[result_types],
            properties={"condition": SymbolRefAttr(condition), "body": SymbolRefAttr(body)},
        )


@irdl_op_definition
class IfOp(IRDLOperation):
    """Run one of two functions of the captured values, as `condition`, a tensor<i1>, says."""

    name = "host.if"

    condition = operand_def(TensorType)
    then = prop_def(FlatSymbolRefAttrConstr)
    otherwise = prop_def(FlatSymbolRefAttrConstr)
    captured = var_operand_def(TensorType)
    res = var_result_def(TensorType)

    traits = traits_def(Pure())

    assembly_format = (
        "$condition `:` type($condition) `then` $then `else` $otherwise "
        "(`use` `(` $captured^ `:` type($captured) `)`)? (`->` type($res)^)? attr-dict"
    )

    def __init__(
        self,
        condition: SSAValue,
        then: str,
        otherwise: str,
        captured: Sequence[SSAValue],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[condition, captured],
            result_types=[result_types],
            properties={"then": SymbolRefAttr(then), "otherwise": SymbolRefAttr(otherwise)},
        )


@irdl_op_definition
class DispatchOp(IRDLOperation):
    """Run a kernel over tensors whose sizes a call decides.

    `extents` are the sizes of the results' space, which the grid covers. The kernel takes
    `arguments`, then, if there are any, the numbers `sizes` as one buffer of i32, then the results.
    Loops of a thread have `turns` turns together, or a few.
    `result_sizes` are the open sizes of the results' types, in order. All of these are computed by
    the host from the sizes of the function's arguments.
    """

    name = "host.dispatch"

    callee = prop_def(FlatSymbolRefAttrConstr)
    extents = var_operand_def(IndexType)
    arguments = var_operand_def(TensorType)
    sizes = var_operand_def(IndexType)
    turns = opt_operand_def(IndexType)
    result_sizes = var_operand_def(IndexType)
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    assembly_format = (
        "$callee `over` `(` $extents `)` "
        "(`use` `(` $arguments^ `:` type($arguments) `)`)? (`sizes` `(` $sizes^ `)`)? "
        "(`turns` `(` $turns^ `)`)? "
        "`->` type($res) (`of` `(` $result_sizes^ `)`)? attr-dict"
    )

    def __init__(
        self,
        callee: str,
        extents: Sequence[SSAValue],
        arguments: Sequence[SSAValue],
        sizes: Sequence[SSAValue],
        turns: SSAValue | None,
        result_sizes: Sequence[SSAValue],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[extents, arguments, sizes, [] if turns is None else [turns], result_sizes],
            result_types=[result_types],
            properties={"callee": SymbolRefAttr(callee)},
        )


@irdl_op_definition
class CheckOp(IRDLOperation):
    """Refuse the call with `message` unless `condition` holds, which the host computes."""

    name = "host.check"

    condition = operand_def(i1)
    message = prop_def(StringAttr)

    assembly_format = "$condition `,` $message attr-dict"

    def __init__(self, condition: SSAValue, message: str):
        super().__init__(operands=[condition], properties={"message": StringAttr(message)})


Host = Dialect("host", [LoopOp, WhileOp, IfOp, DispatchOp, CheckOp], [])
