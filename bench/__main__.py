"""`python -m bench`: measure, print the table, write it and the plot."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from bench.measure import measure
from bench.peers import Peer, Unavailable
from bench.peers.ingot import Ingot
from bench.peers.iree import Iree
from bench.peers.torch import Torch
from bench.report import Row, table
from bench.roofline import measure_peaks
from bench.suites import SUITES

ROOT = Path(__file__).resolve().parents[1]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Run Ingot and peers (IREE, PyTorch) side by side on one device: interleaved, "
        "on the same inputs, values checked; whole calls, arguments and results resident.",
    )
    parser.add_argument("--device", default="vulkan", help="as `ingot run` takes it (%(default)s)")
    parser.add_argument("--suite", default="standard", choices=SUITES, help="(%(default)s)")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--peers", default="iree,torch", help="comma-separated (%(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each case (%(default)s)")
    parser.add_argument(
        "--programs",
        type=Path,
        default=ROOT.parent / "shared" / "programs",
        help="folder of whole programs (%(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "bench",
        help="folder for the table, the plot and what IREE compiled (%(default)s)",
    )
    return parser.parse_args()


def main() -> None:
    """Run the suite."""
    args = _arguments()
    ingot = Ingot(args.device)
    makers: dict[str, Callable[[], Peer]] = {
        "iree": lambda: Iree(ingot.device.name, args.out / "iree"),
        "torch": Torch,
    }
    peers: list[Peer] = [ingot]
    for name in filter(None, args.peers.split(",")):
        try:
            peers.append(makers[name]())
        except Unavailable as error:
            print(f"without {name}: {error}", file=sys.stderr)
    programs = args.programs if args.programs.is_dir() else None
    chosen = [c for c in SUITES[args.suite](programs) if re.search(args.only, c.name)]
    peaks = measure_peaks(ingot, 1 << (26 if args.suite == "large" else 22))
    rows: list[Row] = []
    for case in chosen:
        rows.append(Row(case, measure(case, peers, args.seconds)))
        print(f"{len(rows)} of {len(chosen)}: {case.name}", file=sys.stderr)
    names = [peer.name for peer in peers]
    title = "; ".join(peer.description for peer in peers)
    text = (
        f"{title}\nmeasured peaks: {peaks.bandwidth / 1e9:.1f} GB/s, {peaks.flops / 1e9:.0f} "
        f"Gflop/s of f32; times in ms, medians\n{table(rows, names, peaks)}"
    )
    print(text)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / f"{args.suite}.txt").write_text(text + "\n")
    try:
        from bench.plot import plot

        plot(rows, names, peaks, title, args.out / f"{args.suite}.png")
    except ImportError:
        print("no plot: matplotlib is not installed (pip install -e '.[bench]')", file=sys.stderr)


if __name__ == "__main__":
    main()
