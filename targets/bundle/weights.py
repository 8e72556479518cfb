"""Large constants in a safetensors file beside the bundle.

The format is 8 bytes with the size of a header, the header (JSON, padded with spaces), and the
tensors without gaps. The `safetensors` package reads what is written here; it cannot map tensors,
nor place them at addresses that a GPU takes, hence this module. Two things are chosen so that a
mapped file is used as it is: the tensors begin at a multiple of 64 bytes, and those whose size is
one come first.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO, Final, cast

from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.model import Bundle, Constant, DType, Weight
from ingot.targets.bundle.writer import bundle_parts

LARGE: Final = 4096
"""Bytes from which a constant is worth a place in the weights' file."""
_ALIGNMENT: Final = 64
_SIZE: Final = Struct("<Q")
_MAX_HEADER: Final = 100_000_000
"""The format's own limit, in bytes."""
_NAMES: dict[DType, str] = {
    DType.I1: "BOOL",
    DType.I8: "I8",
    DType.I16: "I16",
    DType.I32: "I32",
    DType.I64: "I64",
    DType.F16: "F16",
    DType.BF16: "BF16",
    DType.F32: "F32",
    DType.C64: "C64",
    DType.UI8: "U8",
    DType.UI16: "U16",
    DType.UI32: "U32",
    DType.UI64: "U64",
}
"""The element types that safetensors has, as it names them; constants of others stay inside."""


def save_bundle(
    bundle: Bundle, path: str | os.PathLike[str], weights: str | os.PathLike[str] | None = None
) -> None:
    """Write a bundle; with `weights`, a path in the same folder, its large constants go there.

    The same bundle gives the same bytes in both. Raises `BundleError` where the folders differ or
    a file cannot be written.
    """
    try:
        _save(bundle, Path(path), Path(weights) if weights is not None else None)
    except OSError as error:
        raise BundleError(
            f"{error.filename}: cannot be written: {error.strerror or error}"
        ) from None


def _save(bundle: Bundle, target: Path, beside: Path | None) -> None:
    if beside is None:
        with target.open("wb") as file:
            file.writelines(bundle_parts(bundle))
        return
    if beside.resolve().parent != target.resolve().parent or beside.resolve() == target.resolve():
        raise BundleError(f"the weights belong beside the bundle: {beside} is not beside {target}")
    outside = _with_weights_outside(bundle, beside.name)
    with beside.open("wb") as file:
        _write(outside, file)
    _save(outside, target, None)


def load_weights(bundle: Bundle, folder: Path | None, source: str) -> Bundle:
    """The bundle with the data of all constants, mapped from the files in `folder`.

    Raises `BundleError`, which begins with `source`, where a file is missing or is not what it was
    when the bundle was compiled: every tensor's type, shape and SHA-256 are compared.
    """
    files: dict[str, _Weights] = {}
    unread: dict[str, int] = {}
    """Bytes of each file that no constant had yet: tensors share none, so hashing is one pass."""
    constants: list[Constant] = []
    for constant in bundle.constants:
        weight = constant.weight
        if weight is None:
            constants.append(constant)
            continue
        if folder is None:
            raise BundleError(f"{source}: its weights are in {weight.file}, and no folder is known")
        if weight.file not in files:
            files[weight.file] = _Weights.open(folder / weight.file, source)
            unread[weight.file] = files[weight.file].tensors.nbytes
        data = files[weight.file].data_of(constant, weight, unread[weight.file])
        unread[weight.file] -= data.nbytes
        constants.append(replace(constant, data=data))
    return replace(bundle, constants=tuple(constants))


def _with_weights_outside(bundle: Bundle, file: str) -> Bundle:
    """The bundle with large constants marked as weights in `file`."""
    keys: set[str] = set()
    constants: list[Constant] = []
    for index, constant in enumerate(bundle.constants):
        if constant.type.byte_size < LARGE or constant.type.dtype not in _NAMES:
            constants.append(constant)
            continue
        name = constant.name or "constant"
        key = name if name not in keys else f"{name}.{index}"
        keys.add(key)
        weight = Weight(file, key, sha256(constant.data).digest())
        constants.append(replace(constant, weight=weight))
    return replace(bundle, constants=tuple(constants))


def _write(bundle: Bundle, file: BinaryIO) -> None:
    header: dict[str, object] = {}
    end = 0
    weights = sorted(_weights(bundle), key=lambda w: (w[1].type.byte_size % _ALIGNMENT != 0, w[0]))
    for key, constant in weights:
        start, end = end, end + constant.type.byte_size
        shape = list(constant.type.shape)
        dtype = _NAMES[constant.type.dtype]
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + _SIZE.size) % _ALIGNMENT)
    file.write(_SIZE.pack(len(text)))
    file.write(text)
    for _, constant in weights:
        file.write(constant.data)


def _weights(bundle: Bundle) -> Iterator[tuple[str, Constant]]:
    for constant in bundle.constants:
        if constant.weight is not None:
            yield constant.weight.key, constant


@dataclass(frozen=True)
class _Weights:
    """A mapped safetensors file: what its header says, unchecked, and the bytes behind it."""

    path: Path
    source: str
    header: Mapping[str, Any]
    tensors: memoryview

    @classmethod
    def open(cls, path: Path, source: str) -> _Weights:
        """Map a file; raises `BundleError` where it is missing or no safetensors file."""
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise BundleError(
                f"{source}: its weights are missing: {path} cannot be read: "
                f"{error.strerror or error}"
            ) from None
        view = memoryview(data)
        length = _SIZE.unpack_from(view)[0] if size >= _SIZE.size else _MAX_HEADER + 1
        end = _SIZE.size + length
        header: object = None
        if length <= _MAX_HEADER and end <= size:
            with suppress(ValueError, RecursionError):
                header = json.loads(bytes(view[_SIZE.size : end]))
        if not isinstance(header, dict):
            raise BundleError(f"{source}: {path} is not a safetensors file")
        return cls(path, source, cast("dict[str, Any]", header), view[end:])

    def data_of(self, constant: Constant, weight: Weight, most: int) -> memoryview:
        """The bytes of a constant, at most `most`; `BundleError` where they have changed."""
        entry = self.header.get(weight.key)
        expected: dict[str, object] = {
            "dtype": _NAMES.get(constant.type.dtype, ""),
            "shape": list(constant.type.shape),
        }
        if not isinstance(entry, dict):
            raise self._changed(weight, "is missing")
        stored = cast("dict[str, Any]", entry)
        for name, value in expected.items():
            if stored.get(name) != value:
                raise self._changed(weight, f"has the {name} {stored.get(name)}, not {value}")
        match stored.get("data_offsets"):
            case [int(start), int(end)] if (
                0 <= start <= end <= self.tensors.nbytes and end - start == constant.type.byte_size
            ):
                data = self.tensors[start:end]
            case _:
                raise self._changed(weight, "lies outside of the file")
        if data.nbytes > most:
            raise self._changed(weight, "is there twice")
        if sha256(data).digest() != weight.digest:
            raise self._changed(weight, "has other values than when the bundle was compiled")
        return data

    def _changed(self, weight: Weight, how: str) -> BundleError:
        return BundleError(f"{self.source}: its weights have changed: {weight.key} {how}")
