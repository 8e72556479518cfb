"""The `plan` dialect: a function as a list of commands over byte ranges.

A `plan.program` is what a bundle stores of a function, one to one. Who turns it into a bundle walks
`program.commands()` and matches on the command classes:

- `DispatchOp`: run the kernel `kernel` (a symbol of the module); `bindings` has one range for each
  input of the kernel, then one for each result. Inputs are read, results are written.
- `FillOp`: repeat `pattern` (1, 2 or 4 bytes) over `target`.
- `CopyOp`: copy `source` to `target`, of equal length.
- `BarrierOp`: all commands before are finished before any after starts.
- `LoopOp`, `WhileOp`, `IfOp`: control flow over further commands, a barrier before, between and
  after its lists. What decides is a range that the host reads when it gets there: a number without
  sign of 1, 4 or 8 bytes.

A range names its storage by kind and index: argument i and result i of the function, constant i of
the module (the i-th `plan.constant`), or the transient arena (index 0, `transient_size` bytes).
Tensors lie in their ranges row-major, i1 as one byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal, cast, get_args

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, ParametrizedAttribute, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

Storage = Literal["argument", "result", "constant", "transient"]
"""Which storage a range points into."""


@irdl_attr_definition
class RegisterAttr(ParametrizedAttribute):
    """A number that the host computes before the call: `#plan.register<3>`."""

    name = "plan.register"

    index: IntAttr

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.index.data}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_negative=False)),)


Number = IntAttr | RegisterAttr
"""A number that is known, or one that a call decides."""


def number(value: int | RegisterAttr) -> Number:
    """`value` as an attribute."""
    return IntAttr(value) if isinstance(value, int) else value


def _parse_number(parser: AttrParser) -> Number:
    if parser.parse_optional_keyword("r") is not None:
        return RegisterAttr(IntAttr(parser.parse_integer(allow_negative=False)))
    return IntAttr(parser.parse_integer(allow_negative=False))


def _spell(value: Number) -> str:
    return str(value.data) if isinstance(value, IntAttr) else f"r {value.index.data}"


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """A byte range: `#plan.range<argument 0, 256 : 1024>` is bytes 256 to 1279 of argument 0.

    `r 3` in place of a number is what register 3 holds.
    """

    name = "plan.range"

    storage: StringAttr
    index: IntAttr
    offset: Number
    length: Number

    @classmethod
    def of(
        cls,
        storage: Storage,
        index: int,
        offset: int | RegisterAttr,
        length: int | RegisterAttr,
    ) -> RangeAttr:
        """A range of `length` bytes that starts `offset` bytes into the storage."""
        return cls(StringAttr(storage), IntAttr(index), number(offset), number(length))

    @property
    def is_empty(self) -> bool:
        """Whether the range is known to have no bytes."""
        return self.length == IntAttr(0)

    @property
    def place(self) -> tuple[Storage, int]:
        """Kind and index of the storage."""
        return cast(Storage, self.storage.data), self.index.data

    def overlaps(self, other: RangeAttr) -> bool:
        """Whether the two ranges share a byte.

        A plan gives different registers for offsets of parts that do not overlap, and none of
        these overlaps a part at a known offset.
        """
        if self.place != other.place:
            return False
        match self.offset, self.length, other.offset, other.length:
            case IntAttr(), IntAttr(), IntAttr(), IntAttr():
                return (
                    self.offset.data < other.offset.data + other.length.data
                    and other.offset.data < self.offset.data + self.length.data
                )
            case _:
                return self.offset == other.offset

    def verify(self) -> None:
        if self.storage.data not in get_args(Storage):
            raise VerifyException(f"plan.range has no storage named {self.storage.data}")
        known = [n.data for n in (self.offset, self.length) if isinstance(n, IntAttr)]
        if min([self.index.data, *known]) < 0:
            raise VerifyException("plan.range must not be negative")

    def print_parameters(self, printer: Printer) -> None:
        extent = f"{_spell(self.offset)} : {_spell(self.length)}"
        printer.print_string(f"<{self.storage.data} {self.index.data}, {extent}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            storage = parser.parse_identifier()
            index = parser.parse_integer(allow_negative=False)
            parser.parse_punctuation(",")
            offset = _parse_number(parser)
            parser.parse_punctuation(":")
            length = _parse_number(parser)
        return (StringAttr(storage), IntAttr(index), offset, length)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Constant data of the module: `plan.constant @weights dense<...> : tensor<4xf32>`."""

    name = "plan.constant"

    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(Attribute)
    type = prop_def(TensorType)

    traits = traits_def(SymbolOpInterface())

    assembly_format = "$sym_name $value `as` $type attr-dict"

    def __init__(self, name: str, value: Attribute, type_: TensorType[Attribute]):
        """`value` is the attribute of the `arith.constant`; `type_` the shape that it has."""
        super().__init__(properties={"sym_name": StringAttr(name), "value": value, "type": type_})


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


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Commands before are finished, and what they wrote is visible, before commands after start."""

    name = "plan.barrier"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class LoopOp(IRDLOperation):
    """Run commands a number of times that is known, or that a range holds."""

    name = "plan.loop"

    times = opt_prop_def(IntegerAttr[i64])
    count = opt_prop_def(RangeAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "(`times` $times^)? (`count` $count^)? attr-dict-with-keyword $body"

    def __init__(self, times: int | RangeAttr, body: Iterable[Operation]):
        static = isinstance(times, int)
        super().__init__(
            properties={
                "times": IntegerAttr(times, i64) if static else None,
                "count": None if static else times,
            },
            regions=[Region(Block(body))],
        )

    def verify_(self) -> None:
        if (self.times is None) == (self.count is None):
            raise VerifyException("plan.loop has either a number of times or a count")


@irdl_op_definition
class WhileOp(IRDLOperation):
    """Run `condition`, stop when `proceed` holds a zero then, run `body`, and again."""

    name = "plan.while"

    proceed = prop_def(RangeAttr)
    condition = region_def("single_block")
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$proceed attr-dict-with-keyword $condition `do` $body"

    def __init__(
        self, proceed: RangeAttr, condition: Iterable[Operation], body: Iterable[Operation]
    ):
        super().__init__(
            properties={"proceed": proceed},
            regions=[Region(Block(condition)), Region(Block(body))],
        )


@irdl_op_definition
class IfOp(IRDLOperation):
    """Run `then`, or `otherwise` when `condition` holds a zero."""

    name = "plan.if"

    condition = prop_def(RangeAttr)
    then = region_def("single_block")
    otherwise = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$condition attr-dict-with-keyword $then `else` $otherwise"

    def __init__(
        self, condition: RangeAttr, then: Iterable[Operation], otherwise: Iterable[Operation]
    ):
        super().__init__(
            properties={"condition": condition},
            regions=[Region(Block(then)), Region(Block(otherwise))],
        )


CommandOp = DispatchOp | FillOp | CopyOp | StoreOp | BarrierOp | LoopOp | WhileOp | IfOp


def commands_of(region: Region) -> Iterator[CommandOp]:
    """The commands of a program's or a control flow op's region, in order."""
    for op in region.block.ops:
        if isinstance(op, SetupOp):
            continue
        assert isinstance(op, CommandOp)
        yield op


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """A function of the source as commands, and what its memory plan needs (bytes).

    `transient_lower_bound` is the most bytes of intermediates that are live at once; no plan can
    need less. Where sizes are known at run time only, the body begins with what the host computes
    of them, in `registers` registers; `result_sizes` are the open sizes of the results' types, and
    `arena` the size of the arena.
    """

    name = "plan.program"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    transient_size = prop_def(IntegerAttr[i64])
    transient_lower_bound = prop_def(IntegerAttr[i64])
    arg_names = opt_prop_def(ArrayAttr[StringAttr])
    result_names = opt_prop_def(ArrayAttr[StringAttr])
    registers = opt_prop_def(IntegerAttr[i64])
    arena = opt_prop_def(Number)
    result_sizes = opt_prop_def(ArrayAttr[Number])
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), NoTerminator(), IsolatedFromAbove())

    assembly_format = (
        "$sym_name $function_type `transient` $transient_size `lower_bound` $transient_lower_bound "
        "(`arguments` $arg_names^)? (`results` $result_names^)? (`registers` $registers^)? "
        "(`arena` $arena^)? (`sizes` $result_sizes^)? attr-dict-with-keyword $body"
    )

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        commands: Iterable[Operation],
        transient_size: int,
        transient_lower_bound: int,
        arg_names: Sequence[str],
        result_names: Sequence[str],
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                "transient_size": IntegerAttr(transient_size, i64),
                "transient_lower_bound": IntegerAttr(transient_lower_bound, i64),
                "arg_names": ArrayAttr([StringAttr(n) for n in arg_names]),
                "result_names": ArrayAttr([StringAttr(n) for n in result_names]),
            },
            regions=[Region(Block(commands))],
        )

    def set_sizes(
        self, registers: int, arena: int | RegisterAttr, result_sizes: Sequence[Number]
    ) -> None:
        """Say what a call decides: see the class."""
        self.properties["registers"] = IntegerAttr(registers, i64)
        self.properties["arena"] = number(arena)
        self.properties["result_sizes"] = ArrayAttr[Number](result_sizes)

    def setup(self) -> Iterator[SetupOp]:
        """What the host computes first."""
        for op in self.body.block.ops:
            if isinstance(op, SetupOp):
                yield op

    def commands(self) -> Iterator[CommandOp]:
        """The commands in order."""
        return commands_of(self.body)


def programs(module: ModuleOp) -> list[ProgramOp]:
    """The programs of a planned module, in order."""
    return [op for op in module.ops if isinstance(op, ProgramOp)]


def constants(module: ModuleOp) -> list[ConstantOp]:
    """The constants of a planned module; a range's index points into this list."""
    return [op for op in module.ops if isinstance(op, ConstantOp)]


Plan = Dialect(
    "plan",
    [
        ProgramOp,
        ConstantOp,
        DispatchOp,
        FillOp,
        CopyOp,
        StoreOp,
        BarrierOp,
        LoopOp,
        WhileOp,
        IfOp,
        SizeOp,
        ComputeOp,
        CheckOp,
    ],
    [RangeAttr, RegisterAttr],
)
