"""Wall time of `ingot compile` on single-kernel programs, interpreter start included.

    python bench/compile_time.py [--repeats N] [--target T] [FILE...]

Prints the median of N runs for each program, and the ratio to `iree-compile` where that is
installed; the two take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.mlir"))


def ingot_command(source: Path, output: Path, target: str) -> list[str]:
    """The command line that is measured."""
    ingot = Path(sys.executable).with_name("ingot")
    return [str(ingot), "compile", str(source), "-o", str(output), "--target", target]


def iree_command(source: Path, output: Path) -> list[str] | None:
    """The same job for IREE, or None where it is not installed."""
    iree = shutil.which(
        "iree-compile", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if iree is None:
        return None
    return [
        iree,
        str(source),
        "-o",
        str(output),
        "--iree-hal-target-backends=metal-spirv",
        "--iree-metal-compile-to-metallib=false",
    ]


def wall_time(command: list[str]) -> float:
    """Seconds that the command takes; raises when it fails."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - start


def measure(source: Path, target: str, repeats: int, folder: Path) -> tuple[float, float | None]:
    """Medians of ingot and of IREE (None where it is missing or fails)."""
    ours: list[float] = []
    theirs: list[float] = []
    mine = ingot_command(source, folder / "out.ingot", target)
    peer = iree_command(source, folder / "out.vmfb")
    wall_time(mine)  # the first run compiles Python's byte code
    for _ in range(repeats):
        ours.append(wall_time(mine))
        if peer is not None:
            try:
                theirs.append(wall_time(peer))
            except subprocess.CalledProcessError:
                peer = None
    return statistics.median(ours), statistics.median(theirs) if theirs else None


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=EXAMPLES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--target", default="metal:apple7")
    args = parser.parse_args()
    print(f"{'program':32} {'ingot s':>9} {'iree s':>9} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for source in args.files:
            ours, theirs = measure(source, args.target, args.repeats, Path(folder))
            other = f"{theirs:9.3f} {ours / theirs:7.2f}" if theirs else f"{'-':>9} {'-':>7}"
            print(f"{source.stem:32} {ours:9.3f} {other}", flush=True)


if __name__ == "__main__":
    main()
