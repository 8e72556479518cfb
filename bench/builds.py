"""What builds with Ingot cost: what is compiled again, processes at once, and the cache. For Linux.

    python -m bench.builds [--rounds N] [--target T] [FILE...]

Compiles the files (20 made from examples/*.mlir where none are given) without a cache, by one
process and by two in turns, then with a full cache; builds them with Ninja, untouched and after one
has changed.

Seconds on the wall suffer from what else the machine does, so each round is printed with the share
that others had of it, and with two figures that they change less: `work`, the processor time of two
processes over that of one, and `alone`, how much faster two would be with the machine to
themselves: the processor time of one over that of the parent and its busiest worker.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
COUNT = 20


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    wall: float
    """Seconds."""
    processor: float
    """Seconds, with all that its processes used."""
    longest: float
    """Of that, what was done one after another: by the process itself and its busiest child."""
    others: float
    """The share of the machine's processors that other programs had meanwhile."""


def cost(command: Sequence[str], cache: Path) -> Cost:
    """Run a command; raises when it fails."""
    busy, start = _busy(), time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**os.environ, "INGOT_CACHE_DIR": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    workers: dict[str, float] = {}
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        workers.update(_children(process.pid))
        time.sleep(0.02)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    wall = time.perf_counter() - start
    mine = usage.ru_utime + usage.ru_stime
    others = max(_busy() - busy - mine, 0.0) / (wall * (os.cpu_count() or 1))
    longest = mine - sum(workers.values()) + max(workers.values(), default=0.0)
    return Cost(wall, mine, longest, others)


def _children(pid: int) -> dict[str, float]:
    """The processor time of the children that a process has now, in seconds."""
    found: dict[str, float] = {}
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            found[child] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def _busy() -> float:
    """Seconds of all processors that were not idle, since the machine was started (Linux)."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, fields)
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def compile_command(files: Sequence[Path], target: str, out: Path, *options: str) -> list[str]:
    """`ingot compile` of all files."""
    words = [str(BIN / "ingot"), "compile", *map(str, files), "--target", target]
    return [*words, "--out-dir", str(out), *options]


def examples(folder: Path) -> list[Path]:
    """Copies of the examples, so many that there are `COUNT`, each a program of its own."""
    sources = sorted((ROOT / "examples").glob("*.mlir"))
    made: list[Path] = []
    for number in range(COUNT):
        source = sources[number % len(sources)]
        path = folder / f"{source.stem}_{number}.mlir"
        text = source.read_text()
        path.write_text(re.sub(r"func\.func @(\w+)", rf"func.func @\1_{number}", text, count=1))
        made.append(path)
    return made


def parallel(files: Sequence[Path], target: str, rounds: int, folder: Path) -> Cost:
    """Print how two processes compare with one; what one took, in the middle."""
    alone: list[Cost] = []
    together: list[Cost] = []
    print(
        f"{'round':>5} {'-j 1':>8} {'-j 2':>8} {'faster':>7} {'work':>5} {'alone':>6} {'others':>7}"
    )
    for number in range(rounds):
        one = cost(compile_command(files, target, folder, "-j1", "--no-cache"), folder)
        two = cost(compile_command(files, target, folder, "-j2", "--no-cache"), folder)
        alone.append(one)
        together.append(two)
        others = max(one.others, two.others)
        print(
            f"{number:5} {one.wall:6.2f} s {two.wall:6.2f} s {one.wall / two.wall:6.2f}x"
            f" {two.processor / one.processor:5.2f}"
            f" {one.processor / two.longest:5.2f}x {others:7.0%}",
            flush=True,
        )
    pairs = list(zip(alone, together, strict=True))
    faster = statistics.median(a.wall / b.wall for a, b in pairs)
    work = statistics.median(b.processor / a.processor for a, b in pairs)
    ideal = statistics.median(a.processor / b.longest for a, b in pairs)
    print(
        f"-j 2 is {faster:.2f} times as fast as -j 1, and would be {ideal:.2f} times with the"
        f" machine to itself; it does {work:.2f} times the work (medians)"
    )
    return sorted(alone, key=lambda c: c.processor)[len(alone) // 2]


def cached(files: Sequence[Path], target: str, rounds: int, folder: Path, cold: Cost) -> None:
    """Print how a full cache compares with none."""
    cache = folder / "cache"
    cost(compile_command(files, target, folder, "-j2"), cache)
    warm = [cost(compile_command(files, target, folder, "-j1"), cache) for _ in range(rounds)]
    middle = sorted(warm, key=lambda c: c.processor)[len(warm) // 2]
    print(
        f"a warm cache is {cold.processor / middle.processor:.0f} times as fast:"
        f" {middle.processor:.2f} s of a processor instead of {cold.processor:.2f} s"
    )


def rebuilt(files: Sequence[Path], target: str, folder: Path) -> None:
    """Print what Ninja compiles again when nothing or one file has changed."""
    rule = (
        f"rule bundle\n  command = {BIN / 'ingot'} compile $in -o $out --target {target}"
        " -MF $out.d --no-cache\n  depfile = $out.d\n  deps = gcc\n"
    )
    lines = [f"build {path.stem}.ingot: bundle {path}" for path in files]
    (folder / "build.ninja").write_text(rule + "\n".join(lines) + "\n")
    ninja = shutil.which("ninja", path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    if ninja is None:
        raise SystemExit("no ninja")

    def build() -> int:
        done = subprocess.run(
            [ninja, "-v", "-j2"], cwd=folder, capture_output=True, text=True, check=True
        )
        return done.stdout.count(" compile ")

    first, again = build(), build()
    later = time.time() + 60
    os.utime(files[0], (later, later))
    print(f"Ninja compiled {first}, then {again}, and {build()} after one had changed")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--target", default="metal:apple7")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files: list[Path] = []
        for file in options.files or examples(folder):
            # Copies: a file's time is changed below.
            files.append(folder / file.name)
            if file != files[-1]:
                shutil.copyfile(file, files[-1])
        print(f"{len(files)} programs for {options.target}")
        alone = parallel(files, options.target, options.rounds, folder)
        cached(files, options.target, options.rounds, folder, alone)
        rebuilt(files, options.target, folder)


if __name__ == "__main__":
    main()
