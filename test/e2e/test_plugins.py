"""The example of a package with a pass: installed by pip, tested by its own lit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.harness import EXAMPLES

BIN = Path(sys.executable).parent


def test_the_example_package(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="70.1")
    source, site = tmp_path / "plugin", tmp_path / "site"
    shutil.copytree(EXAMPLES / "plugin", source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(site), str(source)]
    subprocess.run(pip, check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [BIN / "lit", "-v", "-j1", source / "test"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "Passed: 1 (100.00%)" in done.stdout
