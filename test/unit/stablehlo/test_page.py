"""The page on StableHLO lists the ops that are lowered."""

from __future__ import annotations

from pathlib import Path

from ingot.passes.stablehlo import refused
from ingot.passes.stablehlo.registry import COMPLEX_LOWERINGS, LOWERINGS, SCALAR_RULES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "jax.md"
BEGIN, END = "<!-- table ops -->\n", "<!-- end -->\n"


def table() -> str:
    """Every op that is lowered: whether bodies of reductions may hold it, and complex numbers."""
    lines = ["| op | in the bodies of reductions | of complex numbers |", "| --- | --- | --- |"]
    for name in sorted(set(LOWERINGS) | set(COMPLEX_LOWERINGS)):
        if name in refused.LOWERINGS:
            continue
        marks = ["yes" if name in rules else "" for rules in (SCALAR_RULES, COMPLEX_LOWERINGS)]
        lines.append(f"| `{name}` | {marks[0]} | {marks[1]} |")
    return "\n".join(lines) + "\n"


def test_the_page_lists_the_ops() -> None:
    text = PAGE.read_text("utf-8")
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == table(), (
        f"run `python {Path(__file__).name}` to write the table"
    )


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page[: page.index(BEGIN) + len(BEGIN)] + table() + page[page.index(END) :])
