"""docs/tosa.md lists the ops that the code lowers."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_table_is_current() -> None:
    tool = runpy.run_path(str(DOCS / "tools" / "tosa.py"))
    assert tool["page"]() == (DOCS / "tosa.md").read_text("utf-8"), (
        "run `python docs/tools/tosa.py`"
    )
