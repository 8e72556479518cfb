"""Arrays of a call: whether they fit the signature, and their way to the device and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ingot.runtime.dtypes import (
    Array,
    accepted_dtypes,
    numpy_dtype,
    pack_int4,
    spell,
    unpack_int4,
)
from ingot.runtime.errors import ArgumentError
from ingot.runtime.hal import Buffer, Device, Memory
from ingot.targets.bundle.model import DType, Function, TensorType


def check_arguments(function: Function, arguments: Sequence[object]) -> None:
    """Raise `ArgumentError` unless `arguments` are arrays as `function` declares them."""
    expected = function.arguments
    if len(arguments) != len(expected):
        raise ArgumentError(
            f"function '{function.name}' takes {len(expected)} "
            f"argument{'s' * (len(expected) != 1)}, got {len(arguments)}"
        )
    for position, (tensor, value) in enumerate(zip(expected, arguments, strict=True)):
        problem = _mismatch(tensor, value)
        if problem:
            name = function.argument_names[position] if function.argument_names else ""
            label = f" ({name})" if name else ""
            raise ArgumentError(
                f"argument {position}{label} of function '{function.name}': expected "
                f"{spell(tensor)} ({numpy_dtype(tensor.dtype)}), got {problem}"
            )


def _mismatch(tensor: TensorType, value: object) -> str:
    """Return how `value` differs from what was expected, "" when it fits."""
    if not isinstance(value, np.ndarray | np.generic):
        return f"{type(value).__name__}, which is not a NumPy array"
    array = cast("Array", value)
    if array.dtype not in accepted_dtypes(tensor.dtype):
        return f"element type {array.dtype}"
    fits = len(array.shape) == len(tensor.shape) and all(
        expected in (-1, size) for expected, size in zip(tensor.shape, array.shape, strict=True)
    )
    return "" if fits else "shape " + ("x".join(map(str, array.shape)) or "() (a scalar)")


@dataclass(frozen=True)
class Transfer:
    """An argument or result: where kernels use it and where the host does, perhaps the same."""

    type: TensorType
    """Static, also where the function leaves sizes open."""
    host: Buffer
    device: Buffer
    bytes: Array
    """The host buffer as uint8."""

    @classmethod
    def allocate(cls, tensor: TensorType, device: Device) -> Transfer:
        """Buffers for a tensor; raises `DeviceMemoryError`."""
        used = device.allocate(tensor.byte_size, Memory.DEVICE)
        staged = not device.unified_memory
        host = device.allocate(tensor.byte_size, Memory.HOST) if staged else used
        # NumPy refuses to make an array over an empty buffer.
        content = np.frombuffer(host.map(), np.uint8) if host.size else np.empty(0, np.uint8)
        return cls(tensor, host, used, content)

    @property
    def is_staged(self) -> bool:
        """Whether the host uses another buffer than kernels do."""
        return self.host is not self.device

    def store(self, array: Array) -> None:
        """Copy an array of the right shape and type in, whatever its strides."""
        if self.type.dtype is DType.I4:
            self.bytes[:] = pack_int4(array)
        else:
            self.bytes.view(array.dtype).reshape(self.type.shape)[...] = array

    def fetch(self) -> Array:
        """Return a new array with the contents."""
        if self.type.dtype is DType.I4:
            return unpack_int4(self.bytes, self.type.shape)
        return self.bytes.copy().view(numpy_dtype(self.type.dtype)).reshape(self.type.shape)

    def upload(self, array: Array) -> None:
        """Copy an array in, to where kernels use it, and wait until it is there."""
        self.store(array)
        if self.is_staged:
            self.device.device.run_copy(self.host.whole, self.device.whole)

    def download(self) -> Array:
        """Return a new array with what kernels left."""
        if self.is_staged:
            self.device.device.run_copy(self.device.whole, self.host.whole)
        return self.fetch()
