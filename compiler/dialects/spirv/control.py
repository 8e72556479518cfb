"""Structured control flow: loops and selections as regions of blocks, and the branches in them.

A loop's region is: an entry block that only branches to the header, the header, the body's blocks,
the continue block (the last but one), which branches back to the header, and the merge block (the
last). A selection's region is: the header, which ends in a conditional branch, other blocks, and
the merge block. A merge block ends in `spirv.mlir.merge` and holds nothing else. Values carried
around a loop are block arguments of its header.

MLIR 19 gives a loop and a selection no results: a value leaves through a `spirv.Variable`. Results,
as MLIR has them since LLVM 21, are understood too: `spirv.mlir.merge %v : f32` hands them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from ingot.compiler.dialects.spirv.base import (
    SpirvOp,
    i32_array,
    parse_operands,
    parse_types,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.enums import (
    LoopControl,
    LoopControlAttr,
    SelectionControl,
    SelectionControlAttr,
    flag_names,
    parse_flags,
)
from ingot.compiler.dialects.spirv.families import Value


def _parse_successor(parser: Parser) -> tuple[Block, list[SSAValue]]:
    """`^block(%a, %b : f32, i32)`"""
    block = parser.parse_successor()
    if not parser.parse_optional_punctuation("("):
        return block, []
    position = parser.pos
    unresolved = parse_operands(parser)
    parser.parse_punctuation(":")
    operands = parser.resolve_operands(unresolved, parse_types(parser), position)
    parser.parse_punctuation(")")
    return block, list(operands)


def _print_successor(printer: Printer, block: Block, arguments: Sequence[SSAValue]) -> None:
    printer.print_block_name(block)
    if arguments:
        with printer.in_parens():
            print_operands(printer, arguments)
            printer.print_string(" : ")
            print_types(printer, [argument.type for argument in arguments])


def _verify_arguments(op: SpirvOp, block: Block, arguments: Sequence[SSAValue]) -> None:
    given = tuple(argument.type for argument in arguments)
    op.expect(
        given == tuple(block.arg_types),
        f"the block takes ({', '.join(map(str, block.arg_types))}), "
        f"given ({', '.join(map(str, given))})",
    )


@irdl_op_definition
class BranchOp(SpirvOp):
    """`spirv.Branch ^block(%a : f32)`"""

    name = "spirv.Branch"

    block_arguments = var_operand_def()
    target = successor_def()
    traits = traits_def(IsTerminator())

    def __init__(self, target: Block, arguments: Sequence[Value] = ()) -> None:
        super().__init__(operands=[arguments], successors=[target])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        block, arguments = _parse_successor(parser)
        op = cls(block, arguments)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_successor(printer, self.target, self.block_arguments)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        _verify_arguments(self, self.target, self.block_arguments)


@irdl_op_definition
class BranchConditionalOp(SpirvOp):
    """`spirv.BranchConditional %c [8, 1], ^then, ^else(%a : f32)`"""

    name = "spirv.BranchConditional"

    condition = operand_def(i1)
    true_target_operands = var_operand_def()
    false_target_operands = var_operand_def()
    branch_weights: ArrayAttr[IntegerAttr] | None = opt_prop_def(ArrayAttr[IntegerAttr])
    true_target = successor_def()
    false_target = successor_def()
    traits = traits_def(IsTerminator())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        condition: Value,
        true_target: Block,
        false_target: Block,
        true_arguments: Sequence[Value] = (),
        false_arguments: Sequence[Value] = (),
        weights: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(
            operands=[condition, true_arguments, false_arguments],
            successors=[true_target, false_target],
            properties={"branch_weights": None if weights is None else i32_array(weights)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_operand(i1)
        weights = None
        if parser.parse_optional_punctuation("["):
            first = parser.parse_integer(allow_negative=False)
            parser.parse_punctuation(",")
            weights = (first, parser.parse_integer(allow_negative=False))
            parser.parse_punctuation("]")
        parser.parse_punctuation(",")
        true_target, true_arguments = _parse_successor(parser)
        parser.parse_punctuation(",")
        false_target, false_arguments = _parse_successor(parser)
        return cls(condition, true_target, false_target, true_arguments, false_arguments, weights)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        if self.branch_weights is not None:
            weights = ", ".join(str(w.value.data) for w in self.branch_weights)
            printer.print_string(f" [{weights}]")
        printer.print_string(", ")
        _print_successor(printer, self.true_target, self.true_target_operands)
        printer.print_string(", ")
        _print_successor(printer, self.false_target, self.false_target_operands)

    def verify_(self) -> None:
        _verify_arguments(self, self.true_target, self.true_target_operands)
        _verify_arguments(self, self.false_target, self.false_target_operands)
        self.expect(
            self.true_target is not self.false_target
            or self.true_target_operands == self.false_target_operands,
            "branches to one block must hand it the same values",
        )
        if self.branch_weights is not None:
            self.expect(len(self.branch_weights) == 2, "there are two branch weights, or none")


@irdl_op_definition
class MergeOp(SpirvOp):
    """`spirv.mlir.merge`: the end of a loop or a selection; its operands are their results."""

    name = "spirv.mlir.merge"

    values = var_operand_def()
    traits = traits_def(IsTerminator())

    def __init__(self, values: Sequence[Value] = ()) -> None:
        super().__init__(operands=[values])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        first = parser.parse_optional_unresolved_operand()
        if first is None:
            return cls()
        unresolved = [first]
        while parser.parse_optional_punctuation(","):
            unresolved.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(":")
        return cls(parser.resolve_operands(unresolved, parse_types(parser), position))

    def print(self, printer: Printer) -> None:
        if self.values:
            printer.print_string(" ")
            print_operands(printer, self.values)
            printer.print_string(" : ")
            print_types(printer, [value.type for value in self.values])

    def verify_(self) -> None:
        parent = self.parent_op()
        self.expect(
            isinstance(parent, LoopOp | SelectionOp),
            "must stand in the merge block of a spirv.mlir.loop or spirv.mlir.selection",
        )
        assert parent is not None
        types = tuple(value.type for value in self.values)
        self.expect(
            types == tuple(result.type for result in parent.results),
            f"must hand out the results of {parent.name}",
        )


class StructuredOp(SpirvOp):
    """A region of blocks that ends in one merge block."""

    body = region_def()
    outcomes = var_result_def()

    @property
    def merge_block(self) -> Block:
        """The last block, where all paths meet."""
        block = self.body.blocks.last
        assert block is not None
        return block

    def print_region(self, printer: Printer, control: LoopControl | SelectionControl) -> None:
        if control:
            printer.print_string(f" control({flag_names(control)})")
        if self.results:
            printer.print_string(" -> ")
            print_types(printer, [result.type for result in self.results])
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)

    def verify_merge(self) -> None:
        self.expect(bool(self.body.blocks), "the region needs blocks")
        last = self.merge_block
        self.expect(
            isinstance(last.last_op, MergeOp) and last.first_op is last.last_op,
            "the last block must hold spirv.mlir.merge and nothing else",
        )
        for block in self.body.blocks:
            self.expect(
                block is last or not isinstance(block.last_op, MergeOp),
                "only the last block may end in spirv.mlir.merge",
            )


def _parse_control(parser: Parser, flags: type[LoopControl] | type[SelectionControl]) -> int:
    if not parser.parse_optional_keyword("control"):
        return 0
    with parser.in_parens():
        return parse_flags(parser, flags)


def _parse_result_types(parser: Parser) -> list[Attribute]:
    return parse_types(parser) if parser.parse_optional_punctuation("->") else []


@irdl_op_definition
class LoopOp(StructuredOp):
    """`spirv.mlir.loop control(Unroll) { ... }`; see the module's page for its blocks."""

    name = "spirv.mlir.loop"

    loop_control: LoopControlAttr = prop_def(LoopControlAttr)

    def __init__(
        self,
        body: Region | Sequence[Block],
        control: LoopControl | None = None,
        result_types: Sequence[Attribute] = (),
    ) -> None:
        super().__init__(
            regions=[body],
            properties={"loop_control": LoopControlAttr(control or LoopControl(0))},
            result_types=[result_types],
        )

    @property
    def header(self) -> Block:
        """The block that the back edge enters; its arguments are the values carried around."""
        entry = self.body.blocks.first
        assert entry is not None and entry.next_block is not None
        return entry.next_block

    @property
    def continue_block(self) -> Block:
        """The last block but one, which branches back to the header."""
        block = self.merge_block.prev_block
        assert block is not None
        return block

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        control = LoopControl(_parse_control(parser, LoopControl))
        types = _parse_result_types(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(parser.parse_region(), control, types)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        self.print_region(printer, self.loop_control.data)

    def verify_(self) -> None:
        self.verify_merge()
        blocks = list(self.body.blocks)
        self.expect(
            len(blocks) >= 3, "the region needs an entry, a header and a merge block at least"
        )
        entry = blocks[0].last_op
        self.expect(
            isinstance(entry, BranchOp)
            and entry is blocks[0].first_op
            and entry.target is blocks[1],
            "the entry block must hold a spirv.Branch to the header and nothing else",
        )
        last = self.continue_block.last_op
        self.expect(
            last is not None and self.header in last.successors,
            "the continue block, the last but one, must branch back to the header",
        )
        for block in blocks[1:-2]:
            back = block.last_op
            self.expect(
                back is None or self.header not in back.successors,
                "only the continue block may branch back to the header",
            )


@irdl_op_definition
class SelectionOp(StructuredOp):
    """`spirv.mlir.selection control(Flatten) { ... }`; see the module's page for its blocks."""

    name = "spirv.mlir.selection"

    selection_control: SelectionControlAttr = prop_def(SelectionControlAttr)

    def __init__(
        self,
        body: Region | Sequence[Block],
        control: SelectionControl | None = None,
        result_types: Sequence[Attribute] = (),
    ) -> None:
        super().__init__(
            regions=[body],
            properties={"selection_control": SelectionControlAttr(control or SelectionControl(0))},
            result_types=[result_types],
        )

    @classmethod
    def if_then_else(
        cls, condition: Value, then_block: Block, else_block: Block | None = None
    ) -> SelectionOp:
        """A selection of two arms, the second of which may be missing.

        The blocks hold the arms' ops; those without a terminator get a branch to the merge block.
        """
        merge = Block([MergeOp()])
        arms = [then_block] if else_block is None else [then_block, else_block]
        header = Block([BranchConditionalOp(condition, then_block, else_block or merge)])
        for arm in arms:
            last = arm.last_op
            if last is None or not last.has_trait(IsTerminator):
                arm.add_op(BranchOp(merge))
        return cls([header, *arms, merge])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        control = SelectionControl(_parse_control(parser, SelectionControl))
        types = _parse_result_types(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(parser.parse_region(), control, types)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        self.print_region(printer, self.selection_control.data)

    def verify_(self) -> None:
        self.verify_merge()
        header = self.body.blocks.first
        assert header is not None
        self.expect(
            header is self.merge_block or isinstance(header.last_op, BranchConditionalOp),
            "the header, the first block, must end in a spirv.BranchConditional",
        )
        self.expect(
            header is not self.merge_block,
            "a selection needs a header before its merge block",
        )


@irdl_op_definition
class UnreachableOp(SpirvOp):
    """`spirv.Unreachable`: after a selection or a loop that is never left through its merge."""

    name = "spirv.Unreachable"
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()
