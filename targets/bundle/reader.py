"""Reading a bundle that nobody vouches for.

Every byte that decides something is checked before use: identifier, version, size, structure (in
`flat`), enums, ranges and counts (in `check`). Constants are not copied: they are views into what
was read, a mapped file for example.
"""

from __future__ import annotations

from enum import IntEnum
from mmap import mmap
from typing import TypeVar

from ingot.targets.bundle import layout as fb
from ingot.targets.bundle.check import MAX_DEPTH, check_bundle
from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.flat import FlatBuffer, FlatTable
from ingot.targets.bundle.model import (
    Access,
    Barrier,
    Binding,
    BufferKind,
    BufferRef,
    Bundle,
    Check,
    Command,
    Compute,
    Constant,
    Copy,
    Dispatch,
    DType,
    Fill,
    Function,
    FunctionBody,
    If,
    Kernel,
    Load,
    Loop,
    Metallib,
    Operand,
    Operation,
    Provenance,
    Register,
    Setup,
    Size,
    Store,
    TensorType,
    Variant,
    Weight,
    While,
)

_Enum = TypeVar("_Enum", bound=IntEnum)


def read_bundle(data: bytes | memoryview | mmap, source: str) -> Bundle:
    """Return the bundle in `data`; `source` is its name in errors.

    Raises `BundleError`, and nothing else, whatever the bytes are. Constants are memoryviews into
    `data`, which must stay open and unchanged as long as the bundle is used.
    """
    view = memoryview(data).cast("B").toreadonly()
    if bytes(view[4:8]) != fb.IDENTIFIER:
        raise BundleError(f"{source}: this is not an ingot bundle")
    flat = FlatBuffer(view, source)
    root = flat.root(fb.BUNDLE)
    _check_version(root, source)
    size = root.scalar("file_size")
    if size != view.nbytes:
        raise BundleError(
            f"{source}: the bundle is damaged: it should have {size} bytes, but has {view.nbytes}"
        )
    bundle = _Reader(view, root.scalar("data_offset")).bundle(root)
    check_bundle(bundle, source)
    return bundle


def _check_version(root: FlatTable, source: str) -> None:
    major, minor = root.scalar("major"), root.scalar("minor")
    if major > fb.VERSION[0]:
        raise BundleError(
            f"{source}: the bundle has version {major}.{minor} of the format, and this Ingot reads "
            f"versions up to {fb.VERSION[0]}.x: use a newer Ingot, or compile the program again"
        )
    if major < 1:
        raise BundleError(f"{source}: the bundle is damaged: it has version {major}.{minor}")


def _enum(kind: type[_Enum], value: int, table: FlatTable, what: str) -> _Enum:
    """Turn a stored number into an enum's member."""
    try:
        return kind(value)
    except ValueError:
        raise table.error(f"{what} {value} is not known to this version") from None


def _operand(table: FlatTable, value: int, kind: int) -> Operand:
    match kind:
        case fb.IMMEDIATE:
            return value
        case fb.REGISTER:
            return Register(value)
        case _:
            raise table.error(f"operand kind {kind} is not known to this version")


def _required_operand(table: FlatTable, name: str) -> Operand:
    stored = table.struct(name)
    if stored is None:
        raise table.error(f"{name} is missing")
    return _operand(table, *stored)


def _names(parameters: list[FlatTable]) -> tuple[str, ...]:
    names = tuple(parameter.string("name") for parameter in parameters)
    return names if any(names) else ()


class _Reader:
    """Turns verified tables into the model."""

    def __init__(self, view: memoryview, data_offset: int) -> None:
        self._view = view
        self._data_offset = data_offset

    def bundle(self, root: FlatTable) -> Bundle:
        provenance = root.table("provenance", fb.PROVENANCE)
        if self._data_offset % fb.DATA_ALIGNMENT or self._data_offset > self._view.nbytes:
            raise root.error(f"constants cannot begin at byte {self._data_offset}")
        return Bundle(
            functions=tuple(self._function(t) for t in root.tables("functions", fb.FUNCTION)),
            constants=tuple(self._constant(t) for t in root.tables("constants", fb.CONSTANT)),
            variants=tuple(self._variant(t) for t in root.tables("variants", fb.VARIANT)),
            provenance=Provenance(
                compiler_version=provenance.string("compiler_version"),
                pipeline=provenance.string("pipeline"),
                spirv_cross_version=provenance.string("spirv_cross_version"),
                input_hash=provenance.string("input_hash"),
            ),
        )

    def _type(self, parent: FlatTable) -> TensorType:
        table = parent.table("type", fb.TENSOR_TYPE)
        return TensorType(
            dtype=_enum(DType, table.scalar("dtype"), table, "element type"),
            shape=table.scalars("shape"),
        )

    def _function(self, table: FlatTable) -> Function:
        arguments = table.tables("arguments", fb.PARAMETER)
        results = table.tables("results", fb.PARAMETER)
        return Function(
            name=table.string("name"),
            arguments=tuple(self._type(p) for p in arguments),
            results=tuple(self._type(p) for p in results),
            argument_names=_names(arguments),
            result_names=_names(results),
        )

    def _constant(self, table: FlatTable) -> Constant:
        match table.tag("data"):
            case fb.FILE_DATA_TAG:
                return Constant(table.string("name"), self._type(table), self._file_data(table))
            case fb.WEIGHT_DATA_TAG:
                weight = table.table("data", fb.WEIGHT_DATA)
                return Constant(
                    name=table.string("name"),
                    type=self._type(table),
                    data=b"",
                    weight=Weight(
                        file=weight.string("file"),
                        key=weight.string("key"),
                        digest=bytes(weight.bytes("digest")),
                    ),
                )
            case tag:
                raise table.error(f"storage kind {tag} is not known to this version")

    def _file_data(self, table: FlatTable) -> memoryview:
        data = table.table("data", fb.FILE_DATA)
        offset, length = data.scalar("offset"), data.scalar("length")
        start = self._data_offset + offset
        if offset % fb.DATA_ALIGNMENT:
            raise data.error(f"data at byte {offset} is not aligned to {fb.DATA_ALIGNMENT}")
        if start + length > self._view.nbytes:
            raise data.error("the data reaches outside the file")
        return self._view[start : start + length]

    def _binding(self, table: FlatTable) -> Binding:
        return Binding(
            name=table.string("name"),
            dtype=_enum(DType, table.scalar("dtype"), table, "element type"),
            access=_enum(Access, table.scalar("access"), table, "access"),
        )

    def _kernel(self, table: FlatTable) -> Kernel:
        x, y, z = table.struct("threadgroup_size") or (0, 0, 0)
        return Kernel(
            name=table.string("name"),
            entry_point=table.string("entry_point"),
            threadgroup_size=(x, y, z),
            bindings=tuple(self._binding(b) for b in table.tables("bindings", fb.BINDING)),
            spirv=bytes(table.bytes("spirv")),
            msl=table.string("msl"),
            metallibs=tuple(
                Metallib(library.string("platform"), bytes(library.bytes("data")))
                for library in table.tables("metallibs", fb.METALLIB)
            ),
            spirv_entry_point=table.string("spirv_entry_point"),
            push_constant_size=table.scalar("push_constant_size"),
            argument_buffer=bool(table.scalar("argument_buffer")),
            threadgroup_memory=table.scalar("threadgroup_memory"),
            location=table.string("location"),
        )

    def _buffer_ref(self, table: FlatTable, stored: tuple[int, ...] | None) -> BufferRef:
        if stored is None:
            raise table.error("a buffer is missing")
        offset, offset_kind, length, length_kind, index, kind = stored
        return BufferRef(
            kind=_enum(BufferKind, kind, table, "buffer kind"),
            index=index,
            offset=_operand(table, offset, offset_kind),
            length=_operand(table, length, length_kind),
        )

    def _commands(self, table: FlatTable, name: str, depth: int) -> tuple[Command, ...]:
        """A list of commands, whose own lists lie `depth` below the function's."""
        if depth > MAX_DEPTH:
            raise table.error(f"control flow is nested more than {MAX_DEPTH} deep")
        return tuple(self._command(step, depth) for step in table.tables(name, fb.STEP))

    def _command(self, step: FlatTable, depth: int) -> Command:
        match step.tag("command"):
            case fb.DISPATCH_TAG:
                return self._dispatch(step.table("command", fb.DISPATCH))
            case fb.FILL_TAG:
                table = step.table("command", fb.FILL)
                return Fill(
                    target=self._buffer_ref(table, table.struct("target")),
                    pattern=bytes(table.bytes("pattern")),
                )
            case fb.COPY_TAG:
                table = step.table("command", fb.COPY)
                return Copy(
                    source=self._buffer_ref(table, table.struct("source")),
                    target=self._buffer_ref(table, table.struct("target")),
                )
            case fb.BARRIER_TAG:
                return Barrier()
            case fb.LOAD_TAG:
                table = step.table("command", fb.LOAD)
                source = self._buffer_ref(table, table.struct("source"))
                return Load(Register(table.scalar("target")), source)
            case fb.STORE_TAG:
                table = step.table("command", fb.STORE)
                target = self._buffer_ref(table, table.struct("target"))
                return Store(target, _required_operand(table, "value"))
            case fb.LOOP_TAG:
                table = step.table("command", fb.LOOP)
                body = self._commands(table, "body", depth + 1)
                return Loop(_required_operand(table, "count"), body)
            case fb.WHILE_TAG:
                table = step.table("command", fb.WHILE)
                return While(
                    condition=self._commands(table, "condition", depth + 1),
                    proceed=_required_operand(table, "proceed"),
                    body=self._commands(table, "body", depth + 1),
                )
            case fb.IF_TAG:
                table = step.table("command", fb.IF)
                return If(
                    condition=_required_operand(table, "condition"),
                    then=self._commands(table, "then", depth + 1),
                    otherwise=self._commands(table, "otherwise", depth + 1),
                )
            case tag:
                raise step.error(f"command kind {tag} is not known to this version")

    def _setup(self, step: FlatTable) -> Setup:
        match step.tag("command"):
            case fb.SIZE_TAG:
                table = step.table("command", fb.SIZE)
                return Size(
                    target=Register(table.scalar("target")),
                    argument=table.scalar("argument"),
                    dimension=table.scalar("dimension"),
                )
            case fb.COMPUTE_TAG:
                table = step.table("command", fb.COMPUTE)
                return Compute(
                    target=Register(table.scalar("target")),
                    operation=_enum(Operation, table.scalar("operation"), table, "operation"),
                    lhs=_required_operand(table, "lhs"),
                    rhs=_required_operand(table, "rhs"),
                )
            case fb.CHECK_TAG:
                table = step.table("command", fb.CHECK)
                return Check(_required_operand(table, "condition"), table.string("message"))
            case tag:
                raise step.error(f"setup of kind {tag} is not known to this version")

    def _dispatch(self, table: FlatTable) -> Dispatch:
        grid = table.struct("groups")
        if grid is None:
            raise table.error("the grid is missing")
        x, x_kind, y, y_kind, z, z_kind = grid
        return Dispatch(
            kernel=table.scalar("kernel"),
            groups=(
                _operand(table, x, x_kind),
                _operand(table, y, y_kind),
                _operand(table, z, z_kind),
            ),
            bindings=tuple(self._buffer_ref(table, ref) for ref in table.structs("bindings")),
            push_constants=bytes(table.bytes("push_constants")),
        )

    def _body(self, table: FlatTable) -> FunctionBody:
        return FunctionBody(
            commands=self._commands(table, "steps", 0),
            transient_size=table.scalar("transient_size"),
            transient_lower_bound=table.scalar("transient_lower_bound"),
            registers=table.scalar("registers"),
            setup=tuple(self._setup(step) for step in table.tables("setup", fb.STEP)),
            transient=_operand(table, *(table.struct("transient") or (0, fb.IMMEDIATE))),
            result_sizes=tuple(_operand(table, *size) for size in table.structs("result_sizes")),
        )

    def _variant(self, table: FlatTable) -> Variant:
        msl = table.struct("msl_version") or (0, 0, 0)
        return Variant(
            target=table.string("target"),
            api=table.string("api"),
            family=table.scalar("family"),
            simd_width=table.scalar("simd_width"),
            math_mode=table.string("math_mode"),
            msl_version=(msl[0], msl[1]),
            kernels=tuple(self._kernel(k) for k in table.tables("kernels", fb.KERNEL)),
            bodies=tuple(self._body(b) for b in table.tables("bodies", fb.FUNCTION_BODY)),
            required_features=table.strings("required_features"),
        )
