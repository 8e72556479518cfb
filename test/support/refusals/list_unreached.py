"""Which refusals in the code does no test reach?

Runs lit and pytest with every refusal noted, and lists the places in the rooms that make one and
were not among them. Arguments go to pytest, so that a part of the tests can be tried.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("compiler", "passes", "targets")
MAKERS = ("refuse", "Refusal")


@dataclass(frozen=True)
class Site:
    """A call that makes a refusal."""

    path: Path
    first: int
    last: int
    sentence: str

    @property
    def is_internal(self) -> bool:
        """Whether it guards what no program can bring about."""
        return "internal" in self.sentence


def sites(path: Path) -> Iterator[Site]:
    """The calls in a module that make refusals."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in MAKERS and (node.args or node.keywords):
            texts = [a for a in node.args if isinstance(a, ast.Constant | ast.JoinedStr)]
            sentence = ast.unparse(texts[0]) if texts else ast.unparse(node)
            yield Site(path, node.lineno, node.end_lineno or node.lineno, sentence)


def all_sites() -> list[Site]:
    """Every refusal in the rooms."""
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    own = ROOT / "compiler" / "analysis" / "diagnostics.py"
    return [site for path in files if path != own for site in sites(path)]


def run_tests(log: Path, pytest_arguments: list[str]) -> None:
    """Run lit and pytest; what fails there is for `make test` to say."""
    here = str(Path(__file__).parent)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "INGOT_REFUSALS_LOG": str(log), "PYTHONPATH": path}
    programs = Path(sys.executable).parent
    arguments = pytest_arguments or ["-n", "2", "-m", "not slow"]
    for command in (
        [programs / "lit", "-j2", "-q", ROOT / "test"],
        [programs / "pytest", "-q", "-p", "no:cacheprovider", *arguments],
    ):
        subprocess.run([*map(str, command)], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)


def main() -> int:
    """Print the refusals that were not reached; 1 when there are some that a program can cause."""
    log = ROOT / "build" / "refusals.log"
    log.parent.mkdir(exist_ok=True)
    log.unlink(missing_ok=True)
    run_tests(log, sys.argv[1:])
    reached: dict[Path, set[int]] = {}
    for line in set(log.read_text().splitlines()) if log.exists() else set[str]():
        name, _, number = line.rpartition(":")
        reached.setdefault(Path(name), set()).add(int(number))
    every = all_sites()
    missing = [
        site
        for site in every
        if not any(site.first <= n <= site.last for n in reached.get(site.path.resolve(), ()))
    ]
    for site in missing:
        mark = " (internal)" if site.is_internal else ""
        print(f"{site.path.relative_to(ROOT)}:{site.first}: {site.sentence}{mark}")
    print(f"{len(every)} refusals, {len(missing)} of them reached by no test")
    return int(any(not site.is_internal for site in missing))


if __name__ == "__main__":
    sys.exit(main())
