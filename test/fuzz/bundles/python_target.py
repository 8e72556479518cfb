"""The Python runtime on any bytes, as a target of atheris; arguments are libFuzzer's."""

from __future__ import annotations

import struct
import sys

import atheris

with atheris.instrument_imports(include=["ingot.targets.bundle", "ingot.runtime"]):  # pyright: ignore
    from fuzz.bundles.exercise import exercise, joined, split


def one_input(data: bytes) -> None:
    """Whatever is wrong with a bundle is an `IngotError`; everything else ends the run."""
    exercise(*split(data))


def mutated(data: bytes, most: int, seed: int) -> bytes:
    """A mutation; most keep the size that a bundle says it has in step with the one it has."""
    changed: bytes = atheris.Mutate(data, most)  # pyright: ignore
    bundle, weights = split(changed)
    fixed = bytearray(bundle)
    if seed % 16 == 0 or len(fixed) < 8:
        return changed
    try:
        (root,) = struct.unpack_from("<I", fixed)
        vtable = root - struct.unpack_from("<i", fixed, root)[0]
        (field,) = struct.unpack_from("<H", fixed, vtable + 8)
        struct.pack_into("<Q", fixed, root + field, len(fixed))
    except struct.error:
        return changed
    return joined(bytes(fixed), weights)[:most]


def main() -> None:
    """Fuzz until a limit of libFuzzer's is reached."""
    atheris.Setup(sys.argv, one_input, custom_mutator=mutated)  # pyright: ignore
    atheris.Fuzz()  # pyright: ignore


if __name__ == "__main__":
    main()
