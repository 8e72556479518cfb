"""Whole functions, and the constants of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface

from .control import CommandOp, commands_of
from .ranges import Number, RegisterAttr, number
from .setup import SetupOp


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
