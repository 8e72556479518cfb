"""The guides quote code that exists, and link to pages that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pages import PAGES

ROOT = Path(__file__).resolve().parents[3]
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


def test_the_guide_to_passes_quotes_the_pass_and_its_test() -> None:
    guide = ROOT / "docs" / "writing-a-pass.md"
    code = (ROOT / "passes/dispatch/dispatch_merge_kernels.py").read_text("utf-8")
    test = (ROOT / "test/passes/dispatch/dispatch-merge-kernels.mlir").read_text("utf-8")
    for language, source in (("python", code), ("mlir", test)):
        assert blocks(guide, language)
        for block in blocks(guide, language):
            assert block.strip() in source, block


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
