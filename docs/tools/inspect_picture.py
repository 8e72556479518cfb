"""Take the picture of docs/inspect.md again, in headless Chromium.

PYTHONPATH=test python docs/tools/inspect_picture.py
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

from click.testing import CliRunner
from support.browser import chromium

from ingot.tools.main import command as main

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "inspect.webp"
LINE = (
    "[...document.querySelectorAll('[data-pane=msl] .line')]"
    ".find((line) => line.textContent.includes('= ingot_tanh'))"
)


def take(folder: Path) -> None:
    """The code of the dense layer's kernel, with a line of MSL chosen."""
    page = folder / "layer.html"
    program = str(ROOT / "examples" / "matmul_bias_gelu.mlir")
    arguments = ["inspect", program, "--target", "metal:apple7", "--html", str(page)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    with chromium(folder / "profile") as browser:
        browser.show_as(1240, 720)
        browser.open(page)
        browser.click("#program svg a[data-kernel='0']")
        browser.evaluate(f"{LINE}.scrollIntoView({{block: 'center'}}); {LINE}.click()")
        browser.evaluate("document.querySelector('#viewer').scrollIntoView()")
        shot = browser.call("Page.captureScreenshot", format="webp", quality=70)
        PICTURE.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        take(Path(name))
