"""From a function's instructions back to structured regions.

A function is a list of basic blocks. A block that ends in `OpSelectionMerge` becomes a
`spirv.mlir.selection` at the end of the op list it stands in; a branch to a block that holds
`OpLoopMerge` becomes a `spirv.mlir.loop`. The instructions of a merge block follow the structured
op, in the same op list. Values defined inside and used after it become results.

A branch out of the middle of a construct (a `break` inside an `if`) has no region form in the
dialect and is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import base
from ingot.targets.spirv.basic_blocks import (
    BasicBlock,
    BasicBlocks,
    has_result,
    instruction_ops,
)
from ingot.targets.spirv.declaration_reader import DeclarationReader
from ingot.targets.spirv.decoding import Raw, enumerant, flags
from ingot.targets.spirv.grammar import Op


class _Scope:
    """The blocks of one region, made when they are first named."""

    def __init__(self, reader: FunctionReader, labels: Iterable[int]) -> None:
        self.reader = reader
        self.labels = frozenset(labels)
        self.blocks: dict[int, Block] = {}

    def block(self, raw: Raw, label: int) -> Block:
        """The block of `label`; raises where it lies outside the construct."""
        if label not in self.labels:
            raise raw.error(f"a branch to block {label} leaves its loop or selection midway")
        block = self.blocks.get(label)
        if block is None:
            block = self.blocks[label] = self.reader.new_block(label)
        return block


class FunctionReader:
    """Rebuilds one function; `instructions` run from OpFunction to OpFunctionEnd."""

    def __init__(self, module: DeclarationReader, instructions: list[Raw]) -> None:
        self.module = module
        self.header = instructions[0]
        self.blocks = BasicBlocks(module, instructions)
        self.values: dict[int, SSAValue] = {}
        self.finished: set[int] = set()
        self.open_labels: list[int] = []
        self.prefix: list[Operation] = []
        """Constants and addresses, which stand before the function's first op."""

    def read(self) -> spirv.FuncOp:
        module, header = self.module, self.header
        result, id, control, _ = header.words
        name, type_id = module.functions[id]
        inputs, outputs = module.function_types[type_id]
        declared = [] if result in module.voids else [module.type(header, result)]
        if declared != outputs or len(self.blocks.parameters) != len(inputs):
            raise header.error("the function does not agree with its type")
        if not self.blocks.blocks:
            raise header.error("a function without blocks is not supported")
        region = Region()
        labels = list(self.blocks.blocks)
        scope = _Scope(self, labels)
        entry = Block(arg_types=inputs)
        scope.blocks[labels[0]] = entry
        for argument, parameter in zip(entry.args, self.blocks.parameters, strict=True):
            argument_type, argument_id = parameter
            if module.types.get(argument_type) != argument.type:
                raise header.error("a parameter does not agree with the function's type")
            self._bind(argument_id, argument)
        self._fill_region(region, scope, labels)
        first = entry.first_op
        assert first is not None
        entry.insert_ops_before(self.prefix, first)
        function_control = flags(header, spirv.FunctionControl, control)
        return spirv.FuncOp(name, (inputs, outputs), region, function_control)

    def new_block(self, label: int) -> Block:
        """A block whose arguments are the values of the label's OpPhi."""
        phis = self.blocks[label].phis
        block = Block(arg_types=[type for _, type, _ in phis])
        for argument, (id, _, _) in zip(block.args, phis, strict=True):
            self._bind(id, argument)
        return block

    # Values

    def _bind(self, id: int, value: SSAValue) -> None:
        self.values[id] = value
        self._give_name(id, value)

    def _give_name(self, id: int, value: SSAValue) -> None:
        name = self.module.names.get(id)
        if name is not None and SSAValue.is_valid_name(name):
            value.name_hint = name

    def value(self, raw: Raw, id: int) -> SSAValue:
        """The value of an id: an instruction's, or a constant or address made for it."""
        value = self.values.get(id)
        if value is None:
            op = self._global_value(id)
            if op is None:
                raise raw.error(f"id {id} is used before it is defined")
            self.prefix.append(op)
            value = self.values[id] = op.results[0]
            if not isinstance(op, spirv.AddressOfOp | spirv.ReferenceOfOp):
                self._give_name(id, value)
        return value

    def _global_value(self, id: int) -> Operation | None:
        module = self.module
        if id in module.constants:
            return spirv.ConstantOp(*module.constants[id])
        if id in module.undefined:
            return spirv.UndefOp(module.undefined[id])
        if id in module.globals:
            return spirv.AddressOfOp(module.globals[id])
        if id in module.spec_constants:
            constant = module.spec_constants[id]
            default = constant.default_value
            assert isinstance(default, spirv.TypedAttribute)
            return spirv.ReferenceOfOp(constant.sym_name.data, default.get_type())
        return None

    def _edge(self, raw: Raw, source: int, target: int) -> list[SSAValue]:
        """The values that the branch from `source` hands to the arguments of `target`."""
        arguments: list[SSAValue] = []
        for id, _, incoming in self.blocks[target].phis:
            if source not in incoming:
                raise raw.error(f"the OpPhi {id} has no value for block {source}")
            arguments.append(self.value(raw, incoming[source]))
        return arguments

    # Regions

    def _fill_region(self, region: Region, scope: _Scope, labels: Sequence[int]) -> None:
        """Add the blocks of `labels`, in the binary's order, that no nested construct takes."""
        for label in labels:
            if label in self.finished:
                continue
            block = scope.block(self.blocks[label].end, label)
            region.add_block(block)
            self._fill(label, block, scope)

    def _fill(self, label: int, block: Block, scope: _Scope, in_loop_header: bool = False) -> None:
        """Put the instructions of `label`, and of the constructs that follow it, into `block`."""
        while True:
            basic = self.blocks[label]
            if label in self.finished:
                raise basic.end.error(f"block {label} is entered in two ways")
            self.finished.add(label)
            for raw in basic.body:
                block.add_op(self._operation(raw))
            end = basic.end
            (target, *_) = basic.targets or (0,)
            if basic.merge is not None and not in_loop_header:
                if basic.is_loop_header:
                    raise end.error("a loop's header must be entered by an OpBranch")
                label = self._selection(basic, block)
            elif end.opcode == Op.Branch and self._enters_loop(target):
                label = self._loop(basic, target, block)
            else:
                block.add_op(self._terminator(basic, scope))
                return
            in_loop_header = False
            if label not in scope.labels:
                raise end.error(f"the merge block {label} lies outside its construct")

    def _enters_loop(self, target: int) -> bool:
        return self.blocks[target].is_loop_header and target not in self.open_labels

    def _selection(self, basic: BasicBlock, outer: Block) -> int:
        """Add the selection that `basic` heads to `outer`; returns its merge label."""
        raw = basic.merge
        assert raw is not None
        merge, control = raw.words
        if basic.end.opcode != Op.BranchConditional:
            raise basic.end.error("a selection must end in an OpBranchConditional")
        labels = self.blocks.reached(raw, basic.targets, [merge], self.open_labels)
        scope = _Scope(self, [*labels, merge])
        region, header = Region(), Block()
        region.add_block(header)
        self.open_labels.append(merge)
        header.add_op(self._terminator(basic, scope))
        self._fill_region(region, scope, labels)
        self.open_labels.pop()
        results = self._close(basic.end, region, scope, labels, merge)
        op = spirv.SelectionOp(
            region,
            flags(raw, spirv.SelectionControl, control),
            [self.values[id].type for id in results],
        )
        return self._leave(op, results, outer, merge)

    def _loop(self, before: BasicBlock, header_label: int, outer: Block) -> int:
        """Add the loop of `header_label` to `outer`; returns its merge label."""
        header = self.blocks[header_label]
        raw = header.merge
        assert raw is not None
        merge, continue_label, control = raw.words
        stops = [merge, header_label]
        starts = [*header.targets, continue_label]
        labels = self.blocks.reached(raw, starts, stops, self.open_labels)
        scope = _Scope(self, [*labels, header_label, merge])
        header_block = scope.block(raw, header_label)
        arguments = self._edge(before.end, before.label, header_label)
        region = Region([Block([spirv.BranchOp(header_block, arguments)]), header_block])
        self.open_labels += [merge, header_label, continue_label]
        self._fill(header_label, header_block, scope, in_loop_header=True)
        self._fill_region(region, scope, labels)
        del self.open_labels[-3:]
        self._move_continue_last(raw, region, scope, continue_label)
        results = self._close(header.end, region, scope, [header_label, *labels], merge)
        op = spirv.LoopOp(
            region,
            flags(raw, spirv.LoopControl, control),
            [self.values[id].type for id in results],
        )
        return self._leave(op, results, outer, merge)

    def _move_continue_last(self, raw: Raw, region: Region, scope: _Scope, label: int) -> None:
        block = scope.blocks.get(label)
        if block is None or block.parent is not region:
            raise raw.error(f"the continue block {label} is not one of the loop's own")
        if region.blocks.last is not block:
            region.detach_block(block)
            region.add_block(block)

    def _close(
        self, raw: Raw, region: Region, scope: _Scope, labels: Sequence[int], merge: int
    ) -> list[int]:
        """End a region with its merge block; returns the ids that are used after it."""
        merge_block = scope.block(raw, merge)
        region.add_block(merge_block)
        if any(block.parent is not region for block in scope.blocks.values()):
            raise raw.error("a branch enters the middle of a nested loop or selection")
        inside = set(labels)
        escaping = [id for id, _, _ in self.blocks[merge].phis]
        for label in labels:
            for id in self.blocks.definitions.get(label, ()):
                if self.blocks.uses.get(id, set()) - inside:
                    escaping.append(id)
        merge_block.add_op(spirv.MergeOp([self.value(raw, id) for id in escaping]))
        return escaping

    def _leave(
        self, op: spirv.StructuredOp, results: Sequence[int], outer: Block, merge: int
    ) -> int:
        outer.add_op(op)
        for id, result in zip(results, op.results, strict=True):
            self._bind(id, result)
        return merge

    def _terminator(self, basic: BasicBlock, scope: _Scope) -> Operation:
        raw = basic.end
        match raw.opcode, raw.words:
            case Op.Branch, (target,):
                block = scope.block(raw, target)
                return spirv.BranchOp(block, self._edge(raw, basic.label, target))
            case Op.BranchConditional, (condition, true_label, false_label, *weights):
                if len(weights) not in (0, 2):
                    raise raw.error("there are two branch weights, or none")
                return spirv.BranchConditionalOp(
                    self.value(raw, condition),
                    scope.block(raw, true_label),
                    scope.block(raw, false_label),
                    self._edge(raw, basic.label, true_label),
                    self._edge(raw, basic.label, false_label),
                    (weights[0], weights[1]) if weights else None,
                )
            case Op.Return, ():
                return spirv.ReturnOp()
            case Op.ReturnValue, (value,):
                return spirv.ReturnValueOp(self.value(raw, value))
            case Op.Unreachable, ():
                return spirv.UnreachableOp()
            case _:
                raise raw.error("a malformed terminator")

    # Instructions

    def _operation(self, raw: Raw) -> Operation:
        match raw.opcode:
            case Op.Variable:
                return self._variable(raw)
            case Op.FunctionCall:
                return self._call(raw)
            case Op.Undef:
                type, id = raw.words
                undefined = spirv.UndefOp(self.module.type(raw, type))
                self._bind(id, undefined.result)
                return undefined
            case Op.ExtInst:
                type, id, instruction_set, opcode, *rest = raw.words
                if instruction_set != self.module.glsl:
                    raise raw.error("an instruction of a set that is not supported")
                cls = instruction_ops().get((base.InstructionSet.GLSL, opcode))
                if cls is None:
                    raise raw.error(f"GLSL.std.450 instruction {opcode} is not known here")
                return self._row(raw, cls, (type, id), rest)
            case opcode:
                cls = instruction_ops().get((base.InstructionSet.CORE, opcode))
                if cls is None:
                    raise raw.error("an instruction that is not known here")
                if has_result(cls):
                    type, id, *rest = raw.words
                    return self._row(raw, cls, (type, id), rest)
                return self._row(raw, cls, None, list(raw.words))

    def _row(
        self, raw: Raw, cls: type[base.SpirvOp], result: tuple[int, int] | None, words: list[int]
    ) -> Operation:
        """An op of the instruction table, its words read by the row's layout."""
        operands: dict[int, SSAValue] = {}
        properties: dict[str, Attribute] = {}
        position = 0
        for item in cls.INFO.layout:
            match item:
                case base.Operand(index):
                    operands[index] = self.value(raw, words[position])
                    position += 1
                case base.Operands(start):
                    for index, id in enumerate(words[position:], start):
                        operands[index] = self.value(raw, id)
                    position = len(words)
                case base.EnumerantId(name, attribute):
                    number = self.module.integer(raw, words[position])
                    properties[name] = _enumerant_attribute(raw, attribute, number)
                    position += 1
                case base.EnumerantWord(name, attribute):
                    properties[name] = _enumerant_attribute(raw, attribute, words[position])
                    position += 1
                case base.IntegerWords(name):
                    numbers = [w - (w >> 31 << 32) for w in words[position:]]
                    properties[name] = base.i32_array(numbers)
                    position = len(words)
                case base.TypeWord(name):
                    properties[name] = self.module.type(raw, words[position])
                    position += 1
                case base.MemoryOperands(name):
                    properties |= _memory_properties(raw, name, words[position:])
                    position = len(words)
        if position != len(words):
            raise raw.error(f"{len(words) - position} words too many")
        op = cls.create(
            operands=[operands[i] for i in range(len(operands))],
            result_types=[] if result is None else [self.module.type(raw, result[0])],
            properties=properties,
        )
        if result is not None:
            self._bind(result[1], op.results[0])
            op.attributes |= self.module.decoration_attributes(raw, result[1])
        return op

    def _variable(self, raw: Raw) -> Operation:
        type_id, id, storage, *initializer = raw.words
        type = self.module.type(raw, type_id)
        if not isinstance(type, spirv.PointerType) or type.storage_class != storage:
            raise raw.error("the pointer type has another storage class")
        if len(initializer) > 1:
            raise raw.error("a variable has one initializer")
        initial = self.value(raw, initializer[0]) if initializer else None
        op = spirv.VariableOp(type.pointee, initial)
        self._bind(id, op.pointer)
        op.attributes |= self.module.decoration_attributes(raw, id)
        return op

    def _call(self, raw: Raw) -> Operation:
        type, id, callee, *arguments = raw.words
        if callee not in self.module.functions:
            raise raw.error(f"id {callee} is not a function")
        name, _ = self.module.functions[callee]
        results = [] if type in self.module.voids else [self.module.type(raw, type)]
        op = spirv.FunctionCallOp(name, [self.value(raw, a) for a in arguments], results)
        if results:
            self._bind(id, op.results[0])
            op.attributes |= self.module.decoration_attributes(raw, id)
        return op


def _enumerant_attribute(
    raw: Raw, attribute: type[base.AnyEnumerant] | type[base.AnyFlags], number: int
) -> Attribute:
    if issubclass(attribute, base.FlagsAttr):
        return attribute(flags(raw, attribute.ENUM, number))
    return attribute(enumerant(raw, attribute.ENUM, number))


def _memory_properties(raw: Raw, name: str, words: Sequence[int]) -> dict[str, Attribute]:
    if not words:
        return {}
    access = flags(raw, spirv.MemoryAccess, words[0])
    properties: dict[str, Attribute] = {name: spirv.MemoryAccessAttr(access)}
    rest = words[1:]
    if spirv.MemoryAccess.Aligned in access:
        (alignment,) = rest
        properties["alignment"] = IntegerAttr(alignment, i32)
    elif rest:
        raise raw.error("an alignment without Aligned")
    return properties
