"""Fit a model in index notation by gradient descent, on a device, and draw the loss.

    python examples/fit/fit.py [--device host|vulkan|metal] [--steps 400] [--output loss.svg]

`bumps.tin` is compiled together with its gradient: one call returns the loss and the gradient of
each parameter. The update of the parameters (Adam) is NumPy's.
"""

from __future__ import annotations

import argparse
import sys
from math import log10
from pathlib import Path

import numpy as np

import ingot.runtime as rt
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions, Differentiate
from ingot.targets.bundle.writer import write_bundle

MODEL = Path(__file__).with_name("bumps.tin")
TARGETS = {"host": "metal:apple7", "metal": "metal:apple7", "vulkan": "vulkan:generic"}
PARAMETERS = ("height", "center", "width")


def fit(device: str, steps: int, rate: float = 0.03) -> list[float]:
    """The loss before each step."""
    gradient = Differentiate(wrt=PARAMETERS, with_value=True)
    options = CompileOptions(targets=(TARGETS[device],), differentiate=gradient)
    bundle = write_bundle(compile_module(MODEL.read_text(), MODEL.name, options))
    program = rt.loads(bundle).bind(rt.open_device(device))

    x = np.linspace(-3, 3, 64, dtype=np.float32)
    y = (np.sin(2 * x) + 0.3 * x).astype(np.float32)
    values = {
        "height": np.zeros(8, np.float32),
        "center": np.linspace(-3, 3, 8, dtype=np.float32),
        "width": np.full(8, 0.8, np.float32),
    }
    first = {name: np.zeros_like(value) for name, value in values.items()}
    second = {name: np.zeros_like(value) for name, value in values.items()}
    seed = np.ones((), np.float32)  # the cotangent of the loss
    losses: list[float] = []
    for step in range(1, steps + 1):
        loss, *gradients = program.call("main", x, y, *values.values(), seed)
        losses.append(float(loss))
        for name, slope in zip(values, gradients, strict=True):
            first[name] += 0.1 * (slope - first[name])
            second[name] += 0.001 * (slope**2 - second[name])
            mean, square = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
            values[name] = values[name] - np.float32(rate) * mean / (np.sqrt(square) + 1e-8)
    return losses


def curve(losses: list[float], width: int = 640, height: int = 360) -> str:
    """The losses over the steps as SVG, on a logarithmic scale."""
    top, bottom = log10(max(losses)), log10(min(losses))
    left, right, above, below = 70, 20, 40, 40
    scale_x = (width - left - right) / max(len(losses) - 1, 1)
    scale_y = (height - above - below) / max(top - bottom, 1e-9)
    points = " ".join(
        f"{left + step * scale_x:.1f},{above + (top - log10(loss)) * scale_y:.1f}"
        for step, loss in enumerate(losses)
    )
    lines: list[str] = []
    for power in range(int(np.ceil(bottom)), int(np.floor(top)) + 1):
        y = above + (top - power) * scale_y
        lines.append(
            f'<line x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="13">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<text x="{left}" y="22" font-size="15">Mean squared error by step</text>'
        f"{''.join(lines)}"
        f'<polyline points="{points}" fill="none" stroke="#2563eb" stroke-width="2"/>'
        f'<text x="{left}" y="{height - 14}">0</text>'
        f'<text x="{width - right}" y="{height - 14}" text-anchor="end">{len(losses)} steps</text>'
        "</svg>\n"
    )


def main(arguments: list[str]) -> int:
    """Fit, print a few losses, draw all; the exit status says whether the fit converged."""
    parser = argparse.ArgumentParser(description="Fit bumps.tin by gradient descent.")
    parser.add_argument("--device", choices=TARGETS, default="host")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--output", type=Path, default=Path("loss.svg"))
    chosen = parser.parse_args(arguments)
    losses = fit(chosen.device, chosen.steps)
    for step in sorted({0, *(chosen.steps * part // 4 for part in (1, 2, 3)), chosen.steps - 1}):
        print(f"step {step:4}: loss {losses[step]:.2e}")
    chosen.output.write_text(curve(losses))
    return 0 if losses[-1] < losses[0] / 100 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
