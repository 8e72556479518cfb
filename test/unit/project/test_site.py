"""The site: built without a warning, complete, and of no use for a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.browser import Browser, chromium, find_chromium

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


@pytest.fixture(scope="module")
def browser(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    """A browser that shows the site from its folder."""
    if find_chromium() is None:
        pytest.skip("there is no Chromium")
    with chromium(tmp_path_factory.mktemp("chromium") / "profile") as found:
        yield found


def test_the_search_works_from_a_folder(browser: Browser, site: Path) -> None:
    browser.show_as(1400, 900)
    browser.open(site / "index.html")
    browser.evaluate("document.querySelector('.md-search__input').focus()")
    browser.type("linalg-fuse-elementwise")
    browser.wait("document.querySelector('.md-search-result__link')")
    found = browser.evaluate(
        "[...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)"
    )
    assert any("reference/passes/tensor.html" in link for link in found)
    assert browser.complaints == []
    assert all(r.startswith((site.as_uri(), "about:", "data:")) for r in browser.requests)


@pytest.mark.parametrize("page", ["index", "quick-start", "reference/commands", "numerics"])
def test_a_phone_shows_pages_whole(browser: Browser, site: Path, page: str) -> None:
    browser.show_as(390, 844)
    browser.open(site / f"{page}.html")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390


def test_pages_are_dark_where_the_reader_likes_it(browser: Browser, site: Path) -> None:
    colours: list[str] = []
    for dark in (False, True):
        browser.show_as(1400, 900, dark=dark)
        browser.open(site / "faq.html")
        colours.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] == "rgb(255, 255, 255)"
    assert max(map(int, re.findall(r"\d+", colours[1]))) < 64


def test_a_copied_session_is_its_commands(browser: Browser, site: Path) -> None:
    browser.show_as(1400, 900)
    browser.open(site / "quick-start.html")
    copied = browser.evaluate(
        "(() => { const code = [...document.querySelectorAll('pre code')].find("
        "(code) => code.textContent.includes('ingot doctor'));"
        "code.setAttribute('data-md-copying', ''); return code.innerText; })()"
    )
    assert copied.split("\n")[:2] == [". .venv/bin/activate", "ingot doctor"]
    assert "This installation" not in copied
