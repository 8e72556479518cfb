"""The tables of `ingot.fbs` as data, for the writer and the verifying reader.

A test holds this against the schema file; a field's position is its FlatBuffers slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

IDENTIFIER: Final = b"INGT"
VERSION: Final = (1, 2)
DATA_ALIGNMENT: Final = 64
"""Constants start at multiples of this in the file, so that a mapped file can be used in place."""


@dataclass(frozen=True)
class Scalar:
    """A number stored inline; `code` is its little-endian `struct` code."""

    code: str

    @property
    def size(self) -> int:
        """Size and alignment in bytes."""
        return {"B": 1, "?": 1, "H": 2, "I": 4, "q": 8, "Q": 8}[self.code]


@dataclass(frozen=True)
class Inline:
    """A FlatBuffers struct: fixed bytes with padding, stored inline."""

    name: str
    packing: Struct
    alignment: int


@dataclass(frozen=True)
class String:
    """UTF-8 text."""


@dataclass(frozen=True)
class Child:
    """Another table; `union` says that a tag of one byte lies in the slot before."""

    union: bool = False


@dataclass(frozen=True)
class Vector:
    """A vector of scalars, structs, strings or tables; `alignment` where the schema forces it."""

    of: Scalar | Inline | String | Child
    alignment: int = 0


FieldKind = Scalar | Inline | String | Child | Vector


@dataclass(frozen=True)
class Layout:
    """A table: its fields by name, in slot order."""

    name: str
    fields: dict[str, FieldKind]

    def slot(self, field: str) -> int:
        """The FlatBuffers slot of `field`; a union's tag is in the slot before its table."""
        slot = 0
        for name, kind in self.fields.items():
            tagged = isinstance(kind, Child) and kind.union
            if name == field:
                return slot + tagged
            slot += 1 + tagged
        raise KeyError(field)

    @property
    def slots(self) -> int:
        """How many slots the table has."""
        return len(self.fields) + sum(
            isinstance(k, Child) and k.union for k in self.fields.values()
        )


BOOL, U8, U16, U32, U64 = Scalar("?"), Scalar("B"), Scalar("H"), Scalar("I"), Scalar("Q")
BYTES: Final = Vector(U8)

EXTENT: Final = Inline("Extent", Struct("<III"), 4)
OPERAND: Final = Inline("Operand", Struct("<qB7x"), 8)
GRID: Final = Inline("Grid", Struct("<" + "qB7x" * 3), 8)
BUFFER_REF: Final = Inline("BufferRef", Struct("<qB7xqB7xIB3x"), 8)

IMMEDIATE, REGISTER = 0, 1
"""Members of `OperandKind`."""
FILE_DATA_TAG, WEIGHT_DATA_TAG = 1, 2
"""Members of the union `ConstantData`."""
DISPATCH_TAG, FILL_TAG, COPY_TAG, BARRIER_TAG, LOAD_TAG, STORE_TAG = 1, 2, 3, 4, 5, 6
LOOP_TAG, WHILE_TAG, IF_TAG, SIZE_TAG, COMPUTE_TAG, CHECK_TAG = 7, 8, 9, 10, 11, 12
"""Members of the union `Command`."""

TENSOR_TYPE: Final = Layout("TensorType", {"dtype": U8, "shape": Vector(Scalar("q"))})
PARAMETER: Final = Layout("Parameter", {"name": String(), "type": Child()})
FUNCTION: Final = Layout(
    "Function", {"name": String(), "arguments": Vector(Child()), "results": Vector(Child())}
)
FILE_DATA: Final = Layout("FileData", {"offset": U64, "length": U64})
WEIGHT_DATA: Final = Layout("WeightData", {"file": String(), "key": String(), "digest": BYTES})
CONSTANT: Final = Layout("Constant", {"name": String(), "type": Child(), "data": Child(union=True)})
BINDING: Final = Layout("Binding", {"name": String(), "dtype": U8, "access": U8})
METALLIB: Final = Layout("Metallib", {"platform": String(), "data": BYTES})
KERNEL: Final = Layout(
    "Kernel",
    {
        "name": String(),
        "entry_point": String(),
        "spirv_entry_point": String(),
        "threadgroup_size": EXTENT,
        "bindings": Vector(Child()),
        "push_constant_size": U32,
        "argument_buffer": BOOL,
        "threadgroup_memory": U64,
        "spirv": Vector(U8, alignment=4),
        "msl": String(),
        "metallib": BYTES,
        "location": String(),
        "metallibs": Vector(Child()),
    },
)
DISPATCH: Final = Layout(
    "Dispatch",
    {"kernel": U32, "groups": GRID, "bindings": Vector(BUFFER_REF), "push_constants": BYTES},
)
FILL: Final = Layout("Fill", {"target": BUFFER_REF, "pattern": BYTES})
COPY: Final = Layout("Copy", {"source": BUFFER_REF, "target": BUFFER_REF})
BARRIER: Final = Layout("Barrier", {})
LOAD: Final = Layout("Load", {"target": U32, "source": BUFFER_REF})
STORE: Final = Layout("Store", {"target": BUFFER_REF, "value": OPERAND})
LOOP: Final = Layout("Loop", {"count": OPERAND, "body": Vector(Child())})
WHILE: Final = Layout(
    "While", {"condition": Vector(Child()), "proceed": OPERAND, "body": Vector(Child())}
)
IF: Final = Layout(
    "If", {"condition": OPERAND, "then": Vector(Child()), "otherwise": Vector(Child())}
)
SIZE: Final = Layout("Size", {"target": U32, "argument": U32, "dimension": U32})
COMPUTE: Final = Layout("Compute", {"target": U32, "operation": U8, "lhs": OPERAND, "rhs": OPERAND})
CHECK: Final = Layout("Check", {"condition": OPERAND, "message": String()})
STEP: Final = Layout("Step", {"command": Child(union=True)})
FUNCTION_BODY: Final = Layout(
    "FunctionBody",
    {
        "steps": Vector(Child()),
        "transient_size": U64,
        "transient_lower_bound": U64,
        "registers": U32,
        "setup": Vector(Child()),
        "transient": OPERAND,
        "result_sizes": Vector(OPERAND),
    },
)
VARIANT: Final = Layout(
    "Variant",
    {
        "target": String(),
        "api": String(),
        "family": U32,
        "simd_width": U32,
        "math_mode": String(),
        "msl_version": EXTENT,
        "required_features": Vector(String()),
        "kernels": Vector(Child()),
        "bodies": Vector(Child()),
    },
)
PROVENANCE: Final = Layout(
    "Provenance",
    {
        "compiler_version": String(),
        "pipeline": String(),
        "spirv_cross_version": String(),
        "input_hash": String(),
    },
)
BUNDLE: Final = Layout(
    "Bundle",
    {
        "major": U16,
        "minor": U16,
        "file_size": U64,
        "data_offset": U64,
        "functions": Vector(Child()),
        "constants": Vector(Child()),
        "variants": Vector(Child()),
        "provenance": Child(),
    },
)
TABLES: Final = (
    TENSOR_TYPE,
    PARAMETER,
    FUNCTION,
    FILE_DATA,
    WEIGHT_DATA,
    CONSTANT,
    BINDING,
    METALLIB,
    KERNEL,
    DISPATCH,
    FILL,
    COPY,
    BARRIER,
    LOAD,
    STORE,
    LOOP,
    WHILE,
    IF,
    SIZE,
    COMPUTE,
    CHECK,
    STEP,
    FUNCTION_BODY,
    VARIANT,
    PROVENANCE,
    BUNDLE,
)
"""Every table of the schema."""
