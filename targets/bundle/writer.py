"""Writing a bundle: the same `Bundle` always gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from struct import pack_into
from typing import Final, Protocol, cast

from ingot.targets.bundle import layout as fb
from ingot.targets.bundle.check import check_bundle
from ingot.targets.bundle.flat import FlatBuffer
from ingot.targets.bundle.model import (
    Barrier,
    BufferRef,
    Bundle,
    Check,
    Command,
    Compute,
    Constant,
    Copy,
    Dispatch,
    Fill,
    Function,
    FunctionBody,
    If,
    Kernel,
    Load,
    Loop,
    Operand,
    Register,
    Setup,
    Size,
    Store,
    TensorType,
    Variant,
    While,
)

_TO_BE_PATCHED: Final = 1
"""Stands for a number known only when the FlatBuffer is finished; not the default, so stored."""


class _Builder(Protocol):
    """What is used of `flatbuffers.Builder`, which has no annotations."""

    Bytes: bytearray
    head: int

    def CreateString(self, s: str) -> int: ...
    def StartObject(self, numfields: int) -> None: ...
    def EndObject(self) -> int: ...
    def StartVector(self, elemSize: int, numElems: int, alignment: int) -> int: ...
    def EndVector(self) -> int: ...
    def Slot(self, slotnum: int) -> None: ...
    def Prep(self, size: int, additionalBytes: int) -> None: ...
    def PrependUint8(self, x: int) -> None: ...
    def PrependUint16(self, x: int) -> None: ...
    def PrependUint32(self, x: int) -> None: ...
    def PrependInt64(self, x: int) -> None: ...
    def PrependUint64(self, x: int) -> None: ...
    def PrependUOffsetTRelative(self, off: int) -> None: ...
    def Finish(self, rootTable: int, file_identifier: bytes) -> None: ...
    def Output(self) -> bytearray: ...


_Stored = int | bytes | tuple[int, ...]
"""What a table holds inline: a number or offset, a packed struct, a union's tag and offset."""
_Value = _Stored | str | list[int] | list[tuple[int, ...]]


def write_bundle(bundle: Bundle) -> bytes:
    """Return the file of `bundle`; raises `BundleError` when it is inconsistent.

    Nothing but the argument decides the bytes: no clock, no machine, no hash order.
    """
    return b"".join(bundle_parts(bundle))


def bundle_parts(bundle: Bundle) -> list[bytes | bytearray | memoryview]:
    """What `write_bundle` joins: constants are the bundle's own data, not copied."""
    check_bundle(bundle, "the bundle to write")
    inside = [constant for constant in bundle.constants if constant.weight is None]
    offsets, data_size = _place_constants(inside)
    head = bytearray(_Writer().bundle(bundle, offsets))
    head += bytes(_align(len(head)) - len(head))
    _patch(head, data_size)
    parts: list[bytes | bytearray | memoryview] = [head]
    end = 0
    for constant, offset in zip(inside, offsets, strict=True):
        parts += [bytes(offset - end), constant.data]
        end = offset + constant.type.byte_size
    return parts


def _align(offset: int) -> int:
    return -(-offset // fb.DATA_ALIGNMENT) * fb.DATA_ALIGNMENT


def _place_constants(constants: Iterable[Constant]) -> tuple[list[int], int]:
    """Return the aligned offset of each constant's data, and the size of all."""
    offsets: list[int] = []
    end = 0
    for constant in constants:
        offsets.append(_align(end))
        end = offsets[-1] + constant.type.byte_size
    return offsets, end


def _patch(head: bytearray, data_size: int) -> None:
    """Store the two numbers that are known only now."""
    root = FlatBuffer(memoryview(head), "the bundle to write").root(fb.BUNDLE)
    for name, value in (("file_size", len(head) + data_size), ("data_offset", len(head))):
        place = root.place(name, 8)
        assert place is not None
        pack_into("<Q", head, place, value)


class _Writer:
    """Builds the FlatBuffer from the leaves up; methods return the offset of what they wrote."""

    def __init__(self) -> None:
        from flatbuffers.builder import Builder

        self._builder = cast(_Builder, Builder(4096))

    def bundle(self, bundle: Bundle, offsets: Sequence[int]) -> bytes:
        provenance = bundle.provenance
        root = self._table(
            fb.BUNDLE,
            major=fb.VERSION[0],
            minor=fb.VERSION[1],
            file_size=_TO_BE_PATCHED,
            data_offset=_TO_BE_PATCHED,
            functions=[self._function(f) for f in bundle.functions],
            constants=self._constants(bundle.constants, offsets),
            variants=[self._variant(v) for v in bundle.variants],
            provenance=self._table(
                fb.PROVENANCE,
                compiler_version=provenance.compiler_version,
                pipeline=provenance.pipeline,
                spirv_cross_version=provenance.spirv_cross_version,
                input_hash=provenance.input_hash,
            ),
        )
        self._builder.Finish(root, fb.IDENTIFIER)
        return bytes(self._builder.Output())

    def _type(self, tensor: TensorType) -> int:
        return self._table(fb.TENSOR_TYPE, dtype=tensor.dtype, shape=tensor.shape)

    def _function(self, function: Function) -> int:
        def parameters(types: Sequence[TensorType], names: Sequence[str]) -> list[int]:
            return [
                self._table(fb.PARAMETER, name=name, type=self._type(tensor))
                for tensor, name in zip_longest(types, names, fillvalue="")
                if isinstance(tensor, TensorType)
            ]

        return self._table(
            fb.FUNCTION,
            name=function.name,
            arguments=parameters(function.arguments, function.argument_names),
            results=parameters(function.results, function.result_names),
        )

    def _constants(self, constants: Sequence[Constant], offsets: Sequence[int]) -> list[int]:
        """The tables of all constants; `offsets` are those of the ones that are no weights."""
        places = iter(offsets)
        return [
            self._table(
                fb.CONSTANT,
                name=constant.name,
                type=self._type(constant.type),
                data=self._constant_data(constant, places),
            )
            for constant in constants
        ]

    def _constant_data(self, constant: Constant, places: Iterator[int]) -> tuple[int, int]:
        """The tag and the table of where a constant's data lie."""
        weight = constant.weight
        if weight is None:
            size = constant.type.byte_size
            return fb.FILE_DATA_TAG, self._table(fb.FILE_DATA, offset=next(places), length=size)
        return fb.WEIGHT_DATA_TAG, self._table(
            fb.WEIGHT_DATA, file=weight.file, key=weight.key, digest=weight.digest
        )

    def _kernel(self, kernel: Kernel) -> int:
        return self._table(
            fb.KERNEL,
            name=kernel.name,
            entry_point=kernel.entry_point,
            spirv_entry_point=kernel.spirv_entry_point,
            threadgroup_size=kernel.threadgroup_size,
            bindings=[
                self._table(fb.BINDING, name=b.name, dtype=b.dtype, access=b.access)
                for b in kernel.bindings
            ],
            push_constant_size=kernel.push_constant_size,
            argument_buffer=int(kernel.argument_buffer),
            threadgroup_memory=kernel.threadgroup_memory,
            spirv=kernel.spirv,
            msl=kernel.msl,
            location=kernel.location,
            metallibs=[
                self._table(fb.METALLIB, platform=library.platform, data=library.data)
                for library in kernel.metallibs
            ],
        )

    def _step(self, command: Command | Setup) -> int:
        return self._table(fb.STEP, command=self._command(command))

    def _steps(self, commands: Sequence[Command | Setup]) -> list[int]:
        return [self._step(command) for command in commands]

    def _command(self, command: Command | Setup) -> tuple[int, int]:
        """The tag and the table of a command."""
        match command:
            case Dispatch():
                groups = tuple(part for count in command.groups for part in _operand(count))
                return fb.DISPATCH_TAG, self._table(
                    fb.DISPATCH,
                    kernel=command.kernel,
                    groups=groups,
                    bindings=[_buffer_ref(b) for b in command.bindings],
                    push_constants=command.push_constants,
                )
            case Fill():
                return fb.FILL_TAG, self._table(
                    fb.FILL, target=_buffer_ref(command.target), pattern=command.pattern
                )
            case Copy():
                return fb.COPY_TAG, self._table(
                    fb.COPY,
                    source=_buffer_ref(command.source),
                    target=_buffer_ref(command.target),
                )
            case Barrier():
                return fb.BARRIER_TAG, self._table(fb.BARRIER)
            case Load():
                return fb.LOAD_TAG, self._table(
                    fb.LOAD, target=command.target.index, source=_buffer_ref(command.source)
                )
            case Store():
                return fb.STORE_TAG, self._table(
                    fb.STORE, target=_buffer_ref(command.target), value=_operand(command.value)
                )
            case Loop():
                return fb.LOOP_TAG, self._table(
                    fb.LOOP, count=_operand(command.count), body=self._steps(command.body)
                )
            case While():
                return fb.WHILE_TAG, self._table(
                    fb.WHILE,
                    condition=self._steps(command.condition),
                    proceed=_operand(command.proceed),
                    body=self._steps(command.body),
                )
            case If():
                return fb.IF_TAG, self._table(
                    fb.IF,
                    condition=_operand(command.condition),
                    then=self._steps(command.then),
                    otherwise=self._steps(command.otherwise),
                )
            case Size():
                return fb.SIZE_TAG, self._table(
                    fb.SIZE,
                    target=command.target.index,
                    argument=command.argument,
                    dimension=command.dimension,
                )
            case Compute():
                return fb.COMPUTE_TAG, self._table(
                    fb.COMPUTE,
                    target=command.target.index,
                    operation=command.operation,
                    lhs=_operand(command.lhs),
                    rhs=_operand(command.rhs),
                )
            case Check():
                return fb.CHECK_TAG, self._table(
                    fb.CHECK, condition=_operand(command.condition), message=command.message
                )

    def _body(self, body: FunctionBody) -> int:
        return self._table(
            fb.FUNCTION_BODY,
            steps=self._steps(body.commands),
            transient_size=body.transient_size,
            transient_lower_bound=body.transient_lower_bound,
            registers=body.registers,
            setup=self._steps(body.setup),
            transient=_operand(body.transient) if body.transient else (),
            result_sizes=[_operand(size) for size in body.result_sizes],
        )

    def _variant(self, variant: Variant) -> int:
        return self._table(
            fb.VARIANT,
            target=variant.target,
            api=variant.api,
            family=variant.family,
            simd_width=variant.simd_width,
            math_mode=variant.math_mode,
            msl_version=(*variant.msl_version, 0),
            required_features=[self._builder.CreateString(f) for f in variant.required_features],
            kernels=[self._kernel(k) for k in variant.kernels],
            bodies=[self._body(b) for b in variant.bodies],
        )

    def _table(self, layout: fb.Layout, **values: _Value) -> int:
        """Write a table; a union is a pair of tag and offset, tables and strings are offsets.

        Defaults are left out: 0, empty text and empty vectors.
        """
        builder = self._builder
        stored = {name: self._prepare(layout.fields[name], v) for name, v in values.items() if v}
        builder.StartObject(layout.slots)
        for name, value in stored.items():
            kind, slot = layout.fields[name], layout.slot(name)
            match kind:
                case fb.Scalar():
                    assert isinstance(value, int)
                    self._prepend_scalar(kind, value)
                case fb.Inline():
                    assert isinstance(value, bytes)
                    self._prepend_bytes(value, kind.alignment)
                case fb.Child(union=True):
                    assert isinstance(value, tuple)
                    builder.PrependUOffsetTRelative(value[1])
                    builder.Slot(slot)
                    builder.PrependUint8(value[0])
                    slot -= 1
                case _:
                    assert isinstance(value, int)
                    builder.PrependUOffsetTRelative(value)
            builder.Slot(slot)
        return builder.EndObject()

    def _prepare(self, kind: fb.FieldKind, value: _Value) -> _Stored:
        """Write what lies outside the table; return what the table stores inline."""
        match kind, value:
            case fb.String(), str():
                return self._builder.CreateString(value)
            case fb.Inline(), tuple():
                return kind.packing.pack(*value)
            case fb.Vector(), bytes():
                return self._bytes_vector(value, max(kind.alignment, 1))
            case fb.Vector(), tuple() | list():
                return self._vector(kind.of, value)
            case _:
                assert isinstance(value, int | tuple)
                return value

    def _vector(self, of: fb.FieldKind, values: Sequence[int] | Sequence[tuple[int, ...]]) -> int:
        builder = self._builder
        size, alignment = 4, 4
        if isinstance(of, fb.Scalar):
            size = alignment = of.size
        elif isinstance(of, fb.Inline):
            size, alignment = of.packing.size, of.alignment
        builder.StartVector(size, len(values), alignment)
        for value in reversed(values):
            match of, value:
                case fb.Scalar(), int():
                    self._prepend_scalar(of, value)
                case fb.Inline(), tuple():
                    self._prepend_bytes(of.packing.pack(*value), of.alignment)
                case _:
                    assert isinstance(value, int)
                    builder.PrependUOffsetTRelative(value)
        return builder.EndVector()

    def _bytes_vector(self, data: bytes, alignment: int) -> int:
        self._builder.StartVector(1, len(data), alignment)
        self._prepend_bytes(data, 1)
        return self._builder.EndVector()

    def _prepend_scalar(self, kind: fb.Scalar, value: int) -> None:
        match kind.code:
            case "B" | "?":
                self._builder.PrependUint8(value)
            case "H":
                self._builder.PrependUint16(value)
            case "I":
                self._builder.PrependUint32(value)
            case "q":
                self._builder.PrependInt64(value)
            case _:
                self._builder.PrependUint64(value)

    def _prepend_bytes(self, data: bytes, alignment: int) -> None:
        """Place raw bytes, as a struct or the body of a vector."""
        builder = self._builder
        builder.Prep(alignment, len(data))
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data


def _operand(operand: Operand) -> tuple[int, int]:
    if isinstance(operand, Register):
        return operand.index, fb.REGISTER
    return operand, fb.IMMEDIATE


def _buffer_ref(ref: BufferRef) -> tuple[int, ...]:
    return (*_operand(ref.offset), *_operand(ref.length), ref.index, ref.kind)
