"""pyproject.toml lists what is there: setuptools cannot find packages that are mapped by name."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
ROOMS = ("compiler", "passes", "targets", "runtime", "tools")


def test_every_package_is_listed() -> None:
    found = {
        ".".join(("ingot", *init.parent.relative_to(ROOT).parts))
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    assert sorted(CONFIG["packages"]) == sorted(found)


def test_every_folder_with_code_is_a_package() -> None:
    for room in ROOMS:
        for module in (ROOT / room).rglob("*.py"):
            assert (module.parent / "__init__.py").exists(), module


def test_every_data_file_is_listed() -> None:
    listed: set[Path] = set()
    for package, patterns in CONFIG["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        for pattern in patterns:
            listed |= {p for p in folder.glob(pattern) if p.is_file()}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                assert path in listed, f"{path.relative_to(ROOT)} would be missing in the wheel"
