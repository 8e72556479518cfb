"""Writes the table of ops in docs/tosa.md from the code.

    python docs/tools/tosa.py

A test checks that the page holds what this writes.
"""

from __future__ import annotations

import re
from pathlib import Path

from ingot.compiler.dialects.tosa import OPS, CondIfOp, WhileLoopOp
from ingot.passes.tosa import control
from ingot.passes.tosa.elementwise import ROWS
from ingot.passes.tosa.tosa_to_linalg import LOWERINGS

PAGE = Path(__file__).resolve().parents[1] / "tosa.md"
_TABLE = re.compile(r"(<!-- table ops -->\n).*?(<!-- end -->)", re.S)


def _first_line(function: object) -> str:
    return (function.__doc__ or "").strip().partition("\n")[0]


def _elements(name: str) -> str:
    row = ROWS[name]
    columns = (
        ("floats", row.floats),
        ("integers", row.integers),
        ("booleans", row.booleans),
    )
    return "elementwise; " + ", ".join(text for text, compute in columns if compute is not None)


def table() -> str:
    """One row for each op that has a lowering."""
    lines = ["| op | operands | becomes |", "| --- | --- | --- |"]
    for name, lowering in sorted(LOWERINGS.items()):
        operands = OPS[name].SPEC.operands.replace("?", "").replace("*", ", ...")
        meaning = _elements(name) if name in ROWS else _first_line(lowering)
        lines.append(f"| `{name.removeprefix('tosa.')}` | {operands} | {meaning} |")
    for op, lowering in (
        (CondIfOp, control.lower_cond_if),
        (WhileLoopOp, control.lower_while_loop),
    ):
        lines.append(f"| `{op.name.removeprefix('tosa.')}` | | {_first_line(lowering)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with the table that the code gives."""
    return _TABLE.sub(lambda match: match[1] + table() + match[2], PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
