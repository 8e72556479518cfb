"""Arguments and results as a command line writes them: literals, files, random numbers.

bf16 in files is its uint16 bits, and i4 is int8, because NumPy's formats know neither. All errors
are `ArgumentError`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ingot.runtime.dtypes import Array, numpy_dtype, spell
from ingot.runtime.errors import ArgumentError
from ingot.targets.bundle.model import DType, TensorType

if TYPE_CHECKING:
    from ingot.runtime.loading import Signature

_TYPES = {dtype.name.lower(): dtype for dtype in DType}
_STORED_AS = {DType.BF16: "uint16", DType.I4: "int8"}
"""How element types that NumPy lacks are kept in files."""
_FORMS = "SHAPExTYPE=VALUE, @file.npy, @file.npz or random:SEED"
_MAX_ELEMENTS = 2**40


def read_inputs(specs: Sequence[str], signature: Signature) -> list[Array]:
    """Return the arguments that `specs` describe for a function.

    A spec is `4x8xf32=1.5` (every element), `3xi32=1,2,3` or `3xi32=[1, 2, 3]` (row-major, inner
    brackets are optional), `@file.npy`, or `random:SEED` (floats from the standard normal
    distribution, integers from 0 to 7, truth values). A single `@file.npz` holds all arguments as
    `in0`, `in1`, ..., and a single `random:SEED` makes all. Raises `ArgumentError` when a spec
    cannot be understood or read; whether the arrays fit is for the call to say.
    """
    expected = [argument.type for argument in signature.arguments]
    if len(specs) == 1 and specs[0].endswith(".npz") and specs[0].startswith("@"):
        return _read_npz(specs[0][1:], expected)
    if len(specs) == 1 and specs[0].startswith("random:"):
        specs = [*specs] * len(expected)
    if len(specs) != len(expected):
        raise ArgumentError(
            f"function '{signature.name}' takes {len(expected)} "
            f"argument{'s' * (len(expected) != 1)}, got {len(specs)}"
        )
    return [
        _read_one(spec, tensor, position)
        for position, (spec, tensor) in enumerate(zip(specs, expected, strict=True))
    ]


def parse_literal(spec: str) -> Array:
    """Return the array of `SHAPExTYPE=VALUE`; raises `ArgumentError`."""
    head, equals, value = spec.partition("=")
    *sizes, name = head.strip().split("x")
    if not equals or name not in _TYPES or not all(size.isdecimal() for size in sizes):
        raise ArgumentError(f"the input '{_shorten(spec)}' is none of {_FORMS}")
    tensor = TensorType(_TYPES[name], tuple(map(int, sizes)))
    count = int(np.prod(tensor.shape, dtype=object)) if tensor.shape else 1
    if count > _MAX_ELEMENTS:
        raise ArgumentError(f"the input '{_shorten(spec)}' has {count} elements")
    tokens = [token for token in re.split(r"[\s,\[\]]+", value.strip()) if token]
    elements = [_element(token, tensor.dtype, spec) for token in tokens]
    is_list = value.strip().startswith("[")
    is_splat = len(elements) == 1 and not is_list
    if not is_splat and len(elements) != count:
        raise ArgumentError(
            f"the input '{_shorten(spec)}' has {len(elements)} values for "
            f"{count} element{'s' * (count != 1)} of {spell(tensor)}"
        )
    dtype = numpy_dtype(tensor.dtype)
    if is_splat:
        return np.full(tensor.shape, np.array(elements[0]).astype(dtype), dtype)
    return np.array(elements, _wide_dtype(tensor.dtype)).astype(dtype).reshape(tensor.shape)


def write_outputs(specs: Sequence[str], results: Sequence[Array]) -> None:
    """Write results to `@file.npz` (all, as `out0`, ...) or one `@file.npy` for each result.

    Raises `ArgumentError` when a spec is something else, their number does not fit, or a file
    cannot be written.
    """
    files = [_output_path(spec) for spec in specs]
    stored = [_to_file(result) for result in results]
    if len(files) == 1 and files[0].suffix == ".npz":
        arrays: dict[str, Any] = {f"out{position}": array for position, array in enumerate(stored)}
        _write(files[0], lambda: np.savez(files[0], **arrays))
        return
    if any(file.suffix == ".npz" for file in files):
        raise ArgumentError("an .npz file takes all results, so it is the only --output")
    if len(files) != len(stored):
        raise ArgumentError(
            f"the function has {len(stored)} result{'s' * (len(stored) != 1)}, got {len(files)} "
            "files to write them to; an .npz file takes all"
        )
    for file, array in zip(files, stored, strict=True):
        _write(file, lambda file=file, array=array: np.save(file, array, allow_pickle=False))


def _read_one(spec: str, tensor: TensorType, position: int) -> Array:
    if spec.startswith("random:"):
        return _random(spec, tensor, position)
    if spec.startswith("@"):
        if not spec.endswith(".npy"):
            raise ArgumentError(f"the input '{_shorten(spec)}' is none of {_FORMS}")
        loaded = _load(spec[1:])
        if not isinstance(loaded, np.ndarray):
            raise ArgumentError(f"the input file '{spec[1:]}' is not an .npy file")
        return _from_file(cast("Array", loaded), tensor.dtype)
    return parse_literal(spec)


def _read_npz(path: str, expected: Sequence[TensorType]) -> list[Array]:
    archive = _load(path)
    if isinstance(archive, np.ndarray):
        raise ArgumentError(f"the input file '{path}' is not an .npz file")
    arrays: list[Array] = []
    with archive:
        for position, tensor in enumerate(expected):
            name = f"in{position}"
            if name not in archive:
                raise ArgumentError(
                    f"the input file '{path}' has no array '{name}' for argument {position}"
                )
            try:
                arrays.append(_from_file(archive[name], tensor.dtype))
            except (OSError, ValueError, EOFError) as error:
                raise ArgumentError(f"array '{name}' of '{path}' is damaged: {error}") from None
        surplus = f"in{len(expected)}"
        if surplus in archive:
            raise ArgumentError(
                f"the input file '{path}' has an array '{surplus}', but the function takes "
                f"{len(expected)} argument{'s' * (len(expected) != 1)}"
            )
    return arrays


def _load(path: str) -> Any:
    """Return what `numpy.load` finds: an array or an archive."""
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise ArgumentError(f"the input file '{path}' does not exist") from None
    except Exception as error:  # zipfile and NumPy raise many kinds for a damaged file
        raise ArgumentError(f"the input file '{path}' cannot be read: {error}") from None


def _from_file(array: Array, dtype: DType) -> Array:
    """Turn stored bits back into a type that NumPy's files lack."""
    if dtype is DType.BF16 and array.dtype.itemsize == 2 and array.dtype.kind in "uV":
        return array.view(numpy_dtype(dtype))
    if dtype is DType.I4 and array.dtype == np.int8:
        return array.astype(numpy_dtype(dtype))
    return array


def _to_file(array: Array) -> Array:
    for dtype, stored in _STORED_AS.items():
        if array.dtype.name in ("bfloat16", "int4") and array.dtype == numpy_dtype(dtype):
            return array.view(stored) if dtype is DType.BF16 else array.astype(stored)
    return array


def _random(spec: str, tensor: TensorType, position: int) -> Array:
    seed = spec.removeprefix("random:")
    if not seed.isdecimal():
        raise ArgumentError(f"the input '{_shorten(spec)}' needs a whole number as its seed")
    if not tensor.is_static:
        raise ArgumentError(
            f"argument {position} is {spell(tensor)}: random values need a known shape"
        )
    return random_array(tensor, int(seed), position)


def random_array(tensor: TensorType, seed: int, position: int) -> Array:
    """Return what `random:SEED` stands for at a position among the arguments; sizes are known."""
    generator = np.random.default_rng([seed, position])
    dtype, shape = numpy_dtype(tensor.dtype), tensor.shape
    match tensor.dtype:
        case DType.F16 | DType.BF16 | DType.F32:
            return generator.standard_normal(shape, np.float32).astype(dtype)
        case DType.C64:
            real, imaginary = generator.standard_normal((2, *shape), np.float32)
            return np.asarray(real + 1j * imaginary, dtype)
        case DType.I1:
            return generator.integers(0, 2, shape).astype(dtype)
        case _:
            return generator.integers(0, 8, shape).astype(dtype)


def _element(token: str, dtype: DType, spec: str) -> bool | int | float | complex:
    try:
        match dtype:
            case DType.I1:
                return {"true": True, "false": False, "1": True, "0": False}[token.lower()]
            case DType.F16 | DType.BF16 | DType.F32:
                return float(token)
            case DType.C64:
                return complex(token)
            case _:
                return _in_range(int(token, 0), dtype)
    except (ValueError, KeyError):
        raise ArgumentError(
            f"'{_shorten(token)}' in the input '{_shorten(spec)}' is not a value of type "
            f"{dtype.name.lower()}"
        ) from None


def _in_range(value: int, dtype: DType) -> int:
    """Return `value`, as the signed type stores it; MLIR's integers may be written either way."""
    bits = dtype.bits
    if dtype in (DType.UI8, DType.UI16, DType.UI32, DType.UI64):
        lowest, highest = 0, 2**bits - 1
    else:
        lowest, highest = -(2 ** (bits - 1)), 2**bits - 1
    if not lowest <= value <= highest:
        raise ValueError
    if lowest and value >= 2 ** (bits - 1):
        return value - 2**bits
    return value


def _wide_dtype(dtype: DType) -> str:
    """Return a NumPy type that holds every literal of `dtype` exactly."""
    match dtype:
        case DType.I1:
            return "bool"
        case DType.F16 | DType.BF16 | DType.F32:
            return "float64"
        case DType.C64:
            return "complex128"
        case DType.UI64:
            return "uint64"
        case _:
            return "int64"


def _output_path(spec: str) -> Path:
    path = Path(spec.removeprefix("@"))
    if not spec.startswith("@") or path.suffix not in (".npy", ".npz"):
        raise ArgumentError(f"the output '{_shorten(spec)}' is neither @file.npy nor @file.npz")
    return path


def _write(path: Path, save: Any) -> None:
    try:
        save()
    except OSError as error:
        raise ArgumentError(f"'{path}' cannot be written: {error.strerror or error}") from None


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
