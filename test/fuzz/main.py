"""`make fuzz`: random programs on both devices until the time or the number is up.

The next seed is remembered in build/fuzz, so that a run goes on where the last one ended. What
fails is made small and left there, as a program that `ingot run --verify` takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from random import Random

from fuzz.check import Failure, check, check_all, minimized
from fuzz.generate import random_program
from fuzz.reduction import reduced
from fuzz.values import Program

BATCH = 5
DEVICES = ("host:random:{seed}", "vulkan")


def main() -> int:
    """Fuzz; returns 1 when a program failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--seed", type=int, default=None, help="the first seed")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "next-seed"
    first = options.seed
    if first is None:
        first = int(state.read_text()) if state.exists() else 0
    end = time.monotonic() + 60.0 * options.minutes if options.minutes else float("inf")
    failures, seed = 0, first
    while seed < first + options.programs and time.monotonic() < end:
        seeds = range(seed, min(seed + BATCH, first + options.programs))
        failures += _run_batch(seeds, folder)
        seed = seeds.stop
        state.write_text(f"{seed}\n")
        if seed % 100 < BATCH:
            print(f"{seed - first} programs, {failures} failures", flush=True)
    print(f"seeds {first} to {seed - 1}: {seed - first} programs, {failures} failures")
    return int(failures > 0)


def _run_batch(seeds: range, folder: Path) -> int:
    programs = [random_program(Random(seed)) for seed in seeds]
    devices = [pattern.format(seed=seeds.start) for pattern in DEVICES]
    failures = 0
    for program, seed, failure in zip(
        programs, seeds, check_all(programs, list(seeds), devices), strict=True
    ):
        if failure is not None:
            failures += 1
            _report(program, seed, failure, folder)
    return failures


def _report(program: Program, seed: int, failure: Failure, folder: Path) -> None:
    device = failure.device
    print(f"seed {seed} on {device}: {failure.kind}: {failure.message[:300]}", flush=True)

    def fails(smaller: Program) -> bool:
        found = check(smaller, seed, [device])
        return found is not None and found.kind == failure.kind

    # By the analysis of errors first, which the reducer does not have.
    small = minimized(program, fails) if failure.kind == "mismatch" else program
    text = reduced(small.text(), failure, seed)
    name = f"{failure.kind}-{seed}-{device.partition(':')[0]}.mlir"
    said = "".join(f"// {line}\n" for line in failure.message.splitlines()[:8])
    (folder / name).write_text(f"// seed {seed} on {device}\n{said}{text}")


if __name__ == "__main__":
    sys.exit(main())
