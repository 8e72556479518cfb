"""The picture: for each case the ratio to each peer, and the distance to the roofline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.report import Row, roofline_share
from bench.roofline import Peaks


def plot(rows: Sequence[Row], peers: Sequence[str], peaks: Peaks, title: str, path: Path) -> None:
    """Write an image (the suffix decides which kind); raises `ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure: Any
    figure, (left, right) = pyplot.subplots(
        1, 2, sharey=True, figsize=(12, 1.5 + 0.35 * len(rows)), layout="constrained"
    )
    names, places = [row.case.name for row in rows], range(len(rows))
    others = [peer for peer in peers if peer != "ingot"]
    height = 0.8 / max(1, len(others))
    for i, peer in enumerate(others):
        ratios = [row.ratio(peer) or 0 for row in rows]
        at = [place + (i - (len(others) - 1) / 2) * height for place in places]
        bars = left.barh(at, ratios, height, label=peer)
        left.bar_label(bars, [f"{ratio:.2f}" if ratio else "" for ratio in ratios], padding=2)
    left.axvline(1, color="black", linewidth=1)
    left.set_xscale("log")
    left.set_xlabel("time of the peer's call over Ingot's (right of 1: Ingot is faster)")
    if others:
        left.legend()
    left.set_yticks(list(places), names)
    left.invert_yaxis()
    shares = [100 * (roofline_share(row, peaks) or 0) for row in rows]
    bars = right.barh(list(places), shares, 0.8, color="tab:green")
    right.bar_label(bars, [f"{share:.0f}%" if share else "" for share in shares], padding=2)
    right.axvline(100, color="black", linewidth=1)
    right.set_xlabel(
        f"share of the roofline: {peaks.bandwidth / 1e9:.1f} GB/s and {peaks.flops / 1e9:.0f} "
        "Gflop/s of f32, measured"
    )
    figure.suptitle(title)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
