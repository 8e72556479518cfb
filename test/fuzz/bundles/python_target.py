"""The Python runtime on any bytes, as a target of atheris; arguments are libFuzzer's."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["ingot.targets.bundle", "ingot.runtime"]):  # pyright: ignore
    from fuzz.bundles.exercise import exercise, split


def one_input(data: bytes) -> None:
    bundle, weights = split(data)
    exercise(bundle, weights)


def main() -> None:
    atheris.Setup(sys.argv, one_input)  # pyright: ignore[reportUnknownMemberType]
    atheris.Fuzz()  # pyright: ignore[reportUnknownMemberType]


if __name__ == "__main__":
    main()
