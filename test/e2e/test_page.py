"""The page of `ingot inspect --html` in a browser: what it shows, and what a person can do there.

Skipped where there is no Chromium.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.browser import Browser, chromium, find_chromium
from support.harness import EXAMPLES, SHARED

from ingot.tools.main import command as main

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium")

GPT = SHARED / "programs" / "linalg_jax" / "gpt_tiny.mlir"
MOST_BYTES = 5_000_000


def page_of(program: Path, folder: Path, *options: str) -> Path:
    page = folder / f"{program.stem}.html"
    result = CliRunner().invoke(main, ["inspect", str(program), "--html", str(page), *options])
    assert result.exit_code == 0, result.stderr
    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium") / "profile") as found:
        found.show_as(1400, 900)
        yield found


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = EXAMPLES / "matmul_bias_gelu.mlir"
    return page_of(program, tmp_path_factory.mktemp("page"), "--target", "metal:apple7")


@pytest.fixture
def opened(browser: Browser, layer: Path) -> Generator[Browser]:
    """The page of the example, which neither asks for anything nor complains."""
    browser.show_as(1400, 900)
    browser.complaints.clear()
    browser.open(layer)
    yield browser
    assert browser.complaints == []
    assert set(browser.requests) <= {layer.absolute().as_uri()}


def count(browser: Browser, selector: str) -> int:
    return browser.evaluate(f"document.querySelectorAll({selector!r}).length")


def text(browser: Browser, selector: str) -> str:
    return browser.evaluate(f"document.querySelector({selector!r}).textContent")


def line_of(browser: Browser, pane: str, part: str) -> str:
    """The selector of the first line of a pane that has some text."""
    number = browser.evaluate(
        f"[...document.querySelectorAll('[data-pane={pane}] .line')]"
        f".find((line) => line.textContent.includes({part!r})).dataset.i"
    )
    return f"[data-pane={pane}] .line[data-i='{number}']"


def lit(browser: Browser, pane: str) -> str:
    """The lines of a pane that belong to the one that is pointed at."""
    lines = f"[...document.querySelectorAll('[data-pane={pane}] .line.on')]"
    return browser.evaluate(f"{lines}.map((line) => line.textContent).join('\\n')")


def open_kernel(browser: Browser) -> None:
    browser.click("svg a[data-kernel='0']")
    browser.wait("document.querySelector('[data-pane=msl] .line')")


def test_it_shows_the_graph_the_memory_and_the_costs(opened: Browser) -> None:
    assert count(opened, "#program svg .box.kernel") >= 1
    assert count(opened, "#kernels tbody tr") >= 1
    assert count(opened, "#kernels circle.dot") >= 1
    assert "metal:apple7" in text(opened, "h1")


def test_a_box_of_the_graph_opens_its_code(opened: Browser) -> None:
    open_kernel(opened)
    assert "kernel void" in text(opened, "[data-pane=msl]")
    assert "linalg.matmul" in text(opened, "[data-pane=source]")
    assert opened.evaluate("location.hash") == "#kernel-0"


def test_pointing_at_the_source_shows_what_became_of_it(opened: Browser) -> None:
    open_kernel(opened)
    opened.hover(line_of(opened, "source", "math.tanh"))
    opened.wait("document.querySelector('[data-pane=msl] .line.on')")
    assert "tanh" in lit(opened, "msl")
    assert count(opened, "[data-pane=spirv] .line.on") >= 1


def test_pointing_at_msl_shows_where_it_comes_from(opened: Browser) -> None:
    open_kernel(opened)
    opened.click(line_of(opened, "msl", "= ingot_tanh"))
    assert "math.tanh" in lit(opened, "source")
    assert "OpFunctionCall" in lit(opened, "spirv")
    assert "of the source" in text(opened, "#status")


def test_keys_walk_through_linked_lines(opened: Browser) -> None:
    open_kernel(opened)
    opened.evaluate("document.querySelector('[data-pane=msl] .code').focus()")
    opened.press("ArrowDown")
    here = "document.querySelector('[data-pane=msl] .line.here').dataset.i"
    first = opened.evaluate(here)
    opened.press("ArrowDown")
    assert int(opened.evaluate(here)) > int(first)
    opened.press("Escape")
    assert count(opened, ".line.here") == 0


def test_a_tab_adds_a_text(opened: Browser) -> None:
    open_kernel(opened)
    before = count(opened, ".pane")
    opened.evaluate(
        "[...document.querySelectorAll('#tabs button')].find("
        "(b) => b.textContent === 'Buffers').click()"
    )
    assert count(opened, ".pane") == before + 1
    assert "memref" in text(opened, "[data-pane=buffers]")


def test_search_finds_ops_and_opens_them(opened: Browser) -> None:
    opened.press("/")
    opened.type("math.tanh")
    opened.wait("document.querySelectorAll('#found li').length > 1")
    opened.press("Enter")
    opened.wait("document.querySelector('[data-pane=source] .line.here')")
    assert "math.tanh" in text(opened, "[data-pane=source] .line.here")


def test_nothing_found_is_said(opened: Browser) -> None:
    opened.press("/")
    opened.type("no such thing")
    assert text(opened, "#found") == "nothing found"


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_need_not_scroll_sideways(opened: Browser, dark: bool) -> None:
    opened.show_as(390, 844, dark=dark)
    open_kernel(opened)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    background = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) is dark


def test_a_bundle_shows_what_it_holds(browser: Browser, tmp_path: Path) -> None:
    bundle = tmp_path / "layer.ingot"
    source = str(EXAMPLES / "matmul_bias_gelu.mlir")
    arguments = ["compile", source, "-o", str(bundle), "--target", "metal:apple7"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    browser.show_as(1400, 900)
    browser.open(page_of(bundle, tmp_path))
    assert "--source PROGRAM.mlir" in text(browser, ".note")
    open_kernel(browser)
    browser.click(line_of(browser, "msl", "= ingot_tanh"))
    assert "OpFunctionCall" in lit(browser, "spirv")
    assert count(browser, "[data-pane=source]") == 0


@pytest.mark.skipif(not GPT.exists(), reason="the shared programs are not here")
def test_three_clicks_lead_to_the_attention_kernel_and_its_source(
    browser: Browser, tmp_path: Path
) -> None:
    page = page_of(GPT, tmp_path, "--target", "metal:apple7")
    assert page.stat().st_size < MOST_BYTES
    browser.show_as(1400, 900)
    browser.open(page)
    kernel = browser.evaluate(
        "[...document.querySelectorAll('#program svg a')]"
        ".find((a) => a.textContent.includes('attention')).dataset.kernel"
    )
    browser.click(f"#program svg a[data-kernel='{kernel}']")
    assert "kernel void main_attention" in text(browser, "[data-pane=msl]")
    assert "linalg.batch_matmul" in text(browser, "[data-pane=source]")
    browser.click(line_of(browser, "msl", "= ingot_exp"))
    assert "math.exp" in lit(browser, "source")
