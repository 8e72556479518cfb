"""What a SPIR-V module asks of a device, read from its header without a validator.

A driver may crash on a module that needs what was not enabled, or on an entry point that is not
there; so both are checked before it sees the module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import pack, unpack
from typing import Final

from ingot.runtime.errors import KernelError

_MAGIC: Final = 0x07230203
_OP_ENTRY_POINT, _OP_EXECUTION_MODE, _OP_CAPABILITY, _OP_FUNCTION = 15, 16, 17, 54
_OP_VARIABLE, _OP_DECORATE = 59, 71
_BINDING, _DESCRIPTOR_SET = 33, 34
_PRESERVE: Final = 4461  # ExecutionMode SignedZeroInfNanPreserve
_GL_COMPUTE: Final = 5

CAPABILITY_FEATURES: Final[dict[int, str]] = {
    0: "",
    1: "",
    9: "float16",
    11: "int64",
    12: "int64-atomics",
    22: "int16",
    39: "int8",
    61: "subgroup-basic",
    62: "subgroup-vote",
    63: "subgroup-arithmetic",
    64: "subgroup-ballot",
    65: "subgroup-shuffle",
    66: "subgroup-shuffle-relative",
    67: "subgroup-clustered",
    68: "subgroup-quad",
    4433: "storage16",
    4434: "uniform-storage16",
    4441: "variable-pointers",
    4448: "storage8",
    4449: "uniform-storage8",
    4466: "",
    5345: "vulkan-memory-model",
    5346: "vulkan-memory-model-device",
    5116: "bfloat16",
    5118: "bfloat16-matrix",
    6022: "cooperative-matrix",
}
"""The device feature behind each capability (SPIR-V specification, section 3.31), "" for none.

SignedZeroInfNanPreserve, 4466, is a feature for each width of floats: its execution mode has that.
"""


@dataclass(frozen=True)
class ModuleNeeds:
    """What a module declares outside of its functions."""

    capabilities: tuple[int, ...]
    """By number."""
    entry_points: tuple[str, ...]
    """Names of those that compute."""
    special_values: tuple[int, ...] = ()
    """The widths, in bits, of the floats whose special values matter."""
    storage_classes: frozenset[int] = frozenset()
    """Of its variables (SPIR-V specification, section 3.7)."""
    bindings: frozenset[int] = frozenset()
    sets: frozenset[int] = frozenset()

    def missing_features(self, features: frozenset[str]) -> list[str]:
        """Return what the module needs and `features` lacks."""
        lacks: list[str] = []
        for capability in self.capabilities:
            feature = CAPABILITY_FEATURES.get(capability)
            if feature is None:
                lacks.append(f"SPIR-V capability {capability}")
            elif feature and feature not in features:
                lacks.append(feature)
        modes = [f"special-values{width}" for width in self.special_values]
        return lacks + [feature for feature in modes if feature not in features]


def module_needs(spirv: bytes, kernel: str) -> ModuleNeeds:
    """Read the part of a module before its first function; `KernelError` when it is damaged."""
    capabilities: list[int] = []
    entry_points: list[str] = []
    special_values: list[int] = []
    classes: set[int] = set()
    numbers: dict[int, set[int]] = {_BINDING: set(), _DESCRIPTOR_SET: set()}
    for opcode, operands in _declarations(spirv, kernel):
        if opcode == _OP_CAPABILITY and len(operands) == 1:
            capabilities.append(operands[0])
        elif opcode == _OP_ENTRY_POINT and len(operands) > 2 and operands[0] == _GL_COMPUTE:
            text = pack(f"<{len(operands) - 2}I", *operands[2:]).split(b"\0", 1)[0]
            entry_points.append(text.decode("utf-8", "replace"))
        elif opcode == _OP_EXECUTION_MODE and len(operands) == 3 and operands[1] == _PRESERVE:
            special_values.append(operands[2])
        elif opcode == _OP_VARIABLE and len(operands) >= 3:
            classes.add(operands[2])
        elif opcode == _OP_DECORATE and len(operands) == 3 and operands[1] in numbers:
            numbers[operands[1]].add(operands[2])
    return ModuleNeeds(
        tuple(capabilities),
        tuple(entry_points),
        tuple(special_values),
        frozenset(classes),
        frozenset(numbers[_BINDING]),
        frozenset(numbers[_DESCRIPTOR_SET]),
    )


def _declarations(spirv: bytes, kernel: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Opcode and operands of every instruction before the first function."""
    if len(spirv) < 20 or len(spirv) % 4:
        raise KernelError(f"the SPIR-V of kernel '{kernel}' is cut off")
    words = unpack(f"<{len(spirv) // 4}I", spirv)
    if words[0] != _MAGIC:
        raise KernelError(f"the SPIR-V of kernel '{kernel}' does not begin with its mark")
    at = 5
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xFFFF
        if length == 0 or at + length > len(words):
            raise KernelError(f"the SPIR-V of kernel '{kernel}' has a cut-off instruction")
        if opcode == _OP_FUNCTION:
            return
        yield opcode, words[at + 1 : at + length]
        at += length
