"""The page on StableHLO lists the ops that are lowered."""

from __future__ import annotations

from pathlib import Path

from ingot.passes.stablehlo import complex_rules, refused
from ingot.passes.stablehlo.registry import LOWERINGS, SCALAR_RULES, SIZED

PAGE = Path(__file__).resolve().parents[3] / "docs" / "jax.md"
_REAL = frozenset(
    f"stablehlo.{name}"
    for name in (
        "batch_norm_grad", "batch_norm_inference", "batch_norm_training", "bitcast_convert",
        "get_dimension_size", "rng_bit_generator",
    )
) | {"chlo.top_k"}  # fmt: skip
"""Ops of real numbers, or integers, only."""
BEGIN, END = "<!-- table ops -->\n", "<!-- end -->\n"


def table() -> str:
    """Every op that is lowered: whether bodies of reductions may hold it, and of complex numbers.

    Only elementwise ops look at what an element is.
    """
    columns = ("op", "in the bodies of reductions", "of complex numbers", "of open sizes")
    lines = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    for name in sorted({*LOWERINGS, *SIZED} - set(refused.LOWERINGS)):
        scalar = name in SCALAR_RULES
        complex_ = complex_rules.defined(name) if scalar else name not in _REAL
        marks = ["yes" if mark else "" for mark in (scalar, complex_, name in SIZED)]
        lines.append(f"| `{name}` | {' | '.join(marks)} |")
    return "\n".join(lines) + "\n"


def test_the_page_lists_the_ops() -> None:
    text = PAGE.read_text("utf-8")
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == table(), (
        f"run `python {Path(__file__).name}` to write the table"
    )


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page[: page.index(BEGIN) + len(BEGIN)] + table() + page[page.index(END) :])
