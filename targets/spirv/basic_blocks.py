"""A function's instructions as basic blocks, and who defines and uses which id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.ir import Attribute

from ingot.compiler.dialects.spirv import base
from ingot.targets.spirv.declaration_reader import DeclarationReader
from ingot.targets.spirv.decoding import Raw
from ingot.targets.spirv.grammar import Op

_TERMINATORS = frozenset(
    {Op.Branch, Op.BranchConditional, Op.Return, Op.ReturnValue, Op.Unreachable}
)
_MERGES = frozenset({Op.LoopMerge, Op.SelectionMerge})


Phi = tuple[int, Attribute, dict[int, int]]
"""Id, type, and the value for each label."""


@dataclass
class BasicBlock:
    """The instructions of one label, the `order`-th of its function."""

    label: int
    order: int
    phis: list[Phi] = field(default_factory=list["Phi"])
    body: list[Raw] = field(default_factory=list[Raw])
    merge: Raw | None = None
    terminator: Raw | None = None

    @property
    def end(self) -> Raw:
        assert self.terminator is not None
        return self.terminator

    @property
    def targets(self) -> tuple[int, ...]:
        """The labels that the terminator may go to."""
        match self.end.opcode:
            case Op.Branch:
                return self.end.words[:1]
            case Op.BranchConditional:
                return self.end.words[1:3]
            case _:
                return ()

    @property
    def named(self) -> tuple[int, ...]:
        """The targets, and the labels of the merge instruction."""
        if self.merge is None:
            return self.targets
        return self.targets + self.merge.words[: 2 if self.is_loop_header else 1]

    @property
    def is_loop_header(self) -> bool:
        return self.merge is not None and self.merge.opcode == Op.LoopMerge


@cache
def instruction_ops() -> dict[tuple[base.InstructionSet, int], type[base.SpirvOp]]:
    return {(op.INFO.instruction_set, op.INFO.opcode): op for op in base.INSTRUCTION_OPS}


class BasicBlocks:
    """The blocks of one function by label, in the binary's order.

    `instructions` run from OpFunction to OpFunctionEnd. Raises MalformedSpirv where they are not
    whole blocks.
    """

    def __init__(self, declared: DeclarationReader, instructions: list[Raw]) -> None:
        self.blocks: dict[int, BasicBlock] = {}
        self.parameters: list[tuple[int, int]] = []
        """Type and id."""
        self.definitions: dict[int, list[int]] = {}
        """Ids that each block defines."""
        self.uses: dict[int, set[int]] = {}
        """Blocks that use each id; the use of an OpPhi counts for the block it comes from."""
        self._declared = declared
        self._header = instructions[0]
        self._split(instructions[1:-1])

    def __getitem__(self, label: int) -> BasicBlock:
        return self.blocks[label]

    def reached(
        self, raw: Raw, starts: Sequence[int], stops: Sequence[int], forbidden: Sequence[int]
    ) -> list[int]:
        """The labels reached from `starts` without passing `stops`, in the binary's order.

        Raises where one of them is `forbidden`: a branch out of the construct.
        """
        found: set[int] = set()
        pending = [label for label in starts if label not in stops]
        while pending:
            label = pending.pop()
            if label in found:
                continue
            if label in forbidden:
                raise raw.error(f"a branch to block {label} leaves its loop or selection midway")
            found.add(label)
            pending += [target for target in self[label].named if target not in stops]
        return sorted(found, key=lambda label: self[label].order)

    def _split(self, instructions: list[Raw]) -> None:
        block: BasicBlock | None = None
        for raw in instructions:
            if raw.opcode == Op.FunctionParameter and not self.blocks:
                type, id = raw.words
                self._declared.define(raw, id)
                self.parameters.append((type, id))
            elif raw.opcode == Op.Label:
                if block is not None:
                    raise raw.error("the block before it has no terminator")
                (label,) = raw.words
                self._declared.define(raw, label)
                block = self.blocks[label] = BasicBlock(label, len(self.blocks))
            elif block is None:
                raise raw.error("an instruction outside a block")
            else:
                self._append(block, raw)
                if block.terminator is not None:
                    block = None
        if block is not None:
            raise self._header.error("the last block has no terminator")
        self._check_labels()

    def _append(self, block: BasicBlock, raw: Raw) -> None:
        if block.merge is not None and raw.opcode not in _TERMINATORS:
            raise raw.error("a merge instruction must stand before the terminator")
        if raw.opcode == Op.Phi:
            type, id, *pairs = raw.words
            if block.body or len(pairs) % 2:
                raise raw.error("malformed, or not at the start of its block")
            incoming = dict(zip(pairs[1::2], pairs[::2], strict=True))
            block.phis.append((id, self._declared.type(raw, type), incoming))
            self._note_definition(raw, block, id)
            for label, value in incoming.items():
                self.uses.setdefault(value, set()).add(label)
            return
        if raw.opcode in _MERGES:
            block.merge = raw
            return
        if raw.opcode in _TERMINATORS:
            block.terminator = raw
        else:
            block.body.append(raw)
        result, used = _ids(raw)
        for id in used:
            self.uses.setdefault(id, set()).add(block.label)
        if result is not None:
            self._note_definition(raw, block, result)

    def _note_definition(self, raw: Raw, block: BasicBlock, id: int) -> None:
        self._declared.define(raw, id)
        self.definitions.setdefault(block.label, []).append(id)

    def _check_labels(self) -> None:
        """Every label that is named must be a block of the function."""
        for block in self.blocks.values():
            for label in block.named:
                if label not in self.blocks:
                    raise block.end.error(f"{label} is not a block of the function")


@cache
def has_result(cls: type[base.SpirvOp]) -> bool:
    return bool(cls.get_irdl_definition().results)


def _ids(raw: Raw) -> tuple[int | None, Sequence[int]]:
    """The id that a body instruction or terminator defines, and the ids it uses."""
    words = raw.words
    match raw.opcode:
        case Op.Branch | Op.Return | Op.Unreachable:
            return None, ()
        case Op.BranchConditional | Op.ReturnValue:
            return None, words[:1]
        case Op.Variable | Op.FunctionCall:
            return words[1], words[3:]
        case Op.Undef:
            return words[1], ()
        case Op.ExtInst:
            return words[1], words[4:]
        case opcode:
            cls = instruction_ops().get((base.InstructionSet.CORE, opcode))
            if cls is None:
                raise raw.error("an instruction that is not known here")
            result = words[1] if has_result(cls) else None
            return result, _used_ids(cls, words[2:] if result is not None else words)


def _used_ids(cls: type[base.SpirvOp], words: Sequence[int]) -> list[int]:
    used: list[int] = []
    position = 0
    for item in cls.INFO.layout:
        match item:
            case base.Operand():
                used += words[position : position + 1]
                position += 1
            case base.Operands():
                used += words[position:]
                position = len(words)
            case base.IntegerWords() | base.MemoryOperands():
                position = len(words)
            case _:
                position += 1
    return used
