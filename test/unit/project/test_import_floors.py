"""Imports go down by floors, as docs/architecture.md says, and never up."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("compiler", "passes", "targets", "runtime", "tuning", "tools", "integrations")

# For each room (the longest matching prefix counts): what it may import of `ingot`, besides itself.
GROUND = ("compiler.dialects", "compiler.analysis", "compiler.plugins", "targets.profiles")
BUNDLE = ("targets.bundle",)
ALLOWED: dict[str, tuple[str, ...]] = {
    "compiler.dialects": GROUND,
    "compiler.analysis": GROUND,
    "compiler.plugins": (),
    "targets.profiles": (),
    "compiler.frontends": GROUND,
    "compiler.interpreter": GROUND,
    "passes": GROUND,
    "targets.bundle": (),
    "targets.pyspirv": (),
    "targets.spirv": GROUND,
    "targets.metallib": BUNDLE,
    "targets.msl": (*GROUND, "targets.pyspirv"),
    "compiler.driver": (*GROUND, "compiler", "passes", "targets"),
    "runtime": BUNDLE,
    "tuning": ("compiler", "targets", "runtime"),
    "tools": ("compiler", "passes", "targets", "runtime", "tuning"),
    "integrations": ("compiler", "targets", "runtime", "tools.inspect"),
    "jax": ("integrations", "compiler.driver", "runtime"),
    "torch": ("integrations", "compiler.driver", "runtime"),
}
# The runtime and what it stands on work where the compiler is not installed.
WITHOUT_XDSL = ("runtime", "targets.bundle", "targets.pyspirv", "targets.profiles", "tools")


def room_of(module: str) -> str | None:
    """The longest room that holds `module` (without `ingot.`)."""
    fits = [room for room in ALLOWED if module == room or module.startswith(room + ".")]
    return max(fits, key=len, default=None)


def imports_of(path: Path, *, top_level_only: bool = False) -> list[tuple[str, int]]:
    """Absolute names of what a file imports, with line numbers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found: list[tuple[str, int]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = ("ingot", *path.relative_to(ROOT).parts[: -node.level])
                base = ".".join((*package, *filter(None, [base])))
            found += [(f"{base}.{alias.name}", node.lineno) for alias in node.names]
    return found


def python_files() -> list[Path]:
    return sorted(p for room in ROOMS for p in (ROOT / room).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "integrations":
        parts = ("integrations", *parts[2:]) if parts[1] == "common" else parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", python_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    module = module_name(path)
    room = room_of(module)
    if room is None:
        assert path.name == "__init__.py", f"{module} lies in no room"
        assert not imports_of(path), f"{path} must import nothing"
        return
    allowed = (room, *ALLOWED[room])
    for name, line in imports_of(path):
        if not name.startswith("ingot."):
            continue
        target = name.removeprefix("ingot.")
        ok = any(target == a or target.startswith(a + ".") for a in allowed)
        assert ok, f"{path.relative_to(ROOT)}:{line}: {module} must not import {name}"


@pytest.mark.parametrize(
    "path",
    [p for p in python_files() if module_name(p).startswith(WITHOUT_XDSL)],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_runtime_and_start_up_need_no_xdsl(path: Path) -> None:
    whole_file = not module_name(path).startswith("tools")
    for name, line in imports_of(path, top_level_only=not whole_file):
        heavy = name.startswith("xdsl") or (
            name.startswith("ingot.compiler") and not name.startswith("ingot.compiler.driver.opt")
        )
        assert not heavy, f"{path.relative_to(ROOT)}:{line}: imports {name}"


def test_a_level_lists_names_and_imports_nothing() -> None:
    for level in ("tensor", "dispatch", "kernel", "lowering"):
        path = ROOT / "passes" / level / "__init__.py"
        names = [name for name, _ in imports_of(path) if not name.startswith("__future__")]
        assert names == [], f"{path} must import nothing"
