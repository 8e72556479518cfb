"""Constants as NumPy arrays, and the NumPy type of each element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from xdsl.ir import Attribute


def numpy_dtype(type: Attribute) -> np.dtype[Any]:
    """The NumPy type that holds an element type exactly; bf16 and fp8 are those of ml_dtypes.

    i1 is `bool`, signless integers are signed, `index` is int64, an integer of an odd width is held
    by the next wider one. Raises ValueError for a type that NumPy cannot hold.
    """
    import numpy as np

    match type:
        case Float32Type():
            return np.dtype(np.float32)
        case Float64Type():
            return np.dtype(np.float64)
        case Float16Type():
            return np.dtype(np.float16)
        case BFloat16Type():
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        case IndexType():
            return np.dtype(np.int64)
        case IntegerType():
            width = type.width.data
            if width == 1:
                return np.dtype(np.bool_)
            bits = next((bits for bits in (8, 16, 32, 64) if width <= bits), None)
            if bits is not None:
                sign = "u" if type.signedness.data == Signedness.UNSIGNED else "i"
                return np.dtype(f"{sign}{bits // 8}")
        case ComplexType(element_type=Float32Type()):
            return np.dtype(np.complex64)
        case ComplexType(element_type=Float64Type()):
            return np.dtype(np.complex128)
        case _:
            if (name := _MINIFLOATS.get(str(type))) is not None:
                import ml_dtypes

                return np.dtype(getattr(ml_dtypes, name))
    raise ValueError(f"no NumPy type holds the elements of {type}")


_MINIFLOATS = {
    "f8E5M2": "float8_e5m2",
    "f8E4M3": "float8_e4m3",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E3M4": "float8_e3m4",
    "f8E8M0FNU": "float8_e8m0fnu",
}


def constant_array(attr: Attribute, type: Attribute | None = None) -> npt.NDArray[Any]:
    """The value of a constant as a read-only array of the tensor's shape, of rank 0 for a scalar.

    Takes `dense` (also what was a `dense_resource`), integer and float attributes. Raises
    ValueError for other attributes, naming `type`, the type of the constant's value, if given.
    """
    import numpy as np

    match attr:
        case DenseIntOrFPElementsAttr():
            dense: DenseIntOrFPElementsAttr[Any] = attr
            dtype = numpy_dtype(dense.type.element_type)
            if dtype == np.bool_:
                values = np.frombuffer(dense.data.data, np.uint8) != 0
            else:
                values = np.frombuffer(dense.data.data, dtype)
            values = values.reshape(dense.type.get_shape())
            values.flags.writeable = False
            return values
        case IntegerAttr():
            integer: IntegerAttr[Any] = attr
            dtype = numpy_dtype(integer.type)
            if dtype == np.bool_:
                return np.array(integer.value.data != 0)
            # A signless integer may be written as the unsigned one with the same bits.
            bits = integer.value.data & ((1 << dtype.itemsize * 8) - 1)
            return np.array(bits, f"u{dtype.itemsize}").view(dtype)
        case FloatAttr():
            number: FloatAttr[Any] = attr
            return np.array(number.value.data).astype(numpy_dtype(number.type))
        case _:
            what = "" if type is None else f" : {type}"
            raise ValueError(f"not a constant with known elements: {attr}{what}")


def dense_data(attr: Attribute) -> bytes | None:
    """The bytes of a `dense` attribute as it stores them, not copied; None for other attributes."""
    match attr:
        case DenseIntOrFPElementsAttr():
            dense: DenseIntOrFPElementsAttr[Any] = attr
            return dense.data.data
        case _:
            return None


def is_repeated(data: bytes, width: int) -> bool:
    """Whether `data` is its first `width` bytes again and again; nothing of it is copied."""
    view = memoryview(data)
    return view[width:] == view[: len(data) - width]


def dense_constant(
    values: npt.NDArray[Any], element_type: Attribute
) -> DenseIntOrFPElementsAttr[Any]:
    """The `dense` attribute of a tensor type with the array's shape and values.

    `values` are converted to the NumPy type of `element_type`.
    """
    import numpy as np
    from xdsl.dialects.builtin import BytesAttr

    dtype = numpy_dtype(element_type)
    converted = np.ascontiguousarray(values.astype(dtype))
    if dtype == np.bool_:
        converted = converted.astype(np.int8) * np.int8(-1)
    type: TensorType[Any] = TensorType(element_type, values.shape)
    return DenseIntOrFPElementsAttr(type, BytesAttr(converted.tobytes()))
