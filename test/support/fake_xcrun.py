"""An `xcrun` for machines without Apple's tools: it keeps its arguments, and fakes `metal`'s work.

A metallib of it is a line `MTLB SDK` and the MSL, which `support.metal_stand_in` loads.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

_PROGRAM = """#!{python}
import json, os, sys
from pathlib import Path

words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
assert words[0] == "-sdk", words
sdk, tool, rest = words[1], words[2], words[3:]
if tool == "--show-sdk-version":
    print("15.2")
elif not Path({folder!r}, "metal-is-installed").exists():
    sys.exit('xcrun: error: unable to find utility "metal", not a developer tool or in PATH')
elif rest == ["--version"]:
    print(Path({folder!r}, "metal-is-installed").read_text())
elif tool == "metal":
    source = Path(rest[rest.index("-c") + 1])
    text = source.read_text()
    if Path({folder!r}, "refuses").exists():
        sys.exit(f"{{source}}:3:5: error: use of undeclared identifier 'x'\\n1 error generated.")
    Path(rest[rest.index("-o") + 1]).write_text(text)
else:
    assert tool == "metallib", words
    text = Path(rest[0]).read_text()
    Path(rest[rest.index("-o") + 1]).write_text(f"MTLB {{sdk}}\\n{{text}}")
"""


class FakeXcrun:
    """The tools in a folder that is first on PATH."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._log = folder / "log"
        folder.mkdir()
        program = folder / "xcrun"
        text = _PROGRAM.format(python=sys.executable, log=str(self._log), folder=str(folder))
        program.write_text(text)
        program.chmod(0o755)
        patch.setenv("PATH", str(folder), prepend=":")
        self.install("Apple metal version 32023.155 (metalfe-32023.155)")

    def install(self, version: str) -> None:
        """Let `metal` be here and call itself so; empty for an Xcode without it."""
        mark = self._folder / "metal-is-installed"
        mark.write_text(version)
        if not version:
            mark.unlink()

    def refuse(self) -> None:
        """From now on `metal` refuses every text."""
        (self._folder / "refuses").touch()

    def calls(self) -> list[list[str]]:
        """The arguments of all calls since the last time that they were asked for."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.write_text("")
        return [json.loads(line) for line in lines]
