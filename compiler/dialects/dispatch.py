"""The `dispatch` dialect: which ops run as one kernel, and calls of kernels on whole tensors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType, SymbolRefAttr
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Dialect, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

KERNEL_MARK = "ingot.kernel"
"""Unit attribute of a function that is one kernel."""
HELPER_MARK = "ingot.helper"
"""Unit attribute of a private function whose ops are a part of the kernel that calls it."""
KIND = "ingot.kind"
"""`"pointwise"`, `"row"`, `"attention"` or `"scan"`: how the loops of a kernel's ops relate."""
ROW_DIMS = "ingot.row_dims"
"""i64: how many leading loops every op of the kernel shares."""
UNFOLDED = "ingot.unfolded"
"""Unit attribute of a `linalg.generic` that only reads elements from elsewhere, by its indices: it
may be computed over any loops, at the price of index arithmetic."""
NAMES = "ingot.names"
"""Array of strings: a name for each input, then for each result, of a kernel."""
SIGNATURE = "ingot.signature"
"""The function type of the source, where it has unsigned integers: L1 and below have none."""


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends a `dispatch.region`; its operands are the results of the region."""

    name = "dispatch.yield"

    traits = traits_def(IsTerminator(), Pure())


@irdl_op_definition
class RegionOp(IRDLOperation):
    """Ops on tensors that become one kernel; values from above are its inputs.

    ```mlir
    %0 = dispatch.region -> (tensor<64xf32>) attributes {ingot.kind = "pointwise"} {
      ...
      dispatch.yield %r : tensor<64xf32>
    }
    ```
    """

    name = "dispatch.region"

    res = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp))

    def __init__(
        self,
        result_types: Sequence[Attribute],
        body: Region,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(result_types=[result_types], regions=[body], attributes=attributes or {})

    def verify_(self) -> None:
        terminator = self.body.block.last_op
        if not isinstance(terminator, YieldOp):
            raise VerifyException("dispatch.region must end in dispatch.yield")
        if tuple(terminator.operand_types) != tuple(self.result_types):
            raise VerifyException("dispatch.yield must yield the result types of dispatch.region")

    def print(self, printer: Printer) -> None:
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.result_types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> RegionOp:
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region()
        return cls(types, body, dict(attributes.data) if attributes else None)


@irdl_op_definition
class CallOp(IRDLOperation):
    """Run a kernel on whole tensors.

    `%r = dispatch.call @kernel(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
    """

    name = "dispatch.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    res = var_result_def()

    traits = traits_def(Pure())

    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        arguments: Sequence[SSAValue],
        result_types: Sequence[Attribute],
    ):
        reference = SymbolRefAttr(callee) if isinstance(callee, str) else callee
        super().__init__(
            operands=[arguments], result_types=[result_types], properties={"callee": reference}
        )

    @property
    def function_type(self) -> FunctionType:
        """The type that the kernel must have."""
        return FunctionType.from_lists([v.type for v in self.arguments], [v.type for v in self.res])


Dispatch = Dialect("dispatch", [RegionOp, YieldOp, CallOp], [])
