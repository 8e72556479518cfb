"""Reference pages of the passes, from the levels' lists and the classes."""

from __future__ import annotations

from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path

from xdsl.passes import ModulePass

from ingot.compiler.driver.registry import LEVELS, get_pass, ingot_passes
from reference.text import code, docstring, summary, table

ROOT = Path(__file__).resolve().parents[3]


def names(level: str) -> list[str]:
    """The passes of a level, in the order in which a program meets them."""
    return [name for name, where in ingot_passes().items() if where == level]


def lit_test(name: str, level: str) -> Path:
    """The lit test of a pass, which shows what it does."""
    return ROOT / "test" / "passes" / level / f"{name}.mlir"


def _options(kind: type[ModulePass]) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for field in fields(kind):
        if field.name == "name":
            continue
        default = "" if field.default is MISSING else code(repr(field.default))
        rows.append((code(field.name.replace("_", "-")), code(str(field.type)), default))
    return rows


def _section(name: str, level: str) -> str:
    kind = get_pass(name)
    parts = [f"## `{name}`\n", docstring(kind.__doc__)]
    if options := _options(kind):
        parts.append(table(("option", "type", "default"), options))
    test = lit_test(name, level)
    if test.exists():
        body = "".join(f"    {line}\n" for line in test.read_text("utf-8").splitlines())
        path = test.relative_to(ROOT)
        example = f'??? example "Its test, {path}"\n\n    ```mlir\n{body}    ```\n'
        parts.append(f"<div data-search-exclude markdown>\n\n{example}\n</div>\n")
    return "\n".join(parts)


def page(level: str) -> str:
    """The page of one level."""
    doc = import_module(f"ingot.passes.{level}").__doc__
    sections = "\n".join(_section(name, level) for name in names(level))
    return f"# Passes: {level}\n\n{docstring(doc)}\n{sections}"


def overview(folder: str) -> str:
    """The table of all passes, a section for each level; the levels' pages lie in `folder`."""
    parts: list[str] = []
    for level in LEVELS:
        doc = summary(import_module(f"ingot.passes.{level}").__doc__)
        rows = [
            (f"[`{name}`]({folder}/{level}.md#{name})", summary(get_pass(name).__doc__))
            for name in names(level)
        ]
        parts.append(f"## {level}\n\n{doc}\n\n{table(('pass', 'what it does'), rows)}")
    return "\n".join(parts)
