"""SPIR-V binaries: written from the `spirv` dialect, read back, validated and disassembled.

    binary = serialize(module)            # a spirv.module op to bytes
    validate(binary, "vulkan1.1")         # libSPIRV-Tools, in process; raises InvalidSpirv
    text = disassemble(binary)
    module = deserialize(binary)          # raises MalformedSpirv; serialize gives the same bytes

`deserialize` takes what `serialize` writes and other producers' compute shaders as far as the
dialect can express them: structured control flow, no images. Serializing what it read from another
producer gives the same program with this writer's ids and order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingot.targets.spirv.errors import (
    InvalidSpirv,
    MalformedSpirv,
    SpirvError,
    SpirvToolsMissing,
)
from ingot.targets.spirv.tools import assemble, disassemble, tools_version, validate
from ingot.targets.spirv.writer import serialize, serialize_with_origins

if TYPE_CHECKING:
    from ingot.compiler.dialects.spirv import ModuleOp

__all__ = [
    "InvalidSpirv",
    "MalformedSpirv",
    "SpirvError",
    "SpirvToolsMissing",
    "assemble",
    "deserialize",
    "disassemble",
    "serialize",
    "serialize_with_origins",
    "tools_version",
    "validate",
]


def deserialize(binary: bytes) -> ModuleOp:
    """The module in `binary`. Raises MalformedSpirv, and nothing else, for whatever is wrong."""
    # The reader is large, and a compilation only writes.
    from ingot.targets.spirv import reader

    return reader.deserialize(binary)
