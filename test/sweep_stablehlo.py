"""Run a folder of StableHLO programs on the devices of this machine, and print a table by op.

python test/sweep_stablehlo.py [--device host] [--filter REGEX] [FOLDER]
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from support.conformance import Outcome, judge
from support.harness import DEVICES, SHARED

VERDICTS = ("right", "refused", "wrong", "crash")


def jobs(folder: Path, devices: tuple[str, ...], pattern: str) -> list[tuple[Path, Path, str]]:
    """Every program of a folder with its values, which lie beside it or in the folder `data`."""
    found: list[tuple[Path, Path, str]] = []
    for path in sorted(folder.glob("*.mlir")):
        values = path.with_suffix(".npz")
        if not values.exists():
            values = folder.parent / "data" / values.name
        if re.search(pattern, path.stem):
            found += [(path, values, device) for device in devices]
    return found


def table(outcomes: list[Outcome], devices: tuple[str, ...]) -> Table:
    """How many programs of each op ended how, on each device."""
    result = Table("op")
    counts = Counter((o.group, o.device, o.verdict) for o in outcomes)
    columns = [(d, v) for d in devices for v in VERDICTS if any(
        o.device == d and o.verdict == v for o in outcomes
    )]  # fmt: skip
    for device, verdict in columns:
        result.add_column(f"{device}\n{verdict}", justify="right")
    for group in sorted({o.group for o in outcomes}):
        result.add_row(group, *(str(counts[group, d, v] or "") for d, v in columns))
    result.add_section()
    totals = [sum(o.device == d and o.verdict == v for o in outcomes) for d, v in columns]
    result.add_row("all", *map(str, totals))
    return result


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path), default=SHARED / "conformance" / "stablehlo"
)
@click.option("--device", "devices", multiple=True, default=DEVICES, help="host, vulkan")
@click.option("--filter", "pattern", default="", help="Only programs whose names match.")
@click.option("--jobs", "workers", default=2, help="Processes.")
def main(folder: Path, devices: tuple[str, ...], pattern: str, workers: int) -> None:
    """Judge every program of FOLDER; exit status 1 if a value is wrong."""
    todo = jobs(folder, devices, pattern)
    with Pool(workers) as pool:
        outcomes = list(track(pool.imap_unordered(judge, todo, 4), "running", total=len(todo)))
    console = Console()
    console.print(table(outcomes, devices))
    for outcome in sorted(outcomes, key=lambda o: (o.verdict, o.name)):
        if outcome.verdict != "right":
            line = f"{outcome.verdict}: {outcome.name} on {outcome.device}: {outcome.reason}"
            console.print(line, markup=False, highlight=False)
    if any(outcome.verdict in ("wrong", "crash") for outcome in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
