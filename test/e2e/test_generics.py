"""Every form of linalg.generic and of the tensor ops, end to end, against the evaluator."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.batch import check_module
from support.harness import DEVICES

DATA = Path(__file__).parent / "data"
FILES = [path for path in sorted(DATA.glob("*.mlir")) if path.stem != "dynamic"]
"""`test_dynamic_programs.py` gives the programs with open sizes their inputs."""


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_module(file: Path, device_name: str) -> None:
    check_module(file.read_text(), device_name)
