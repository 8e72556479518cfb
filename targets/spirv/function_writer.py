"""A function's instructions, from its structured regions.

Constants, undefined values and addresses of globals are no instructions of their own: they become
module-level ids where they are first used, so it does not matter where or how often an op stands.
Variables of a function go to its start. A selection's header continues the block it stands in; a
loop starts a new one. Block arguments become `OpPhi`, whose operands are filled in as the branches
are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import base
from ingot.compiler.dialects.spirv.enums import EnumerantAttr, FlagsAttr
from ingot.targets.spirv.declaration_writer import Declarations, Symbols, literal_word
from ingot.targets.spirv.grammar import Op


class FunctionWriter:
    """Writes functions one after the other into `code`, a list of opcode and operand words."""

    def __init__(
        self,
        declarations: Declarations,
        symbols: Symbols,
        origins: dict[int, Operation] | None = None,
    ) -> None:
        """`origins`, where it is given, learns the op of each instruction in `code`, by `id`."""
        self.origins = origins
        self.declarations = declarations
        self.symbols = symbols
        self.code: list[list[int]] = []
        self.glsl: int | None = None
        """The id of the imported instruction set, once it is used."""
        # By identity: the module keeps its values, and hashing them takes a call.
        self._values: dict[int, int] = {}
        # Of the function being written: the label of the current block, and of every block.
        self._current = 0
        self._labels: dict[Block, int] = {}
        self._phi_code: dict[Block, list[list[int]]] = {}
        self._handlers: dict[type[Operation], Callable[[Any], object]] = {
            **dict.fromkeys(_WRITTEN_ELSEWHERE, lambda _: None),
            spirv.FunctionCallOp: self._call,
            spirv.BranchOp: self._branch,
            spirv.BranchConditionalOp: self._branch_conditional,
            spirv.ReturnOp: lambda _: self._emit(Op.Return),
            spirv.ReturnValueOp: self._return_value,
            spirv.UnreachableOp: lambda _: self._emit(Op.Unreachable),
            spirv.SelectionOp: self._selection,
            spirv.LoopOp: self._loop,
        }

    def _emit(self, opcode: int, *words: int) -> None:
        self.code.append([opcode, *words])

    def _note(self, op: Operation, start: int) -> None:
        """What was written from `start` on is what `op` became, but for what ops inside did."""
        if self.origins is not None:
            for words in self.code[start:]:
                self.origins.setdefault(id(words), op)

    def write(self, op: spirv.FuncOp) -> None:
        """Append the instructions of one function to `code`."""
        declarations = self.declarations
        declarations.here = op
        type = op.function_type
        results = type.outputs.data
        result = declarations.type(results[0]) if results else declarations.void()
        control = op.function_control.data
        function_type = declarations.type(type)
        self._emit(Op.Function, result, self.symbols.id(op.sym_name.data), control, function_type)
        for argument in op.entry.args:
            self._emit(Op.FunctionParameter, declarations.type(argument.type), self._id(argument))
        self._labels, self._phi_code = {}, {}
        self._start(op.entry, phis=False)
        for nested in op.walk():
            if isinstance(nested, spirv.VariableOp):
                self._variable(nested, op.entry)
        self._body(op.entry)
        for block in list(op.body.blocks)[1:]:
            self._start(block)
            self._body(block)
        self._emit(Op.FunctionEnd)

    def _variable(self, op: spirv.VariableOp, entry: Block) -> None:
        self.declarations.here = op
        words = [op.pointer.type.storage_class.value]
        if op.initializer is not None:
            if op.parent is not entry:
                raise refuse(
                    op,
                    "a variable with an initializer must stand in the function's first block, "
                    "for it is initialized once",
                    "store the value where the variable stands",
                )
            words.append(self._id(op.initializer))
        type = self.declarations.type(op.pointer.type)
        id = self._id(op.pointer)
        self._emit(Op.Variable, type, id, *words)
        self._note(op, len(self.code) - 1)
        self.declarations.decorate_op(op, id)

    def _id(self, value: SSAValue) -> int:
        number = self._values.get(id(value))
        if number is None:
            number = self._values[id(value)] = self._new_value(value)
            self.declarations.name_value(number, value.name_hint)
        return number

    def _new_value(self, value: SSAValue) -> int:
        match value.owner:
            case spirv.ConstantOp() as op:
                self.declarations.here = op
                return self.declarations.constant(op.value, op.constant.type)
            case spirv.UndefOp() as op:
                return self.declarations.undefined(op.result.type)
            case spirv.AddressOfOp() as op:
                return self.symbols.referenced(op.variable, op)
            case spirv.ReferenceOfOp() as op:
                return self.symbols.referenced(op.spec_const, op)
            case _:
                return self.declarations.new_id()

    def _label(self, block: Block) -> int:
        id = self._labels.get(block)
        if id is None:
            id = self._labels[block] = self.declarations.new_id()
        return id

    def _start(self, block: Block, *, phis: bool = True) -> None:
        self._current = self._label(block)
        self._emit(Op.Label, self._current)
        if phis:
            self.code += self._phis(block)

    def _phis(self, block: Block) -> list[list[int]]:
        """The `OpPhi` of a block's arguments; branches append their value and label to them."""
        phis = self._phi_code.get(block)
        if phis is None:
            phis = self._phi_code[block] = [
                [Op.Phi, self.declarations.type(argument.type), self._id(argument)]
                for argument in block.args
            ]
        return phis

    def _enter(self, block: Block, arguments: Sequence[SSAValue]) -> int:
        """Note an edge from the current block to `block`; returns the label to branch to."""
        label = self._label(block)
        for phi, argument in zip(self._phis(block), arguments, strict=True):
            phi += (self._id(argument), self._current)
        return label

    def _body(self, block: Block, merge: Callable[[], object] | None = None) -> None:
        """Write a block's ops; `merge` writes what goes before a header's terminator."""
        last = block.last_op
        for op in block.ops:
            if op is last and merge is not None:
                merge()
            start = len(self.code)
            handler = self._handlers.get(type(op))
            if handler is not None:
                handler(op)
            elif isinstance(op, base.SpirvOp):
                self._instruction(op)
            else:
                raise refuse(op, f"'{op.name}' is no op of the spirv dialect")
            self._note(op, start)

    def _instruction(self, op: base.SpirvOp) -> None:
        info = op.INFO
        self.declarations.here = op
        words: list[int] = [info.opcode]
        result = 0
        if op.results:
            words.append(self.declarations.type(op.results[0].type))
            # Operands first: what they declare must not depend on the result's place.
            operands = self._operand_words(op, info)
            result = self._id(op.results[0])
            words.append(result)
        else:
            operands = self._operand_words(op, info)
        if info.instruction_set is base.InstructionSet.GLSL:
            if self.glsl is None:
                self.glsl = self.declarations.new_id()
            words[0] = Op.ExtInst
            words += (self.glsl, info.opcode)
        words += operands
        self.code.append(words)
        if op.attributes and result:
            self.declarations.decorate_op(op, result)

    def _operand_words(self, op: base.SpirvOp, info: base.Instruction) -> list[int]:
        words: list[int] = []
        for field in info.layout:
            match field:
                case base.Operand(index):
                    words.append(self._id(op.operands[index]))
                case base.Operands(start):
                    words += [self._id(operand) for operand in op.operands[start:]]
                case base.EnumerantId(name):
                    words.append(self.declarations.integer(_enumerant(op, name)))
                case base.EnumerantWord(name):
                    words.append(_enumerant(op, name))
                case base.IntegerWords(name):
                    words += _integers(op, name)
                case base.TypeWord(name):
                    words.append(self.declarations.type(op.properties[name]))
                case base.MemoryOperands(name):
                    words += _memory_operands(op, name)
        return words

    def _call(self, op: spirv.FunctionCallOp) -> None:
        self.declarations.here = op
        types = op.results.types
        type = self.declarations.type(types[0]) if types else self.declarations.void()
        callee = self.symbols.id(op.callee.root_reference.data)
        arguments = [self._id(argument) for argument in op.arguments]
        id = self._id(op.results[0]) if types else self.declarations.new_id()
        self._emit(Op.FunctionCall, type, id, callee, *arguments)

    def _branch(self, op: spirv.BranchOp) -> None:
        self._emit(Op.Branch, self._enter(op.target, op.block_arguments))

    def _branch_conditional(self, op: spirv.BranchConditionalOp) -> None:
        condition = self._id(op.condition)
        true_label = self._enter(op.true_target, op.true_target_operands)
        if op.false_target is op.true_target:
            false_label = true_label
        else:
            false_label = self._enter(op.false_target, op.false_target_operands)
        weights = [literal_word(weight) for weight in op.branch_weights or ()]
        self._emit(Op.BranchConditional, condition, true_label, false_label, *weights)

    def _return_value(self, op: spirv.ReturnValueOp) -> None:
        self._emit(Op.ReturnValue, self._id(op.value))

    def _selection(self, op: spirv.SelectionOp) -> None:
        header, *blocks = op.body.blocks
        assert isinstance(header.last_op, spirv.BranchConditionalOp), "verified"
        merge = op.merge_block
        control = op.selection_control.data
        self._body(header, lambda: self._emit(Op.SelectionMerge, self._label(merge), control))
        for block in blocks[:-1]:
            self._start(block)
            self._body(block)
        self._leave(op, merge)

    def _loop(self, op: spirv.LoopOp) -> None:
        entry, header, *blocks = op.body.blocks
        jump = entry.last_op
        assert isinstance(jump, spirv.BranchOp), "verified"
        self._branch(jump)
        self._start(header)
        if any(isinstance(nested, spirv.StructuredOp) for nested in header.ops):
            # The header must end in the loop's own merge: what it nests gets its own block.
            rest = self._loop_merge(op, split=True)
            self._emit(Op.Branch, rest)
            self._emit(Op.Label, rest)
            self._current = rest
            self._body(header)
        else:
            self._body(header, lambda: self._loop_merge(op, split=False))
        for block in blocks[:-1]:
            self._start(block)
            self._body(block)
        self._leave(op, op.merge_block)

    def _loop_merge(self, op: spirv.LoopOp, *, split: bool) -> int:
        """Write `OpLoopMerge`; returns the label for the rest of a header that is split."""
        merge = self._label(op.merge_block)
        if split and op.continue_block is op.header:
            rest = target = self.declarations.new_id()
        else:
            target = self._label(op.continue_block)
            rest = self.declarations.new_id() if split else 0
        self._emit(Op.LoopMerge, merge, target, op.loop_control.data)
        return rest

    def _leave(self, op: spirv.StructuredOp, merge: Block) -> None:
        """Continue after a structured op in its merge block, and give its results their ids."""
        self._start(merge)
        last = merge.last_op
        assert isinstance(last, spirv.MergeOp)
        for result, value in zip(op.results, last.values, strict=True):
            number = self._values[id(result)] = self._id(value)
            self.declarations.name_value(number, result.name_hint)


def _enumerant(op: Operation, name: str) -> int:
    attribute = op.properties[name]
    assert isinstance(attribute, EnumerantAttr | FlagsAttr)
    return int(cast("base.AnyEnumerant | base.AnyFlags", attribute).data)


def _integers(op: Operation, name: str) -> list[int]:
    attribute = op.properties[name]
    assert isinstance(attribute, ArrayAttr)
    numbers = map(spirv.number_of, cast("ArrayAttr[Attribute]", attribute))
    return [int(number[0]) & 0xFFFFFFFF for number in numbers if number is not None]


def _memory_operands(op: Operation, name: str) -> list[int]:
    access = op.properties.get(name)
    if not isinstance(access, spirv.MemoryAccessAttr):
        return []
    alignment = op.properties.get("alignment")
    if isinstance(alignment, IntegerAttr):
        return [int(access.data), literal_word(cast("IntegerAttr", alignment))]
    return [int(access.data)]


_WRITTEN_ELSEWHERE: tuple[type[Operation], ...] = (
    spirv.ConstantOp,
    spirv.UndefOp,
    spirv.AddressOfOp,
    spirv.ReferenceOfOp,
    spirv.VariableOp,
    spirv.MergeOp,
)
"""Ops without an instruction where they stand."""
