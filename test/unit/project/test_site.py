"""The site: built without a warning, complete, and of no use for a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(?:https?:)?//[^>]*>"
    r"|<link\b(?=[^>]*\brel=\"?(?:stylesheet|preconnect|preload|icon))[^>]*href=\"?(?:https?:)?//[^>]*>"
    r"|url\(\s*[\"']?(?:https?:)?//[^)]*\)|@import[^;]*//[^;]*"
)
"""What makes a browser fetch something from elsewhere when it shows a page."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning ends the build."""
    if find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_nav() -> None:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert re.search(rf"[ :]{re.escape(name)}$", nav, re.M), f"{name} is not in mkdocs.yml"


def test_nothing_is_fetched(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(files) > 50
    for file in files:
        found = _FETCHED.search(file.read_text("utf-8"))
        assert found is None, f"{file.relative_to(site)}: {found and found[0]}"


def test_no_link_leaves_the_folder(site: Path) -> None:
    # A server shows 404.html under any address, so its links begin at the server's root.
    for file in set(site.rglob("*.html")) - {site / "404.html"}:
        for target in re.findall(r"<a [^>]*href=\"([^\"#:]+\.\w+)", file.read_text("utf-8")):
            assert (file.parent / target).resolve().is_relative_to(site), (file, target)
            assert (file.parent / target).exists(), (file, target)


def test_generated_parts_are_filled_in(site: Path) -> None:
    for name in ("commands", "dialects", "passes", "targets"):
        text = (site / "reference" / f"{name}.html").read_text("utf-8")
        assert "generated:" not in text
        assert "<table>" in text
    assert "linalg-fuse-elementwise" in (site / "reference/passes/tensor.html").read_text("utf-8")
