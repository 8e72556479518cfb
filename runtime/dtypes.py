"""NumPy's view of a bundle's element types.

i1 is `bool`; bf16 and i4 are ml_dtypes' types, imported only when a program has them. NumPy keeps
i4 one to a byte and the bundle two, the first one in the low bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingot.targets.bundle.model import DType, TensorType

Array = NDArray[Any]

_NUMPY: dict[DType, str] = {
    DType.I1: "bool",
    DType.I8: "int8",
    DType.I16: "int16",
    DType.I32: "int32",
    DType.I64: "int64",
    DType.F16: "float16",
    DType.F32: "float32",
    DType.C64: "complex64",
    DType.UI8: "uint8",
    DType.UI16: "uint16",
    DType.UI32: "uint32",
    DType.UI64: "uint64",
}


@cache
def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Return the NumPy type of arrays that hold elements of `dtype`."""
    if dtype in _NUMPY:
        return np.dtype(_NUMPY[dtype])
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16 if dtype is DType.BF16 else ml_dtypes.int4)


@cache
def accepted_dtypes(dtype: DType) -> tuple[np.dtype[Any], ...]:
    """Return the NumPy types whose arrays may be passed for `dtype`, the natural one first.

    MLIR's integers have no sign, so unsigned arrays of the same width are as good.
    """
    natural = numpy_dtype(dtype)
    if dtype in (DType.I8, DType.I16, DType.I32, DType.I64):
        return natural, np.dtype(f"uint{dtype.bits}")
    return (natural,)


def spell(tensor: TensorType) -> str:
    """Return a type as users write it, `4x8xf32`; `?` stands for a size known at run time."""
    sizes = ["?" if size < 0 else str(size) for size in tensor.shape]
    return "x".join([*sizes, tensor.dtype.name.lower()])


def pack_int4(array: Array) -> Array:
    """Return the bytes of i4 elements, two to a byte, as uint8 of shape [(n + 1) // 2]."""
    nibbles = np.zeros(array.size + array.size % 2, np.uint8)
    nibbles[: array.size] = array.reshape(-1).astype(np.int8).view(np.uint8) & 0xF
    return nibbles[0::2] | nibbles[1::2] << 4


def unpack_int4(packed: Array, shape: tuple[int, ...]) -> Array:
    """Return the i4 array of `shape` that `pack_int4` packed."""
    nibbles = np.stack([packed & 0xF, packed >> 4], axis=-1).reshape(-1)
    signed = (nibbles[: int(np.prod(shape, dtype=np.int64))].astype(np.int8) ^ 8) - 8
    return signed.reshape(shape).astype(numpy_dtype(DType.I4))
