"""Buffers of one dispatch, placed so that an access outside of them is noticed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from ingot.runtime.devices.host.compile import CompiledKernel
from ingot.runtime.devices.host.errors import OutOfBoundsError
from ingot.runtime.devices.host.memory import GUARD, GuardedMemory
from ingot.runtime.errors import HalUsageError

_MARGIN_BYTE = 0xFF
"""Fills what lies between a buffer and its guards: read as a float it is NaN."""
_POOL_LIMIT = 256 << 20
"""Bytes of scratch memory that are kept for the next dispatch."""


@dataclass(frozen=True)
class Binding:
    """`size` bytes at `address` under a name for messages; the caller keeps them alive."""

    name: str
    address: int
    size: int
    writable: bool = True
    memory: GuardedMemory | None = None
    """The guarded memory that these bytes are all of, when they are."""
    in_place: bool = False
    """Whether the kernel takes these bytes where they are, without guards."""


@dataclass
class _Placed:
    """Where one or more overlapping bindings lie while the kernel runs."""

    start: int
    """Address of the caller's bytes."""
    size: int
    bindings: list[Binding]
    alignment: int
    memory: GuardedMemory | None = None
    scratch: bool = False

    @property
    def in_place(self) -> bool:
        return all(binding.in_place for binding in self.bindings)

    def address(self, binding: Binding) -> int:
        base = self.memory.address if self.memory is not None else self.start
        return base + binding.address - self.start


class BoundBuffers:
    """The table of pointers that a kernel gets, and how to read an address back.

    Made for one dispatch: `check_margins` and `finish` end it.
    """

    def __init__(
        self,
        kernel: CompiledKernel,
        buffers: Sequence[Binding],
        push_constants: bytes,
        argument_buffer: bool,
        guard: bool,
    ) -> None:
        self._kernel = kernel
        self._places = _cluster(kernel, buffers, argument_buffer)
        self._keep: list[object] = []
        for place in self._places:
            whole = place.bindings[0].memory
            if whole is not None and _fits(whole, place):
                place.memory = whole
            elif place.start % place.alignment or (guard and not place.in_place):
                place.memory = _pool.take(place.size, place.alignment)
                place.scratch = True
                ctypes.memmove(place.memory.address, place.start, place.size)
        addresses = {id(b): p.address(b) for p in self._places for b in p.bindings}
        table = [addresses[id(b)] for b in buffers]
        if argument_buffer:
            table = [self._constant(b"".join(a.to_bytes(8, "little") for a in table))]
        self.pointers = self._table(table, push_constants)

    def _table(self, table: list[int], push_constants: bytes) -> ctypes.Array[ctypes.c_void_p]:
        name = self._kernel.signature.name
        indices = [p.buffer for p in self._kernel.signature.parameters if p.buffer is not None]
        missing = [i for i in indices if i >= len(table)]
        if len(missing) > 1 or bool(missing) != bool(push_constants):
            raise HalUsageError(
                f"kernel '{name}' has buffers {sorted(indices)}, but {len(table)} were bound"
                + (" and push constants" if push_constants else "")
            )
        pointers = (ctypes.c_void_p * (max(indices, default=0) + 1))()
        for index in indices:
            if index < len(table):
                pointers[index] = table[index]
            else:
                pointers[index] = self._constant(push_constants)
        return pointers

    def _constant(self, data: bytes) -> int:
        memory = _pool.take(len(data), 16)
        memory.view[:] = data
        self._keep.append(memory)
        binding = Binding("push constants", memory.address, len(data), False, memory)
        self._places.append(_Placed(memory.address, len(data), [binding], 16, memory, True))
        return memory.address

    def locate(self, address: int) -> tuple[Binding, int] | None:
        """The buffer that an address is inside of or next to, and its offset from the start."""
        best: tuple[int, Binding, int] | None = None
        for place in self._places:
            for binding in place.bindings:
                offset = address - place.address(binding)
                distance = max(0, -offset, offset - binding.size + 1)
                if best is None or distance < best[0]:
                    best = (distance, binding, offset)
        return best[1:] if best is not None and best[0] <= GUARD else None

    def check_margins(self) -> None:
        """Raise `OutOfBoundsError` for a write between a buffer and its guards."""
        for place in self._places:
            if not place.scratch or place.memory is None:
                continue
            offset = _written_margin(place.memory)
            if offset is not None:
                _fill_margins(place.memory)
                name = place.bindings[0].name
                raise OutOfBoundsError(
                    f"kernel '{self._kernel.signature.name}': write of buffer '{name}' at byte "
                    f"offset {offset}, outside of its {place.size} bytes",
                    name,
                    offset,
                    place.size,
                    "write",
                    None,
                    None,
                )

    def finish(self) -> None:
        """Copy what the kernel wrote to where it belongs and give the scratch memory back."""
        for place in self._places:
            if not place.scratch or place.memory is None:
                continue
            for binding in place.bindings:
                if binding.writable:
                    ctypes.memmove(binding.address, place.address(binding), binding.size)
            _pool.give_back(place.memory, place.alignment)


def _fits(memory: GuardedMemory, place: _Placed) -> bool:
    """Whether the caller's own memory already ends where it must."""
    return (
        memory.address == place.start
        and memory.size == place.size
        and memory.address + memory.size == memory.last
        and memory.address % place.alignment == 0
    )


def _cluster(
    kernel: CompiledKernel, buffers: Sequence[Binding], argument_buffer: bool
) -> list[_Placed]:
    """Group bindings that share bytes: they must share them wherever they are placed."""
    casts = any(t.text == "reinterpret_cast" for t in kernel.reflection.tokens)
    alignments: dict[int, int] = {}
    for index, binding in enumerate(buffers):
        alignment = 16 if argument_buffer or casts else kernel.alignments.get(index, 16)
        alignments[id(binding)] = alignment
    places: list[_Placed] = []
    for group in clusters(buffers):
        start = group[0].address
        size = max(binding.address + binding.size for binding in group) - start
        alignment = alignments[id(group[0])] if len(group) == 1 else 16
        places.append(_Placed(start, size, group, alignment))
    return places


def clusters(buffers: Sequence[Binding]) -> list[list[Binding]]:
    """Bindings that share bytes together, each group and all of them in order of addresses."""
    groups: list[list[Binding]] = []
    shared: list[Binding] = []
    end = 0
    for binding in sorted(buffers, key=lambda b: (b.address, b.size)):
        if binding.size and binding.address < end:
            shared.append(binding)
        else:
            groups.append([binding])
            if binding.size:
                shared = groups[-1]
        end = max(end, binding.address + binding.size)
    return groups


def _fill_margins(memory: GuardedMemory) -> None:
    end = memory.address + memory.size
    ctypes.memset(memory.first, _MARGIN_BYTE, memory.address - memory.first)
    ctypes.memset(end, _MARGIN_BYTE, memory.last - end)


def _written_margin(memory: GuardedMemory) -> int | None:
    """Offset from the data's start of a byte outside of them that was written, if there is one."""
    end = memory.address + memory.size
    for start, stop in ((end, memory.last), (memory.first, memory.address)):
        data = ctypes.string_at(start, stop - start)
        clean = data.lstrip(bytes([_MARGIN_BYTE]))
        if clean:
            return start + len(data) - len(clean) - memory.address
    return None


class _Pool:
    """Scratch memory by size and alignment, kept between dispatches."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._free: dict[tuple[int, int], list[GuardedMemory]] = {}
        self._bytes = 0

    def take(self, size: int, alignment: int) -> GuardedMemory:
        with self._lock:
            free = self._free.get((size, alignment))
            if free:
                self._bytes -= size
                return free.pop()
        memory = GuardedMemory(size, alignment)
        _fill_margins(memory)
        return memory

    def give_back(self, memory: GuardedMemory, alignment: int) -> None:
        with self._lock:
            if self._bytes + memory.size <= _POOL_LIMIT:
                self._bytes += memory.size
                self._free.setdefault((memory.size, alignment), []).append(memory)
                return
        memory.release()


_pool = _Pool()
