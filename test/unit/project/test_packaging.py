"""pyproject.toml lists what is there: setuptools cannot find packages that are mapped by name."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
ROOMS: dict[str, Path] = {name: ROOT / path for name, path in CONFIG["package-dir"].items()}
"""The folder of each package that is mapped, by the package's name."""


def folder_of(package: str) -> Path:
    room = next(room for room in ROOMS if package == room or package.startswith(f"{room}."))
    return ROOMS[room].joinpath(*package.removeprefix(room).split(".")[1:])


def test_every_package_is_listed() -> None:
    found = {
        ".".join((name, *init.parent.relative_to(room).parts))
        for name, room in ROOMS.items()
        for init in room.rglob("__init__.py")
    }
    assert sorted(CONFIG["packages"]) == sorted(found)


def test_every_folder_with_code_is_a_package() -> None:
    for room in ROOMS.values():
        for module in room.rglob("*.py"):
            assert (module.parent / "__init__.py").exists(), module


def test_every_data_file_is_listed() -> None:
    listed: set[Path] = set()
    for package, patterns in CONFIG["package-data"].items():
        for pattern in patterns:
            listed |= {p for p in folder_of(package).glob(pattern) if p.is_file()}
    for room in ROOMS.values():
        for path in room.rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                assert path in listed, f"{path.relative_to(ROOT)} would be missing in the wheel"
