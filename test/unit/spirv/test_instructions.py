"""Every op of the instruction table, through text, binary, validator and back."""

from __future__ import annotations

import pytest
from unit.spirv.every_instruction import examples
from unit.spirv.kernels import parse

from ingot.compiler.dialects.spirv import base
from ingot.targets.spirv import deserialize, serialize, validate


def environment(cls: type[base.SpirvOp]) -> str:
    # Vulkan 1.1 does not have the memory model that the matrix extension builds on.
    return "vulkan1.3" if "CooperativeMatrix" in cls.name else "vulkan1.1"


@pytest.mark.parametrize("cls", base.INSTRUCTION_OPS, ids=lambda cls: cls.name)
def test_op_is_printed_written_validated_and_read(cls: type[base.SpirvOp]) -> None:
    for module in examples(cls):
        module.verify()
        assert any(isinstance(op, cls) for op in module.walk())
        text = str(module)
        assert str(parse(text)) == text
        binary = serialize(module)
        validate(binary, environment(cls))
        again = deserialize(binary)
        assert [type(op) for op in again.walk() if isinstance(op, cls)]
        assert serialize(again) == binary


def test_no_two_rows_share_an_encoding_or_a_name() -> None:
    rows = [(op.INFO.instruction_set, op.INFO.opcode) for op in base.INSTRUCTION_OPS]
    assert len(set(rows)) == len(rows)
    assert len({op.name for op in base.INSTRUCTION_OPS}) == len(rows)
