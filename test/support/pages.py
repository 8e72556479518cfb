"""What a page of the documentation has its reader do, in order."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from support.harness import EXAMPLES, ROOT

PAGES = [
    ROOT / "README.md",
    *sorted(EXAMPLES.rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

_BLOCK = re.compile(
    r"(?:^`(?P<path>[\w./-]+)`:\n\n|^<!-- (?P<why>not run: [^>]+) -->\n)?"
    r"^```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Command:
    """A command of a session, and what it prints; `...` stands for anything."""

    line: str
    output: str


@dataclass(frozen=True)
class Write:
    """A file that the page shows, under the path that stands above it."""

    path: str
    text: str


@dataclass(frozen=True)
class Script:
    """A block of Python."""

    text: str

    def missing(self) -> list[str]:
        """The packages that it imports and that are not installed."""
        names: set[str] = set()
        for node in ast.walk(ast.parse(self.text)):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
        return sorted(name for name in names if find_spec(name) is None)


def steps(page: Path) -> list[Command | Write | Script]:
    """The steps of a page. A block below `<!-- not run: REASON -->` is none of them."""
    found: list[Command | Write | Script] = []
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["path"]:
            found.append(Write(block["path"], block["body"]))
        elif block["why"]:
            continue
        elif block["language"] == "console":
            found += _session(block["body"])
        elif block["language"] == "python":
            found.append(Script(block["body"]))
    return found


def unchecked_blocks(page: Path) -> list[str]:
    """Blocks of shell that no test runs and no comment excuses."""
    return [
        block["body"]
        for block in _BLOCK.finditer(page.read_text("utf-8"))
        if block["language"] in ("sh", "bash", "shell") and not (block["path"] or block["why"])
    ]


def _session(body: str) -> list[Command]:
    """The commands of a session: `$ command`, `> more of it` after a backslash, its output."""
    found: list[Command] = []
    for step in re.split(r"^\$ ", body, flags=re.M)[1:]:
        line, _, output = step.partition("\n")
        while line.endswith("\\"):
            more, _, output = output.partition("\n")
            line = line[:-1] + more.removeprefix("> ").lstrip()
        found.append(Command(line, output))
    return found


def as_pattern(expected: str) -> str:
    """A regular expression for what a page says is printed."""
    return r"\s*".join(re.escape(part.strip()) for part in expected.split("...")).replace(
        r"\s*", r"[\s\S]*"
    )
