"""docs/pytorch.md lists the types and ops that the code takes."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_tables_are_current() -> None:
    tool = runpy.run_path(str(DOCS / "tools" / "pytorch.py"))
    assert tool["page"]() == (DOCS / "pytorch.md").read_text("utf-8"), (
        "run `python docs/tools/pytorch.py`"
    )
