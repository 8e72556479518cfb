"""The memory plan over time and the roofline, as coordinates for the template's SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from typing import TYPE_CHECKING

from ingot.tools.page.lifetimes import Life
from ingot.tools.units import scaled, size_text

if TYPE_CHECKING:
    from ingot.compiler.driver.cost import KernelCost
    from ingot.targets.profiles import Peaks


@dataclass(frozen=True)
class Rectangle:
    """A buffer of the memory plan."""

    x: float
    y: float
    width: float
    height: float
    label: str
    title: str
    kernel: int | None
    color: int
    """Of a few colours that differ from the neighbours'."""


@dataclass(frozen=True)
class Tick:
    """A mark of an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class MemoryChart:
    """Steps along x, addresses along y, from the bottom."""

    width: float
    height: float
    rectangles: list[Rectangle]
    steps: list[Tick]
    addresses: list[Tick]
    peak: Tick
    bound: Tick


COLORS = 6
_MEMORY_WIDTH, _MEMORY_HEIGHT = 900.0, 300.0
_CHARACTER = 6.6


def memory_chart(
    lives: Sequence[Life], steps: int, peak: int, bound: int, kernel: Callable[[int], str]
) -> MemoryChart:
    """The buffers of one function; `peak` and `bound` in bytes, `kernel` names one by its index."""
    top = max(peak, bound, 1) * 1.06
    width = max(_MEMORY_WIDTH, 6.0 * steps)
    step = width / max(steps, 1)

    def y(address: float) -> float:
        return _MEMORY_HEIGHT * (1 - address / top)

    rectangles: list[Rectangle] = []
    for number, life in enumerate(lives):
        across = step * (life.last - life.first + 1)
        high = y(life.start) - y(life.end)
        size = size_text(life.end - life.start)
        # In a call of its kernel a buffer is an output: the kernel's name says more of it.
        name = kernel(life.writer) if life.writer is not None else life.name
        fits = int((across - 8) / _CHARACTER)
        short = f"{name[: fits - 1]}…" if fits > 4 else ""
        candidates = (f"{name} {life.type}", name, short) if high >= 15 else ()
        label = next((text for text in candidates if len(text) <= fits), "")
        title = (
            f"{name} {life.name} {life.type}, {size}: bytes {life.start} to {life.end},"
            f" steps {life.first} to {life.last}"
        )
        x, color = step * life.first, number % COLORS
        rectangles.append(Rectangle(x, y(life.end), across, high, label, title, life.writer, color))
    stride = max(1, ceil(steps * 26 / width))
    marks = [Tick(step * (i + 0.5), str(i)) for i in range(0, steps, stride)]
    apart = 2 ** max(0, ceil(log2(top / 6)))
    addresses = [Tick(y(at), size_text(at)) for at in range(0, int(top), apart)]
    return MemoryChart(
        width,
        _MEMORY_HEIGHT,
        rectangles,
        marks,
        addresses,
        Tick(y(peak), f"peak {size_text(peak)}"),
        Tick(y(bound), f"lower bound {size_text(bound)}"),
    )


@dataclass(frozen=True)
class Dot:
    """A kernel under the roof."""

    x: float
    y: float
    radius: float
    kernel: str
    title: str


@dataclass(frozen=True)
class Roofline:
    """Flops for each byte along x, flops a second along y, both logarithmic."""

    width: float
    height: float
    roof: str
    matrix_roof: str
    dots: list[Dot]
    intensities: list[Tick]
    rates: list[Tick]


_ROOF_WIDTH, _ROOF_HEIGHT = 520.0, 280.0


def roofline(costs: Sequence[KernelCost], peaks: Peaks) -> Roofline | None:
    """Where each kernel may get to at best; None where no kernel's cost is known.

    A dot's area grows with the time that the kernel takes at least in all of its dispatches.
    """
    known = [c for c in costs if c.intensity and c.flops]
    if not known:
        return None
    low = floor(min(log10(c.intensity or 1) for c in known) - 0.2)
    ridge = log10(peaks.matrix_flops / peaks.bandwidth)
    high = ceil(max(ridge + 0.3, *(log10(c.intensity or 1) for c in known)) + 0.1)
    top = ceil(log10(max(peaks.flops, peaks.matrix_flops)) + 0.1)
    slowest = min(10**low * peaks.bandwidth, peaks.flops, peaks.matrix_flops)
    bottom = min(floor(log10(slowest)), top - 1)

    def x(intensity: float) -> float:
        return _ROOF_WIDTH * (log10(intensity) - low) / (high - low)

    def y(rate: float) -> float:
        return _ROOF_HEIGHT * (top - log10(rate)) / (top - bottom)

    def roof(rate: float) -> str:
        ridge = rate / peaks.bandwidth
        start = f"M{x(10**low):.1f} {y(10**low * peaks.bandwidth):.1f}"
        return f"{start}L{x(ridge):.1f} {y(rate):.1f}H{_ROOF_WIDTH:.1f}"

    longest = max((c.least_time or 0) * c.dispatches for c in known) or 1.0
    dots: list[Dot] = []
    for cost in known:
        assert cost.intensity is not None
        peak = peaks.matrix_flops if cost.uses_matrix_units else peaks.flops
        rate = min(peak, cost.intensity * peaks.bandwidth)
        share = (cost.least_time or 0) * cost.dispatches / longest
        title = (
            f"{cost.kernel}: {cost.intensity:.2f} flop/byte, at most {scaled(rate)}flop/s,"
            f" bound by {cost.bound}"
        )
        radius = 4 + 8 * share**0.5
        dots.append(Dot(x(cost.intensity), y(rate), radius, cost.kernel, title))
    return Roofline(
        _ROOF_WIDTH,
        _ROOF_HEIGHT,
        roof(peaks.flops),
        roof(peaks.matrix_flops) if peaks.matrix_flops != peaks.flops else "",
        dots,
        [Tick(x(10**i), _power(i)) for i in range(low, high + 1)],
        [Tick(y(10**i), f"{scaled(10**i)}flop/s") for i in range(bottom, top + 1)],
    )


def _power(exponent: int) -> str:
    return f"{10**exponent:g}" if exponent >= 0 else f"1/{10**-exponent:g}"
