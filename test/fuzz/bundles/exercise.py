"""Everything that a program does with a bundle, on a device that checks what it is asked for."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from support.checking_device import CheckingDevice

import ingot.runtime as rt
from ingot.runtime.dtypes import numpy_dtype
from ingot.targets.bundle.model import TensorType

MOST_BYTES = 1 << 14
"""Of one argument or result; functions with larger ones are not called."""
OPEN_SIZE = 5


def split(data: bytes) -> tuple[bytes, bytes]:
    """An input's bundle and weights; its last four bytes are the size of the weights."""
    size = int.from_bytes(data[-4:], "little")
    rest = data[:-4]
    cut = len(rest) - min(size, len(rest))
    return rest[:cut], rest[cut:]


def joined(bundle: bytes, weights: bytes) -> bytes:
    """The input for a bundle and its weights."""
    return bundle + weights + len(weights).to_bytes(4, "little")


def exercise(bundle: bytes, weights: bytes = b"") -> str:
    """Load the bundle and call its functions; "" or the sentence of what was wrong.

    Nothing but an `IngotError` may come out of the runtime.
    """
    try:
        loaded = _load(bundle, weights)
        for api in ("metal", "vulkan"):
            _run(loaded, api, len(bundle))
    except rt.IngotError as error:
        return str(error)
    return ""


def _load(bundle: bytes, weights: bytes) -> rt.LoadedBundle:
    if not weights:
        return rt.loads(bundle, "test.ingot")
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "w.safetensors").write_bytes(weights)
        return rt.loads(bundle, "test.ingot", folder)


def _run(loaded: rt.LoadedBundle, api: str, seed: int) -> None:
    program = loaded.bind(CheckingDevice(api, seed=seed))
    for name, signature in loaded.functions.items():
        types = [_closed(p.type) for p in (*signature.arguments, *signature.results)]
        if len(types) > 16 or any(t.byte_size > MOST_BYTES for t in types):
            continue
        arguments = [
            np.zeros(t.shape, numpy_dtype(t.dtype)) for t in types[: len(signature.arguments)]
        ]
        program.call(name, *arguments)


def _closed(tensor: TensorType) -> TensorType:
    return TensorType(tensor.dtype, tuple(OPEN_SIZE if s < 0 else s for s in tensor.shape))
