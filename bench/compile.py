"""How long compiling takes, beside IREE: `python -m bench.compile --help`.

Ingot and `iree-compile` compile the same program in turn, each as a process of its own, start-up of
the interpreter included; what a process used is what the system says of it when it ends. The last
column is the wall time of Ingot when its cache holds the program.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from bench.transformer import transformer

ROOT = Path(__file__).resolve().parents[1]
LAYERS = (1, 2, 4, 8, 16, 32, 64)
IREE_OPTIONS = ["--iree-hal-target-backends=metal-spirv", "--iree-metal-compile-to-metallib=false"]
SUITES = ("kernels", "programs", "layers")


@dataclass(frozen=True)
class Program:
    """A program to compile."""

    name: str
    file: Path
    suite: str
    size: int
    """Layers of a transformer, lines of other programs."""


@dataclass(frozen=True)
class Used:
    """What a process used."""

    cpu: float
    """Seconds, of the user and of the system."""
    wall: float
    """Seconds."""
    memory: float
    """The most, in MB."""


@dataclass
class Measured:
    """Every run of one compiler on one program; empty where it fails."""

    runs: list[Used] = field(default_factory=list[Used])

    @property
    def cpu(self) -> float | None:
        """Median of CPU time in seconds."""
        return median(run.cpu for run in self.runs) if self.runs else None

    @property
    def wall(self) -> float | None:
        """Median of wall time in seconds."""
        return median(run.wall for run in self.runs) if self.runs else None

    @property
    def memory(self) -> float | None:
        """Median of peak memory in MB."""
        return median(run.memory for run in self.runs) if self.runs else None


@dataclass(frozen=True)
class Row:
    """A program and what it cost."""

    program: Program
    ingot: Measured
    iree: Measured
    cached: Measured


def use(command: Sequence[str], environment: dict[str, str]) -> Used | None:
    """Run a command to its end, with the processes that it starts; None where it fails."""
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment, file_actions=silent)
    _, status, used = os.wait4(process, 0)
    if status != 0:
        return None
    unit = 1e6 if sys.platform == "darwin" else 1e3
    wall = time.perf_counter() - start
    return Used(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / unit)


def programs(suites: Sequence[str], folder: Path, scratch: Path) -> Iterator[Program]:
    """The programs of some suites; those of layers are written to `scratch`."""
    if "kernels" in suites:
        for file in sorted((ROOT / "examples").glob("*.mlir")):
            yield Program(file.stem, file, "kernels", _lines(file))
    if "programs" in suites:
        for file in sorted(folder.glob("*/*.mlir")):
            yield Program(f"{file.parent.name}/{file.stem}", file, "programs", _lines(file))
    if "layers" in suites:
        for layers in LAYERS:
            file = scratch / f"transformer_{layers}.mlir"
            file.write_text(transformer(layers), "utf-8")
            yield Program(f"transformer of {layers}", file, "layers", layers)


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def measure(program: Program, target: str, repeats: int, iree: str | None, scratch: Path) -> Row:
    """Let the compilers take turns on one program."""
    command = str(Path(sys.executable).with_name("ingot"))
    ingot = [command, "compile", str(program.file), "-o", str(scratch / "out.ingot")]
    ingot += ["--target", target]
    out = str(scratch / "out.vmfb")
    other = [] if iree is None else [iree, str(program.file), "-o", out, *IREE_OPTIONS]
    environment = {**os.environ, "INGOT_CACHE_DIR": str(scratch / "cache")}
    row = Row(program, Measured(), Measured(), Measured())
    # The first run writes byte code and fills the cache of the last column.
    use(ingot, environment)
    for _ in range(repeats):
        for measured, line in (
            (row.ingot, [*ingot, "--no-cache"]),
            (row.iree, other),
            (row.cached, ingot),
        ):
            used = use(line, environment) if line else None
            if used is not None:
                measured.runs.append(used)
    return row


HEAD = (
    f"{'':34}{'CPU, s':^23}  {'wall, s':^23}  {'peak memory, MB':^15}  {'cached':>6}\n"
    f"{'program':34}{'ingot':>7} {'iree':>7} {'ratio':>7}  {'ingot':>7} {'iree':>7} {'ratio':>7}"
    f"  {'ingot':>7} {'iree':>7}  {'wall':>6}"
)


def line(row: Row) -> str:
    """A row of the table."""
    parts = [f"{row.program.name:34}"]
    for mine, theirs in ((row.ingot.cpu, row.iree.cpu), (row.ingot.wall, row.iree.wall)):
        parts.append(f"{_cell(mine)} {_cell(theirs)} {_cell(_ratio(mine, theirs))}  ")
    parts.append(f"{_cell(row.ingot.memory, 0)} {_cell(row.iree.memory, 0)}  ")
    parts.append(f"{_cell(row.cached.wall)[1:]}")
    return "".join(parts)


def summary(rows: Sequence[Row], suite: str) -> str:
    """What a suite's rows say together; for layers, how the cost grows with their number."""
    mine = [row for row in rows if row.program.suite == suite]
    ratios = [r for row in mine if (r := _ratio(row.ingot.cpu, row.iree.cpu)) is not None]
    if not ratios:
        return f"{suite}: no program that both compile"
    mean = geometric_mean(ratios)
    text = (
        f"{suite}: CPU of Ingot over IREE's {mean:.2f} (geometric mean), {max(ratios):.2f} at most"
    )
    costs = [(row.program.size, row.ingot.cpu) for row in mine if row.ingot.cpu is not None]
    if suite == "layers" and len(costs) > 2:
        (few, first), (many, last) = costs[0], costs[-1]
        text += f"; {1e3 * (last - first) / (many - few):.0f} ms for each layer"
    return text


def _cell(value: float | None, digits: int = 2) -> str:
    return f"{'-':>7}" if value is None else f"{value:7.{digits}f}"


def _ratio(mine: float | None, theirs: float | None) -> float | None:
    return None if mine is None or not theirs else mine / theirs


def plot(rows: Sequence[Row], path: Path) -> None:
    """Cost against size as an image; raises `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure: Any
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    for name, color in (("ingot", "tab:orange"), ("iree", "tab:blue")):
        for axes, suites, marker in (
            (left, ("layers",), "o-"),
            (right, ("kernels", "programs"), "o"),
        ):
            chosen = [row for row in rows if row.program.suite in suites]
            points = [(row.program.size, getattr(row, name).cpu) for row in chosen]
            points = [(size, cpu) for size, cpu in points if cpu is not None]
            if points:
                axes.plot(*zip(*sorted(points), strict=True), marker, color=color, label=name)
    right.set_xscale("log")
    right.xaxis.set_major_formatter("{x:g}")
    right.xaxis.set_minor_formatter("{x:g}")
    for axes, what in ((left, "layers of a transformer"), (right, "lines of a program")):
        axes.margins(y=0.1)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(what)
        axes.set_ylabel("CPU of the process, s")
        axes.grid(visible=True, alpha=0.3)
        if axes.lines:
            axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="bench.compile", description=__doc__)
    parser.add_argument(
        "--suite", choices=SUITES, action="append", help="may be given several times"
    )
    parser.add_argument("--programs", type=Path, default=ROOT.parent / "shared" / "programs")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--target", default="metal:apple7")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="write the picture of cost and size"
    )
    args = parser.parse_args()
    folders = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    iree = shutil.which("iree-compile", path=folders)
    suites = args.suite or ["kernels", "layers"]
    rows: list[Row] = []
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for program in programs(suites, args.programs, scratch):
            if args.only in program.name:
                rows.append(measure(program, args.target, args.repeats, iree, scratch))
                print(line(rows[-1]), flush=True)
    for suite in suites:
        print(summary(rows, suite))
    if args.plot is not None:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
