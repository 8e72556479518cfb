"""What a device does: kernels, fills, copies, and what separates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    FlatSymbolRefAttrConstr,
    IntAttr,
    IntegerAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .ranges import Number, RangeAttr, RegisterAttr


@irdl_op_definition
class DispatchOp(IRDLOperation):
    """Run a kernel: `plan.dispatch @softmax [#plan.range<...>, #plan.range<...>]`.

    `groups` are the threadgroups where a call decides them; else the kernel says how many.
    """

    name = "plan.dispatch"

    kernel = prop_def(FlatSymbolRefAttrConstr)
    bindings = prop_def(ArrayAttr[RangeAttr])
    input_count = prop_def(IntegerAttr[i64])
    groups = opt_prop_def(ArrayAttr[Number])

    assembly_format = "$kernel $bindings `reads` $input_count (`groups` $groups^)? attr-dict"

    def __init__(
        self,
        kernel: SymbolRefAttr,
        reads: Sequence[RangeAttr],
        writes: Sequence[RangeAttr],
        groups: ArrayAttr[Number] | None = None,
    ):
        super().__init__(
            properties={
                "kernel": kernel,
                "groups": groups,
                "bindings": ArrayAttr([*reads, *writes]),
                "input_count": IntegerAttr(len(reads), i64),
            }
        )

    @property
    def kernel_name(self) -> str:
        """The symbol of the kernel."""
        return self.kernel.root_reference.data

    def reads(self) -> Sequence[RangeAttr]:
        """Ranges of the kernel's inputs."""
        return self.bindings.data[: self.input_count.value.data]

    def writes(self) -> Sequence[RangeAttr]:
        """Ranges of the kernel's results."""
        return self.bindings.data[self.input_count.value.data :]


@irdl_op_definition
class FillOp(IRDLOperation):
    """Repeat a pattern of 1, 2 or 4 bytes over a range."""

    name = "plan.fill"

    target = prop_def(RangeAttr)
    pattern = prop_def(BytesAttr)

    PATTERN_SIZES: ClassVar = (1, 2, 4)

    def __init__(self, target: RangeAttr, pattern: bytes):
        super().__init__(properties={"target": target, "pattern": BytesAttr(pattern)})

    def verify_(self) -> None:
        size = len(self.pattern.data)
        length = self.target.length
        divides = not isinstance(length, IntAttr) or length.data % max(size, 1) == 0
        if size not in self.PATTERN_SIZES or not divides:
            raise VerifyException(
                "plan.fill takes a pattern of 1, 2 or 4 bytes that divides the range"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.target)
        printer.print_string(f' with "0x{self.pattern.data.hex().upper()}"')

    @classmethod
    def parse(cls, parser: Parser) -> FillOp:
        target = parser.parse_attribute()
        parser.parse_keyword("with")
        text = parser.parse_str_literal()
        if not isinstance(target, RangeAttr) or not text.startswith("0x"):
            parser.raise_error('expected a range and a pattern such as "0x00000000"')
        return cls(target, bytes.fromhex(text[2:]))

    def reads(self) -> Sequence[RangeAttr]:
        """Nothing is read."""
        return ()

    def writes(self) -> Sequence[RangeAttr]:
        """The target."""
        return (self.target,)


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Copy bytes: `plan.copy <argument 0, 0 : 16> to <result 0, 0 : 16>`."""

    name = "plan.copy"

    source = prop_def(RangeAttr)
    target = prop_def(RangeAttr)

    assembly_format = "$source `to` $target attr-dict"

    def __init__(self, source: RangeAttr, target: RangeAttr):
        super().__init__(properties={"source": source, "target": target})

    def verify_(self) -> None:
        if self.source.length != self.target.length:
            raise VerifyException("plan.copy takes two ranges of the same length")

    def reads(self) -> Sequence[RangeAttr]:
        """The source."""
        return (self.source,)

    def writes(self) -> Sequence[RangeAttr]:
        """The target."""
        return (self.target,)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write the low 32 bits of a register's number to 4 bytes."""

    name = "plan.store"

    value = prop_def(RegisterAttr)
    target = prop_def(RangeAttr)

    assembly_format = "$value `to` $target attr-dict"

    def __init__(self, value: RegisterAttr, target: RangeAttr):
        super().__init__(properties={"value": value, "target": target})

    def reads(self) -> Sequence[RangeAttr]:
        """Nothing is read."""
        return ()

    def writes(self) -> Sequence[RangeAttr]:
        """The target."""
        return (self.target,)


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Commands before are finished, and what they wrote is visible, before commands after start."""

    name = "plan.barrier"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()
