"""Named lists of cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench import cases
from bench.cases import Case

_PROGRAMS = ("transformer_block", "gpt_tiny")


def standard(programs: Path | None) -> list[Case]:
    """What a CPU runs in milliseconds, and whole programs from the folder `programs` if given."""
    single = [
        *(cases.matmul(n, n, n, dtype) for dtype in ("f32", "f16") for n in (256, 512, 1024)),
        cases.batch_matmul(16, 128, 128, 64),
        cases.matvec(4096, 4096),
        cases.convolution(1, 56, 64, 64),
        cases.depthwise(1, 56, 64),
        cases.softmax(512, 1000),
        cases.layer_norm(1024, 768),
        cases.gelu(1 << 22),
        cases.sums(2048, 2048, axis=1),
        cases.sums(2048, 2048, axis=0),
        cases.transpose(2048, 2048),
        cases.attention(8, 256, 64),
    ]
    return single + _whole(programs)


def _whole(programs: Path | None) -> list[Case]:
    if programs is None:
        return []
    files = ((programs / "linalg_jax" / f"{n}.mlir", n) for n in _PROGRAMS)
    return [
        cases.program(file, programs / "data" / f"{name}.npz")
        for file, name in files
        if file.is_file()
    ]


def large(programs: Path | None) -> list[Case]:
    """What keeps a data center's GPU busy."""
    del programs
    return [
        cases.matmul(2048, 2048, 2048),
        cases.matmul(4096, 4096, 4096),
        cases.matmul(4096, 4096, 4096, "f16"),
        cases.gelu(1 << 26),
        cases.softmax(8192, 8192),
        cases.sums(8192, 8192, axis=1),
        cases.sums(8192, 8192, axis=0),
        cases.transpose(8192, 8192),
    ]


def small(programs: Path | None) -> list[Case]:
    """What a call costs besides its kernel."""
    del programs
    return [cases.scale(1 << 10)]


SUITES: dict[str, Callable[[Path | None], list[Case]]] = {
    "standard": standard,
    "large": large,
    "small": small,
}
"""By the name that `--suite` takes."""
