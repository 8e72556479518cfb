"""Opening a bundle's file and saying what is in it."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot.runtime.dtypes import numpy_dtype, spell
from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.model import Bundle, Function, TensorType
from ingot.targets.bundle.reader import read_bundle

if TYPE_CHECKING:
    import numpy as np

    from ingot.runtime.hal import Device
    from ingot.runtime.program import Program


@dataclass(frozen=True)
class Parameter:
    """An argument or result of a function."""

    name: str
    """As in the source; empty where it had none."""
    type: TensorType

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes; -1 where only a call decides."""
        return self.type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's element type; bf16 and i4 are those of ml_dtypes."""
        return numpy_dtype(self.type.dtype)

    def __str__(self) -> str:
        return f"{self.name}: {spell(self.type)}" if self.name else spell(self.type)


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives."""

    name: str
    arguments: tuple[Parameter, ...]
    results: tuple[Parameter, ...]

    def __str__(self) -> str:
        arguments, results = (", ".join(map(str, p)) for p in (self.arguments, self.results))
        return f"{self.name}({arguments}) -> ({results})"


@dataclass(frozen=True)
class LoadedBundle:
    """A verified bundle."""

    bundle: Bundle
    source: str

    @property
    def functions(self) -> dict[str, Signature]:
        """The functions by name, in the order of the source."""
        return {function.name: _signature(function) for function in self.bundle.functions}

    def bind(self, device: Device | str, untrusted: bool = False) -> Program:
        """Make the functions ready to run on a device, or on one named like `vulkan:0`.

        With `untrusted` the named device keeps kernels of strangers to their buffers. Raises
        `DeviceUnavailableError`, `NoVariantError` when the device lacks something, or
        `KernelError`.
        """
        from ingot.runtime.devices import open_device
        from ingot.runtime.program import Program

        opened = open_device(device, untrusted) if isinstance(device, str) else device
        return Program(self.bundle, opened)


def load(path: str | os.PathLike[str]) -> LoadedBundle:
    """Map and verify a bundle's file, and the weights beside it where it has any.

    Raises `BundleError`, also when a file cannot be opened.
    """
    source = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            # An empty file cannot be mapped; the reader says what is wrong with it.
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise BundleError(f"{source}: cannot be read: {error.strerror or error}") from None
    return loads(data, source, Path(path).parent)


def loads(
    data: bytes | memoryview | mmap.mmap, source: str = "<memory>", folder: Path | None = None
) -> LoadedBundle:
    """Verify a bundle that is in memory; `folder` has its weights if they are in another file.

    Raises `BundleError`.
    """
    bundle = read_bundle(data, source)
    if any(constant.weight is not None for constant in bundle.constants):
        from ingot.targets.bundle.weights import load_weights

        bundle = load_weights(bundle, folder, source)
    return LoadedBundle(bundle, source)


def _signature(function: Function) -> Signature:
    def parameters(types: tuple[TensorType, ...], names: tuple[str, ...]) -> tuple[Parameter, ...]:
        return tuple(map(Parameter, names or ("",) * len(types), types))

    return Signature(
        function.name,
        parameters(function.arguments, function.argument_names),
        parameters(function.results, function.result_names),
    )
