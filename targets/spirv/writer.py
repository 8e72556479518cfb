"""From the `spirv` dialect to words.

One walk over the module. Constants, undefined values and addresses of globals are no instructions
of their own: they become module-level ids where they are first used, so it does not matter where
or how often an op stands. Variables of a function go to its start. A selection's header continues
the block it stands in; a loop starts a new one. Block arguments become `OpPhi`, whose operands are
filled in as the branches are written.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Block, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import base, required_vce
from ingot.compiler.dialects.spirv.enums import EnumerantAttr, FlagsAttr
from ingot.targets.spirv.declarations import Declarations, scalar_words
from ingot.targets.spirv.grammar import (
    GENERATOR,
    GLSL_SET,
    MAGIC,
    UNIT_DECORATIONS,
    Op,
    string_words,
)


def serialize(module: spirv.ModuleOp) -> bytes:
    """The binary of `module`, little-endian; equal modules give equal bytes.

    The version, capabilities and extensions are those of the module's `#spirv.vce` and, after
    them, whatever else the module uses. Raises Refusal for what SPIR-V cannot express.
    """
    return _ModuleWriter(module).write()


class _ModuleWriter:
    def __init__(self, module: spirv.ModuleOp) -> None:
        self.module = module
        self.declarations = Declarations(module)
        self.values: dict[SSAValue, int] = {}
        self.symbols: dict[str, int] = {}
        self.functions: list[list[int]] = []
        self.glsl: int | None = None
        # Of the function being written: the label of the current block, and of every block.
        self.label = 0
        self.labels: dict[Block, int] = {}
        self.phis: dict[Block, list[list[int]]] = {}

    def write(self) -> bytes:
        ops = list(self.module.body.block.ops)
        for op in ops:
            self.declarations.here = op
            if isinstance(op, spirv.SpecConstantOp):
                self._spec_constant(op)
            elif isinstance(op, spirv.GlobalVariableOp):
                self._global_variable(op)
        for op in ops:
            if isinstance(op, spirv.FuncOp):
                self._function(op)
        entry_points = [self._entry_point(op) for op in ops if isinstance(op, spirv.EntryPointOp)]
        modes = [self._mode(op) for op in ops if isinstance(op, spirv.ExecutionModeOp)]
        return self._assemble(entry_points, modes)

    def _assemble(self, entry_points: list[list[int]], modes: list[list[int]]) -> bytes:
        declarations = self.declarations
        vce = declared_vce(self.module)
        code: list[list[int]] = [[Op.Capability, c] for c in vce.capabilities]
        code += [[Op.Extension, *string_words(e)] for e in vce.extensions]
        if self.glsl is not None:
            code.append([Op.ExtInstImport, self.glsl, *string_words(GLSL_SET)])
        models = self.module.addressing_model.data, self.module.memory_model.data
        code.append([Op.MemoryModel, *models])
        for section in (
            entry_points,
            modes,
            declarations.debug_code(),
            declarations.annotations,
            declarations.code,
            self.functions,
        ):
            code += section
        words = array("I", (MAGIC, 1 << 16 | vce.minor.data << 8, GENERATOR, declarations.bound, 0))
        for instruction in code:
            words.append(len(instruction) << 16 | instruction[0])
            words.extend(instruction[1:])
        if sys.byteorder == "big":
            words.byteswap()
        return words.tobytes()

    # Module level

    def _symbol(self, symbol: str) -> int:
        """The id of a function or global by name; functions may come later."""
        id = self.symbols.get(symbol)
        if id is None:
            id = self.symbols[symbol] = self.declarations.new_id()
            self.declarations.name(id, symbol)
        return id

    def _referenced(self, reference: SymbolRefAttr, op: Operation) -> int:
        name = reference.root_reference.data
        if name not in self.symbols:
            raise refuse(op, f"there is no @{name} in the module before its use")
        return self.symbols[name]

    def _spec_constant(self, op: spirv.SpecConstantOp) -> None:
        value = op.default_value
        if not isinstance(value, IntegerAttr | FloatAttr):
            raise refuse(op, f"a specialization constant cannot be {value}")
        number, scalar = value.value.data, value.type
        type, id = self.declarations.type(scalar), self._symbol(op.sym_name.data)
        if scalar == IntegerType(1):
            opcode = Op.SpecConstantTrue if number else Op.SpecConstantFalse
            self.declarations.code.append([opcode, type, id])
        else:
            words = scalar_words(number, scalar)
            self.declarations.code.append([Op.SpecConstant, type, id, *words])
        if op.spec_id is not None:
            self.declarations.decorate(id, spirv.Decoration.SpecId, op.spec_id.value.data)

    def _global_variable(self, op: spirv.GlobalVariableOp) -> None:
        declarations = self.declarations
        type = declarations.type(op.type)
        words = [op.type.storage_class.value]
        if op.initializer is not None:
            words.append(self._referenced(op.initializer, op))
        id = self._symbol(op.sym_name.data)
        declarations.code.append([Op.Variable, type, id, *words])
        if op.descriptor_set is not None and op.binding is not None:
            set_number, binding = op.descriptor_set.value.data, op.binding.value.data
            declarations.decorate(id, spirv.Decoration.DescriptorSet, set_number)
            declarations.decorate(id, spirv.Decoration.Binding, binding)
        if op.built_in is not None:
            built_in = spirv.BuiltIn[op.built_in.data]
            declarations.decorate(id, spirv.Decoration.BuiltIn, built_in)
        self._decorations(op, id)

    def _decorations(self, op: Operation, id: int) -> None:
        for name, attribute in op.attributes.items():
            decoration = UNIT_DECORATIONS.get(name)
            if decoration is not None and isinstance(attribute, UnitAttr):
                self.declarations.decorate(id, decoration)

    def _entry_point(self, op: spirv.EntryPointOp) -> list[int]:
        name = op.fn.root_reference.data
        interface = [self._referenced(symbol, op) for symbol in op.interface]
        words = [self._referenced(op.fn, op), *string_words(name), *interface]
        return [Op.EntryPoint, op.execution_model.data, *words]

    def _mode(self, op: spirv.ExecutionModeOp) -> list[int]:
        values = [value.value.data for value in op.values]
        return [Op.ExecutionMode, self._referenced(op.fn, op), op.execution_mode.data, *values]

    # Functions

    def _emit(self, opcode: int, *words: int) -> None:
        self.functions.append([opcode, *words])

    def _function(self, op: spirv.FuncOp) -> None:
        declarations = self.declarations
        declarations.here = op
        type = op.function_type
        results = type.outputs.data
        result = declarations.type(results[0]) if results else declarations.void()
        control = op.function_control.data
        function_type = declarations.type(type)
        self._emit(Op.Function, result, self._symbol(op.sym_name.data), control, function_type)
        for argument in op.entry.args:
            self._emit(Op.FunctionParameter, declarations.type(argument.type), self._id(argument))
        self.labels, self.phis = {}, {}
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
        self._decorations(op, id)

    def _id(self, value: SSAValue) -> int:
        id = self.values.get(value)
        if id is None:
            id = self.values[value] = self._new_value(value)
            self.declarations.name_value(id, value.name_hint)
        return id

    def _new_value(self, value: SSAValue) -> int:
        match value.owner:
            case spirv.ConstantOp() as op:
                self.declarations.here = op
                return self.declarations.constant(op.value, op.constant.type)
            case spirv.UndefOp() as op:
                return self.declarations.undefined(op.result.type)
            case spirv.AddressOfOp() as op:
                return self._referenced(op.variable, op)
            case spirv.ReferenceOfOp() as op:
                return self._referenced(op.spec_const, op)
            case _:
                return self.declarations.new_id()

    def _label(self, block: Block) -> int:
        id = self.labels.get(block)
        if id is None:
            id = self.labels[block] = self.declarations.new_id()
        return id

    def _start(self, block: Block, *, phis: bool = True) -> None:
        self.label = self._label(block)
        self._emit(Op.Label, self.label)
        if phis:
            self.functions += self._phis(block)

    def _phis(self, block: Block) -> list[list[int]]:
        """The `OpPhi` of a block's arguments; branches append their value and label to them."""
        phis = self.phis.get(block)
        if phis is None:
            phis = self.phis[block] = [
                [Op.Phi, self.declarations.type(argument.type), self._id(argument)]
                for argument in block.args
            ]
        return phis

    def _enter(self, block: Block, arguments: Sequence[SSAValue]) -> int:
        """Note an edge from the current block to `block`; returns the label to branch to."""
        label = self._label(block)
        for phi, argument in zip(self._phis(block), arguments, strict=True):
            phi += (self._id(argument), self.label)
        return label

    def _body(self, block: Block, merge: Callable[[], object] | None = None) -> None:
        """Write a block's ops; `merge` writes what goes before a header's terminator."""
        last = block.last_op
        for op in block.ops:
            if op is last and merge is not None:
                merge()
            handler = _HANDLERS.get(type(op))
            if handler is not None:
                handler(self, op)
            elif isinstance(op, base.SpirvOp):
                self._instruction(op)
            else:
                raise refuse(op, f"'{op.name}' is no op of the spirv dialect")

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
        self.functions.append(words)
        if op.attributes and result:
            self._decorations(op, result)

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
        callee = self._symbol(op.callee.root_reference.data)
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
        weights = [weight.value.data for weight in op.branch_weights or ()]
        self._emit(Op.BranchConditional, condition, true_label, false_label, *weights)

    def _return_value(self, op: spirv.ReturnValueOp) -> None:
        self._emit(Op.ReturnValue, self._id(op.value))

    def _selection(self, op: spirv.SelectionOp) -> None:
        header, *blocks = op.body.blocks
        if not isinstance(header.last_op, spirv.BranchConditionalOp):
            raise refuse(op, "a selection's first block must end in a spirv.BranchConditional")
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
        if not isinstance(jump, spirv.BranchOp) or jump is not entry.first_op:
            raise refuse(op, "a loop's first block must only branch to its header")
        self._branch(jump)
        self._start(header)
        if any(isinstance(nested, spirv.StructuredOp) for nested in header.ops):
            # The header must end in the loop's own merge: what it nests gets its own block.
            rest = self._loop_merge(op, split=True)
            self._emit(Op.Branch, rest)
            self._emit(Op.Label, rest)
            self.label = rest
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
            id = self.values[result] = self._id(value)
            self.declarations.name_value(id, result.name_hint)


def declared_vce(module: spirv.ModuleOp) -> spirv.VersionCapabilitiesExtensionsAttr:
    """What the module's `#spirv.vce` declares, and after it what it forgot."""
    given = module.vce_triple
    if given is None:
        return required_vce(module)
    needed = required_vce(module, given.minor.data)
    capabilities = list(given.capabilities)
    known = set(capabilities)
    for capability in capabilities:
        known.update(spirv.IMPLIED.get(capability, ()))
    capabilities += [c for c in needed.capabilities if c not in known]
    extensions = list(given.extensions)
    extensions += [e for e in needed.extensions if e not in extensions]
    return spirv.VersionCapabilitiesExtensionsAttr.get(given.minor.data, capabilities, extensions)


def _enumerant(op: Operation, name: str) -> int:
    attribute = op.properties[name]
    assert isinstance(attribute, EnumerantAttr | FlagsAttr)
    return int(attribute.data)


def _integers(op: Operation, name: str) -> list[int]:
    attribute = op.properties[name]
    assert isinstance(attribute, ArrayAttr)
    return [
        element.value.data & 0xFFFFFFFF for element in attribute if isinstance(element, IntegerAttr)
    ]


def _memory_operands(op: Operation, name: str) -> list[int]:
    access = op.properties.get(name)
    if not isinstance(access, spirv.MemoryAccessAttr):
        return []
    alignment = op.properties.get("alignment")
    words = [int(access.data)]
    if isinstance(alignment, IntegerAttr):
        words.append(alignment.value.data)
    return words


def _nothing(writer: _ModuleWriter, op: Operation) -> None:
    """Ops that are written elsewhere: at their first use, or at the function's start."""


OpT = TypeVar("OpT", bound=Operation)


def _plain(opcode: Op) -> Callable[[_ModuleWriter, Operation], None]:
    def write(writer: _ModuleWriter, op: Operation) -> None:
        writer._emit(opcode)

    return write


_HANDLERS: dict[type[Operation], Callable[[_ModuleWriter, Operation], None]] = {
    spirv.ConstantOp: _nothing,
    spirv.UndefOp: _nothing,
    spirv.AddressOfOp: _nothing,
    spirv.ReferenceOfOp: _nothing,
    spirv.VariableOp: _nothing,
    spirv.MergeOp: _nothing,
    spirv.FunctionCallOp: _ModuleWriter._call,
    spirv.BranchOp: _ModuleWriter._branch,
    spirv.BranchConditionalOp: _ModuleWriter._branch_conditional,
    spirv.ReturnValueOp: _ModuleWriter._return_value,
    spirv.SelectionOp: _ModuleWriter._selection,
    spirv.LoopOp: _ModuleWriter._loop,
    spirv.ReturnOp: _plain(Op.Return),
    spirv.UnreachableOp: _plain(Op.Unreachable),
}
