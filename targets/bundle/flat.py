"""Reading FlatBuffers that nobody has verified.

The FlatBuffers library for Python has no verifier, so every access here checks first: offsets,
vtables, lengths, alignment, text. Whatever is wrong raises `BundleError`.
"""

from __future__ import annotations

from struct import Struct, unpack_from
from typing import Final

from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.layout import Child, Inline, Layout, Scalar, String, Vector

_U16: Final = Struct("<H")
_U32: Final = Struct("<I")
_I32: Final = Struct("<i")
_MAX_SIZE: Final = 2**31 - 1
"""FlatBuffers' own limit for 32-bit offsets."""
_SHARING: Final = 4
"""Tables may be referred to from several places; all visits together cost at most so many bytes of
the file for each of its bytes, which bounds time and memory for a hostile file."""


class FlatBuffer:
    """The bytes of one FlatBuffer, and what may still be spent on reading them."""

    def __init__(self, data: memoryview, source: str) -> None:
        self.data: Final = data
        self.size: Final = min(data.nbytes, _MAX_SIZE)
        self.source: Final = source
        self._budget = _SHARING * self.size

    def error(self, what: str) -> BundleError:
        """Return the error to raise for a damaged place of the file."""
        return BundleError(f"{self.source}: the bundle is damaged: {what}")

    def claim(self, position: int, length: int, alignment: int, what: str) -> int:
        """Check that `length` bytes at `position` may be read, and return `position`."""
        if position < 0 or length < 0 or position + length > self.size:
            raise self.error(f"{what} reaches outside the file")
        if position % alignment:
            raise self.error(f"{what} is not aligned to {alignment} bytes")
        self._budget -= length
        if self._budget < 0:
            raise self.error("its parts refer to each other too often")
        return position

    def follow(self, position: int, what: str) -> int:
        """Return the place that the offset stored at `position` points to."""
        self.claim(position, 4, 4, what)
        offset: int = _U32.unpack_from(self.data, position)[0]
        if offset < 4:
            raise self.error(f"{what} points to itself")
        return position + offset

    def root(self, layout: Layout) -> FlatTable:
        """Return the root table."""
        return FlatTable(self, self.follow(0, layout.name), layout)

    def string(self, position: int, what: str) -> str:
        """Return the text whose length prefix is at `position`."""
        length = self.vector(position, 1, 1, what)
        start = position + 4
        if start + length >= self.size or self.data[start + length] != 0:
            raise self.error(f"{what} is text without an end")
        try:
            return str(self.data[start : start + length], "utf-8")
        except UnicodeDecodeError:
            raise self.error(f"{what} is not UTF-8 text") from None

    def vector(self, position: int, size: int, alignment: int, what: str) -> int:
        """Check a vector with elements of `size` bytes; return how many it has."""
        self.claim(position, 4, 4, what)
        count: int = _U32.unpack_from(self.data, position)[0]
        self.claim(position + 4, count * size, alignment if count else 1, what)
        return count


class FlatTable:
    """One table whose vtable was checked; fields are read by their name in the layout.

    A field that is absent is its default: zero, empty text, an empty vector. `required` members
    raise `BundleError` when absent.
    """

    def __init__(self, flat: FlatBuffer, position: int, layout: Layout) -> None:
        self._flat: Final = flat
        self._position: Final = position
        self._layout: Final = layout
        what = f"table {layout.name}"
        flat.claim(position, 4, 4, what)
        vtable = position - int(_I32.unpack_from(flat.data, position)[0])
        # The budget counts what grows with the file: vtables are shared, so they are free.
        if vtable < 0 or vtable % 2 or vtable + 4 > flat.size:
            raise flat.error(f"the vtable of {what} is outside the file")
        self._vtable_size: Final = int(_U16.unpack_from(flat.data, vtable)[0])
        self._size: Final = int(_U16.unpack_from(flat.data, vtable + 2)[0])
        if self._vtable_size < 4 or self._vtable_size % 2 or self._size < 4:
            raise flat.error(f"the vtable of {what} has an impossible size")
        if vtable + self._vtable_size > flat.size:
            raise flat.error(f"the vtable of {what} is outside the file")
        flat.claim(position, self._size, 4, what)
        self._vtable: Final = vtable

    def error(self, what: str) -> BundleError:
        """Return the error to raise for a field of this table whose value is impossible."""
        return self._flat.error(f"{self._layout.name}: {what}")

    def scalar(self, name: str) -> int:
        """Return a number, or 0."""
        kind = self._layout.fields[name]
        assert isinstance(kind, Scalar)
        return self._number(self._layout.slot(name), kind, name)

    def struct(self, name: str) -> tuple[int, ...] | None:
        """Return the members of an inline struct, or None."""
        kind = self._layout.fields[name]
        assert isinstance(kind, Inline)
        size = kind.packing.size
        position = self._field(self._layout.slot(name), size, kind.alignment, name)
        return None if position is None else kind.packing.unpack_from(self._flat.data, position)

    def string(self, name: str) -> str:
        """Return text, or "" when absent."""
        position = self._target(name)
        return "" if position is None else self._flat.string(position, self._what(name))

    def table(self, name: str, layout: Layout) -> FlatTable:
        """Return a required child table."""
        position = self._target(name)
        if position is None:
            raise self.error(f"{name} is missing")
        return FlatTable(self._flat, position, layout)

    def tag(self, name: str) -> int:
        """Return which member of the union `name` is present, 0 for none."""
        return self._number(self._layout.slot(name) - 1, Scalar("B"), name)

    def scalars(self, name: str) -> tuple[int, ...]:
        """Return a vector of numbers."""
        kind, position, count = self._vector(name)
        assert isinstance(kind, Scalar)
        return unpack_from(f"<{count}{kind.code}", self._flat.data, position)

    def bytes(self, name: str) -> memoryview:
        """Return a vector of bytes without a copy."""
        _, position, count = self._vector(name)
        return self._flat.data[position : position + count]

    def structs(self, name: str) -> list[tuple[int, ...]]:
        """Return a vector of inline structs."""
        kind, position, count = self._vector(name)
        assert isinstance(kind, Inline)
        size = kind.packing.size
        return [
            kind.packing.unpack_from(self._flat.data, position + i * size) for i in range(count)
        ]

    def strings(self, name: str) -> tuple[str, ...]:
        """Return a vector of text."""
        what = self._what(name)
        return tuple(self._flat.string(place, what) for place in self._targets(name))

    def tables(self, name: str, layout: Layout) -> list[FlatTable]:
        """Return a vector of tables."""
        return [FlatTable(self._flat, place, layout) for place in self._targets(name)]

    def place(self, name: str, size: int) -> int | None:
        """Return where the inline field `name` of `size` bytes is stored, or None when absent."""
        return self._field(self._layout.slot(name), size, 1, name)

    def _what(self, name: str) -> str:
        return f"{self._layout.name}.{name}"

    def _field(self, slot: int, size: int, alignment: int, name: str) -> int | None:
        entry = 4 + 2 * slot
        if entry + 2 > self._vtable_size:
            return None
        offset: int = _U16.unpack_from(self._flat.data, self._vtable + entry)[0]
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._size:
            raise self._flat.error(f"{self._what(name)} is outside its table")
        position = self._position + offset
        if position % alignment:
            raise self._flat.error(f"{self._what(name)} is not aligned to {alignment} bytes")
        return position

    def _number(self, slot: int, kind: Scalar, name: str) -> int:
        position = self._field(slot, kind.size, kind.size, name)
        if position is None:
            return 0
        if kind.code == "?":
            value = self._flat.data[position]
            if value > 1:
                raise self._flat.error(f"{self._what(name)} is neither true nor false")
            return value
        return int(unpack_from("<" + kind.code, self._flat.data, position)[0])

    def _target(self, name: str) -> int | None:
        position = self._field(self._layout.slot(name), 4, 4, name)
        return None if position is None else self._flat.follow(position, self._what(name))

    def _vector(self, name: str) -> tuple[Scalar | Inline | String | Child, int, int]:
        kind = self._layout.fields[name]
        assert isinstance(kind, Vector)
        match kind.of:
            case Scalar():
                size = alignment = kind.of.size
            case Inline():
                size, alignment = kind.of.packing.size, kind.of.alignment
            case String() | Child():
                size = alignment = 4
        position = self._target(name)
        if position is None:
            return kind.of, 0, 0
        alignment = max(alignment, kind.alignment)
        count = self._flat.vector(position, size, alignment, self._what(name))
        return kind.of, position + 4, count

    def _targets(self, name: str) -> list[int]:
        _, position, count = self._vector(name)
        what = self._what(name)
        return [self._flat.follow(position + 4 * i, what) for i in range(count)]
