"""`ingot doctor` sees what is there, and says what to do about what is not."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from ingot.targets import pyspirv
from ingot.tools.doctor import command


def test_this_machine_is_fit() -> None:
    done = CliRunner().invoke(command)
    assert done.exit_code == 0, done.output
    assert "ok      SPIRV-Tools" in done.output
    assert done.output.endswith("This installation compiles bundles and runs them.\n")


def test_what_is_missing_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise pyspirv.LibraryNotFound("SPIRV-Cross was not found: apt install it")

    monkeypatch.setattr(pyspirv, "load", absent)
    done = CliRunner().invoke(command, ["--json"])
    assert done.exit_code == 1
    (finding,) = (f for f in json.loads(done.output) if f["name"] == "SPIRV-Cross")
    assert finding["state"] == "missing"
    assert finding["found"] == "SPIRV-Cross was not found: apt install it"
    assert finding["advice"] == "without it metal: targets cannot be compiled"
    text = CliRunner().invoke(command).output
    assert "MISSING SPIRV-Cross" in text
    assert text.endswith("This installation is not complete.\n")
