"""When each command of a call ran: as a table, and as a trace that browsers show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ingot.tools.table import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingot.runtime.hal import Timing

_HEADINGS = ("command", "times", "microseconds", "each", "share")


def profile_text(timings: Sequence[Timing]) -> str:
    """A table with a line for each kernel, `fill`, `copy` and `update`; the longest comes first.

    `share` is of the sum of all times. From the first start to the last end may be less, where
    commands run at the same time, or more, where the device waits.
    """
    spent: dict[str, list[int]] = {}
    for timing in timings:
        spent.setdefault(timing.label, []).append(timing.end - timing.start)
    total = sum(map(sum, spent.values()))
    rows = [
        (
            label,
            str(len(times)),
            f"{sum(times) / 1000:.1f}",
            f"{sum(times) / len(times) / 1000:.1f}",
            f"{sum(times) / total:.1%}" if total else "",
        )
        for label, times in sorted(spent.items(), key=lambda item: -sum(item[1]))
    ]
    whole = max((t.end for t in timings), default=0) - min((t.start for t in timings), default=0)
    end = f"first start to last end: {whole / 1000:.1f} microseconds"
    return f"{columns(_HEADINGS, rows, right=_HEADINGS[1:])}\n\n{end}"


def chrome_trace(timings: Sequence[Timing], device: str) -> str:
    """JSON in the Trace Event Format, for chrome://tracing and Perfetto.

    Complete events ("X") in microseconds from the first start, on one track named after the device.
    """
    first = min((timing.start for timing in timings), default=0)
    place = {"pid": 0, "tid": 0}
    names = [
        {"name": f"{kind}_name", "ph": "M", **place, "args": {"name": name}}
        for kind, name in (("process", "ingot"), ("thread", device))
    ]
    events = [
        {
            "name": timing.label,
            "ph": "X",
            "ts": (timing.start - first) / 1000,
            "dur": (timing.end - timing.start) / 1000,
            **place,
        }
        for timing in timings
    ]
    return json.dumps({"traceEvents": [*names, *events], "displayTimeUnit": "ns"})
