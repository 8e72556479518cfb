"""The text of `dense<...>` literals turned into the bytes of their elements.

xDSL reads a literal token by token and takes hexadecimal numbers for integers; here a small literal
is read by Python, a large one by NumPy, and hexadecimal numbers are the bits of a float.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, IndexType, IntegerType, Signedness

from ingot.compiler.analysis.types import as_integer

if TYPE_CHECKING:
    import numpy.typing as npt
    from xdsl.ir import Attribute

_SMALL = 256
"""Up to this many elements Python is faster than importing NumPy."""

_NOT_STRUCTURE = re.compile(r"[^\[\],]+")
_MISPLACED = re.compile(r"\]\s*[^\s\],]|[^\s\[,]\s*\[")
"""Something else than a bracket or a comma after a closing bracket, or before an opening one."""
_FLOAT = re.compile(r"-?\s*\d+(\.\d*)?([eE][-+]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"-?\s*(0[xX][0-9a-fA-F]+|\d+)", re.ASCII)
_BLANK = re.compile(r"\s+")
_COMPLEX = re.compile(r"\(([^()]*)\)")


class LiteralError(ValueError):
    """A literal that does not fit its type, in one sentence."""


def element_size(type: Attribute) -> int:
    """Bytes that an element takes in a `dense` attribute."""
    assert isinstance(type, AnyFloat | IntegerType | IndexType | ComplexType)
    return type.compile_time_size


def dense_bytes(text: str, element_type: Attribute, shape: Sequence[int]) -> bytes:
    """The elements of the literal `text` (what stands between `<` and `>`), row-major.

    A literal of one element without brackets is repeated. Raises `LiteralError`.
    """
    count = 1
    for size in shape:
        count *= size
    text = text.strip()
    if not text:
        if count:
            raise LiteralError(f"expected {count} elements, but the literal is empty")
        return b""
    match element_type:
        case ComplexType(element_type=part):
            return _complex_bytes(text, cast("Attribute", part), shape, count)
        case _:
            pass
    if text[0] != "[":
        return _pack([text], element_type) * count
    _check_structure(text, shape)
    if not count:
        return b""
    flat = text.replace("[", "").replace("]", "")
    if count > _SMALL and (data := _numpy_bytes(flat, element_type, count)) is not None:
        return data
    return _pack([item.strip() for item in flat.split(",")], element_type)


def hex_bytes(digits: str, element_type: Attribute, count: int) -> bytes:
    """The elements of `dense<"0x...">` or of a resource, one element repeated.

    Booleans are a bit each, as LLVM 19 prints them, or a byte each. Raises `LiteralError`.
    """
    try:
        data = bytes.fromhex(digits.removeprefix("0x"))
    except ValueError as error:
        raise LiteralError("the hexadecimal string is malformed") from error
    return raw_bytes(data, element_type, count)


def raw_bytes(data: bytes, element_type: Attribute, count: int) -> bytes:
    """`data` as the bytes of `count` elements; see `hex_bytes`."""
    if element_type == IntegerType(1):
        if len(data) == (count + 7) // 8:
            bits = [data[i >> 3] >> (i & 7) & 1 for i in range(count)]
            return bytes(0xFF if bit else 0 for bit in bits)
        if len(data) == count:
            return bytes(0xFF if byte else 0 for byte in data)
        if len(data) == 1:
            return (b"\xff" if data[0] & 1 else b"\0") * count
    else:
        size = element_size(element_type)
        if len(data) == size * count:
            return data
        if len(data) == size:
            return data * count
    raise LiteralError(f"expected {count} elements of {element_type}, but found {len(data)} bytes")


def _check_structure(text: str, shape: Sequence[int]) -> None:
    """Check that the brackets and commas nest as the shape says."""
    expected = ""
    for level, size in enumerate(reversed(shape)):
        expected = f"[{',' * (size - 1)}]" if level == 0 else f"[{','.join([expected] * size)}]"
    if _NOT_STRUCTURE.sub("", text) != expected or _MISPLACED.search(text):
        dims = "x".join(map(str, shape))
        raise LiteralError(f"the literal does not have the shape {dims} of its type")


def _numpy_bytes(flat: str, element_type: Attribute, count: int) -> bytes | None:
    """The fast road for decimal numbers; None where the slow one is needed."""
    import warnings

    import numpy as np

    if any(letter in flat for letter in "xtfn"):
        return None  # hexadecimal, true and false, and what NumPy takes for numbers: inf and nan
    from ingot.compiler.analysis.constants import numpy_dtype

    integer = as_integer(element_type)
    if integer is not None and integer.width.data not in (8, 16, 32):
        return None
    parse_as: npt.DTypeLike = np.float64 if isinstance(element_type, AnyFloat) else np.int64
    with warnings.catch_warnings():
        # NumPy warns where it stops early; the count tells us.
        warnings.simplefilter("ignore", DeprecationWarning)
        values: npt.NDArray[Any] = np.fromstring(flat, dtype=parse_as, sep=",")
    if len(values) != count:
        return None
    if integer is not None:
        low, high = _range(integer)
        if values.min() < low or values.max() > high:
            raise LiteralError(f"a value is out of range for {element_type}")
    with np.errstate(over="ignore"):
        return values.astype(numpy_dtype(element_type)).tobytes()


def _range(type: IntegerType) -> tuple[int, int]:
    """The values that may be written for an integer type; signless takes both readings."""
    width = type.width.data
    low = 0 if type.signedness.data == Signedness.UNSIGNED else -(1 << (width - 1))
    high = (1 << (width - 1)) - 1 if type.signedness.data == Signedness.SIGNED else (1 << width) - 1
    return low, high


def _pack(items: list[str], element_type: Attribute) -> bytes:
    """Convert numbers one by one."""
    if isinstance(element_type, AnyFloat):
        if any("x" in item or "X" in item for item in items):
            return b"".join(_float_bytes(item, element_type) for item in items)
        return element_type.pack([_overflowing(_number(item), element_type) for item in items])
    if isinstance(element_type, IndexType):
        return element_type.pack([_integer(item) for item in items])
    if (integer := as_integer(element_type)) is not None:
        return integer.pack([_in_range(_integer(item), integer) for item in items])
    raise LiteralError(f"a literal cannot hold elements of type {element_type}")


def _number(item: str) -> float:
    if not _FLOAT.fullmatch(item):
        raise LiteralError(f"'{item}' is not a number")
    return float(_BLANK.sub("", item))


def _overflowing(value: float, element_type: AnyFloat) -> float:
    """`value`, or infinity where it is too large for the type: Python refuses to round there."""
    try:
        element_type.pack([value])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def _float_bytes(item: str, element_type: AnyFloat) -> bytes:
    if "x" not in item and "X" not in item:
        return element_type.pack([_overflowing(_number(item), element_type)])
    if not _INTEGER.fullmatch(item):
        raise LiteralError(f"'{item}' is not a number")
    bits = int(_BLANK.sub("", item), 16)
    if bits < 0 or bits.bit_length() > element_type.bitwidth:
        raise LiteralError(f"'{item}' has more bits than {element_type}")
    return bits.to_bytes(element_type.compile_time_size, "little")


def _integer(item: str) -> int:
    if item in ("true", "false"):
        return int(item == "true")
    if not _INTEGER.fullmatch(item):
        raise LiteralError(f"'{item}' is not an integer")
    digits = _BLANK.sub("", item)
    return int(digits, 16 if "x" in digits.lower() else 10)


def _in_range(value: int, element_type: IntegerType) -> int:
    low, high = _range(element_type)
    if not low <= value <= high:
        raise LiteralError(f"{value} is out of range for {element_type}")
    normalized = element_type.get_normalized_value(value)
    assert normalized is not None, "the range was checked"
    return normalized


def _complex_bytes(text: str, part_type: Attribute, shape: Sequence[int], count: int) -> bytes:
    pairs = _COMPLEX.findall(text)
    if text[0] == "[":
        _check_structure(_COMPLEX.sub("0", text), shape)
    elif len(pairs) != 1:
        raise LiteralError("a complex number is written (real, imaginary)")
    items: list[str] = []
    for pair in pairs:
        parts = [part.strip() for part in pair.split(",")]
        if len(parts) != 2:
            raise LiteralError("a complex number is written (real, imaginary)")
        items += parts
    data = b"".join(_pack([item], part_type) for item in items)
    return data * count if text[0] != "[" else data
