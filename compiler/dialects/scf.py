"""xDSL's `scf` with `scf.forall` and its terminator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    TensorType,
    i64,
)
from xdsl.dialects.utils import (
    get_dynamic_index_list,
    parse_dynamic_index_list_without_types,
    print_assignment,
    print_dynamic_index_list,
    split_dynamic_index_list,
    verify_dynamic_index_list,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    NoTerminator,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

Bounds = Sequence[SSAValue | int]
"""Loop bounds: integers known now, values known when the program runs."""


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """Terminator of `scf.forall`: holds the insertions of each iteration's part of the results."""

    name = "scf.forall.in_parallel"

    region = region_def("single_block")

    traits = lazy_traits_def(
        lambda: (HasParent(ForallOp), IsTerminator(), NoTerminator(), RecursiveMemoryEffect())
    )

    def __init__(self, region: Region | None = None):
        super().__init__(regions=[Region(Block()) if region is None else region])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        op = cls(region)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.region)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ForallOp(IRDLOperation):
    """A loop nest whose iterations may run at once.

    `body` takes the induction variables, then one tensor for each of `shared_outs`. `mapping` says
    what runs the iterations: `#gpu.block<x>`, `#gpu.thread<y>`.
    """

    name = "scf.forall"

    dynamic_lower_bound = var_operand_def(IndexType)
    dynamic_upper_bound = var_operand_def(IndexType)
    dynamic_step = var_operand_def(IndexType)
    shared_outs = var_operand_def(TensorType)

    static_lower_bound = prop_def(DenseArrayBase.constr(i64), prop_name="staticLowerBound")
    static_upper_bound = prop_def(DenseArrayBase.constr(i64), prop_name="staticUpperBound")
    static_step = prop_def(DenseArrayBase.constr(i64), prop_name="staticStep")
    mapping = opt_prop_def(ArrayAttr)

    res = var_result_def(TensorType)
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        upper_bounds: Bounds,
        shared_outs: Sequence[SSAValue | Operation],
        body: Region,
        mapping: Sequence[Attribute] | ArrayAttr | None = None,
        *,
        lower_bounds: Bounds | None = None,
        steps: Bounds | None = None,
    ):
        """`body` must end in an `InParallelOp`; results have the types of `shared_outs`.

        `lower_bounds` default to 0 and `steps` to 1.
        """
        rank = len(upper_bounds)
        lists = (
            [0] * rank if lower_bounds is None else lower_bounds,
            upper_bounds,
            [1] * rank if steps is None else steps,
        )
        bounds = [split_dynamic_index_list(list(values), DYNAMIC_INDEX) for values in lists]
        outs = [SSAValue.get(value) for value in shared_outs]
        static = [DenseArrayBase.from_list(i64, values) for values, _ in bounds]
        super().__init__(
            operands=[*(dynamic for _, dynamic in bounds), outs],
            result_types=[[value.type for value in outs]],
            properties={
                "staticLowerBound": static[0],
                "staticUpperBound": static[1],
                "staticStep": static[2],
                "mapping": None if mapping is None else ArrayAttr(mapping),
            },
            regions=[body],
        )

    @property
    def rank(self) -> int:
        """The number of loops."""
        return len(self.static_upper_bound)

    @property
    def lower_bounds(self) -> list[SSAValue | int]:
        """The first index of each loop."""
        values: Sequence[int] = self.static_lower_bound.get_values()
        return get_dynamic_index_list(values, self.dynamic_lower_bound, DYNAMIC_INDEX)

    @property
    def upper_bounds(self) -> list[SSAValue | int]:
        """One past the last index of each loop."""
        values: Sequence[int] = self.static_upper_bound.get_values()
        return get_dynamic_index_list(values, self.dynamic_upper_bound, DYNAMIC_INDEX)

    @property
    def steps(self) -> list[SSAValue | int]:
        """The step of each loop."""
        values: Sequence[int] = self.static_step.get_values()
        return get_dynamic_index_list(values, self.dynamic_step, DYNAMIC_INDEX)

    @property
    def induction_vars(self) -> Sequence[SSAValue]:
        """The block arguments that hold the indices."""
        return self.body.block.args[: self.rank]

    @property
    def region_out_args(self) -> Sequence[SSAValue]:
        """The block arguments that stand for `shared_outs`."""
        return self.body.block.args[self.rank :]

    @property
    def is_normalized(self) -> bool:
        """Whether every loop starts at 0 and steps by 1."""
        return all(bound == 0 for bound in self.lower_bounds) and all(
            step == 1 for step in self.steps
        )

    def verify_(self) -> None:
        lists = (
            ("lower bound", self.static_lower_bound, self.dynamic_lower_bound),
            ("upper bound", self.static_upper_bound, self.dynamic_upper_bound),
            ("step", self.static_step, self.dynamic_step),
        )
        for what, static, dynamic in lists:
            if len(static) != self.rank:
                raise VerifyException(f"expected one {what} for each of {self.rank} loops")
            values: Sequence[int] = static.get_values()
            verify_dynamic_index_list(values, dynamic, DYNAMIC_INDEX, f" in the {what}s")
        if self.mapping is not None and len(self.mapping) != self.rank:
            raise VerifyException(f"mapping must name each of the {self.rank} loops")
        args = self.body.block.args
        if len(args) != self.rank + len(self.shared_outs):
            raise VerifyException("the body takes the induction variables and the shared outputs")
        for arg in self.induction_vars:
            if not isinstance(arg.type, IndexType):
                raise VerifyException("induction variables are of type index")
        for arg, out, result in zip(self.region_out_args, self.shared_outs, self.res, strict=True):
            if not arg.type == out.type == result.type:
                raise VerifyException("a shared output, its argument and its result have one type")
        if not isinstance(self.body.block.last_op, InParallelOp):
            raise VerifyException(f"the body must end in {InParallelOp.name}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )

        def parse_bounds() -> list[SSAValue | int]:
            dynamic, static = parse_dynamic_index_list_without_types(
                parser, dynamic_index=DYNAMIC_INDEX, delimiter=Parser.Delimiter.PAREN
            )
            values = [parser.resolve_operand(operand, IndexType()) for operand in dynamic]
            return get_dynamic_index_list(static, values, DYNAMIC_INDEX)

        if parser.parse_optional_keyword("in"):
            uppers = parse_bounds()
            lowers: list[SSAValue | int] = [0] * len(uppers)
            steps: list[SSAValue | int] = [1] * len(uppers)
        else:
            parser.parse_punctuation("=")
            lowers = parse_bounds()
            parser.parse_keyword("to")
            uppers = parse_bounds()
            parser.parse_keyword("step")
            steps = parse_bounds()

        args = [name.resolve(IndexType()) for name in names]
        outs: list[SSAValue] = []
        if parser.parse_optional_keyword("shared_outs"):

            def parse_pair() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
                arg = parser.parse_argument(expect_type=False)
                parser.parse_punctuation("=")
                return arg, parser.parse_unresolved_operand()

            pairs = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parse_pair)
            parser.parse_punctuation("->")
            types = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
            outs = list(parser.resolve_operands([pair[1] for pair in pairs], types, parser.pos))
            args += [arg.resolve(type) for (arg, _), type in zip(pairs, types, strict=True)]

        region = parser.parse_region(args)
        block = region.block
        if not isinstance(block.last_op, InParallelOp):
            block.add_op(InParallelOp())
        attributes = parser.parse_optional_attr_dict()
        mapping = attributes.pop("mapping", None)
        if mapping is not None and not isinstance(mapping, ArrayAttr):
            parser.raise_error("expected mapping to be an array")
        names_loops = cast("ArrayAttr[Attribute] | None", mapping)
        op = cls(uppers, outs, region, names_loops, lower_bounds=lowers, steps=steps)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        def print_bounds(static: DenseArrayBase[I64], dynamic: Sequence[SSAValue]) -> None:
            values: Sequence[int] = static.get_values()
            print_dynamic_index_list(
                printer, DYNAMIC_INDEX, dynamic, values, delimiter=Parser.Delimiter.PAREN
            )

        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.induction_vars, printer.print_ssa_value)
        if self.is_normalized:
            printer.print_string(" in ")
            print_bounds(self.static_upper_bound, self.dynamic_upper_bound)
        else:
            printer.print_string(" = ")
            print_bounds(self.static_lower_bound, self.dynamic_lower_bound)
            printer.print_string(" to ")
            print_bounds(self.static_upper_bound, self.dynamic_upper_bound)
            printer.print_string(" step ")
            print_bounds(self.static_step, self.dynamic_step)
        if self.shared_outs:
            pairs = zip(self.body.block.args[self.rank :], self.shared_outs, strict=True)
            printer.print_string(" shared_outs(")
            printer.print_list(pairs, lambda pair: print_assignment(printer, *pair))
            printer.print_string(") -> (")
            printer.print_list(self.res.types, printer.print_attribute)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_block_terminators=bool(self.res)
        )
        attributes = dict(self.attributes)
        if self.mapping is not None:
            attributes["mapping"] = self.mapping
        printer.print_op_attributes(attributes)


class WhileOp(scf.WhileOp):
    """`scf.while`, also without carried values, which upstream prints as `scf.while : () -> ()`."""

    @classmethod
    def parse(cls, parser: Parser) -> scf.WhileOp:
        if parser.parse_optional_punctuation(":") is None:
            return super().parse(parser)
        type = parser.parse_function_type()
        before = parser.parse_region(())
        parser.parse_keyword("do")
        after = parser.parse_region()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls((), type.outputs.data, before, after)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        if self.arguments:
            super().print(printer)
            return
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_string(" ")
        printer.print_region(self.before_region, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.after_region)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)


Scf = Dialect(
    "scf",
    [op for op in scf.Scf.operations if op is not scf.WhileOp] + [WhileOp, ForallOp, InParallelOp],
    list(scf.Scf.attributes),
)
