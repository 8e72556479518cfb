"""The table: one line for each case, and the geometric mean of the ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from bench.cases import Case
from bench.measure import Entry
from bench.roofline import Peaks


@dataclass(frozen=True)
class Row:
    """A case and what each peer took for it."""

    case: Case
    entries: dict[str, Entry]

    def ratio(self, peer: str) -> float | None:
        """How many times as long as Ingot's call another peer's takes."""
        ours, theirs = self.entries["ingot"].call, self.entries[peer].call
        return theirs / ours if ours and theirs else None


def table(rows: Sequence[Row], peers: Sequence[str], peaks: Peaks) -> str:
    """The table as text; times in milliseconds, of whole calls unless the heading says kernel."""
    others = [peer for peer in peers if peer != "ingot"]
    headings = ["case", "ingot", "kernel", "dispatches", "of roofline"]
    headings += [heading for peer in others for heading in (peer, f"{peer}/ingot")]
    lines = [headings, *(_line(row, others, peaks) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    text = [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(columns))
        for columns in (list(zip(line, widths, strict=True)) for line in lines)
    ]
    for peer in others:
        ratios = [ratio for row in rows if (ratio := row.ratio(peer))]
        if ratios:
            slower = [row.case.name for row in rows if (row.ratio(peer) or 1) < 1]
            text.append(
                f"{peer}/ingot: geometric mean {geometric_mean(ratios):.2f} of {len(ratios)}"
                f"; Ingot is slower on: {', '.join(slower) or 'none'}"
            )
    for row in rows:
        for peer, entry in row.entries.items():
            if entry.problem:
                text.append(f"{row.case.name}, {peer}: {entry.problem}")
    return "\n".join(text)


def roofline_share(row: Row, peaks: Peaks) -> float | None:
    """The least time that the case takes over the time of Ingot's kernels (of its call if unknown).

    None for a whole program, whose arithmetic is not known.
    """
    entry = row.entries["ingot"]
    taken = entry.kernel or entry.call
    return peaks.bound(row.case) / taken if taken and row.case.family != "program" else None


def _line(row: Row, others: Sequence[str], peaks: Peaks) -> list[str]:
    entry, share = row.entries["ingot"], roofline_share(row, peaks)
    line = [row.case.name, _ms(entry.call), _ms(entry.kernel), str(entry.dispatches or "-")]
    line.append(f"{share:.0%}" if share else "-")
    for peer in others:
        ratio = row.ratio(peer)
        line += [_ms(row.entries[peer].call), f"{ratio:.2f}" if ratio else "-"]
    return line


def _ms(seconds: float | None) -> str:
    return f"{seconds * 1e3:.3f}" if seconds is not None else "-"
