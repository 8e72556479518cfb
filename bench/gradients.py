"""How much longer a gradient takes than its program: `python -m bench.gradients [DEVICE]`.

Program and gradient take turns, so that what slows the machine slows both. The gradient is that by
all arguments, without the program's own results.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np

from bench.cases import Array, Case, convolution, layer_norm, matmul, softmax
from bench.peers.ingot import IngotCall
from ingot.compiler.driver.compile import compile_text
from ingot.compiler.driver.options import CompileOptions, Differentiate
from ingot.runtime import LoadedBundle, open_device
from ingot.tools.run import target_for

SECONDS = 4.0
"""For each case."""

CASES: tuple[Case, ...] = (
    matmul(512, 512, 512),
    convolution(1, 56, 32, 32),
    layer_norm(1024, 1024),
    softmax(1024, 1024),
)


def _prepared(
    case: Case, device_name: str, differentiate: Differentiate | None, inputs: list[Array]
) -> IngotCall:
    device = open_device(device_name)
    options = CompileOptions(targets=(target_for(device),), differentiate=differentiate)
    bundle = compile_text(case.text, case.name, options).bundle
    return IngotCall(LoadedBundle(bundle, case.name).bind(device), inputs)


def ratio(case: Case, device_name: str) -> tuple[float, float, int | None]:
    """Median seconds of the program, of its gradient, and the gradient's dispatches."""
    inputs = case.inputs()
    forward = _prepared(case, device_name, None, inputs)
    forward.run()
    rng = np.random.default_rng(1)
    cotangents = [rng.standard_normal(r.shape, np.float32) for r in forward.results()]
    backward = _prepared(case, device_name, Differentiate(), [*inputs, *cotangents])
    times: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, spent in zip((forward, backward), times, strict=True):
            start = time.perf_counter()
            call.run()
            spent.append(time.perf_counter() - start)
    return median(times[0]), median(times[1]), backward.dispatches


def main() -> None:
    """Measure every case and print a table."""
    device = sys.argv[1] if len(sys.argv) > 1 else "vulkan"
    print(f"{'case':28} {'forward':>10} {'gradient':>10} {'ratio':>6}  dispatches")
    for case in CASES:
        forward, backward, dispatches = ratio(case, device)
        print(
            f"{case.name:28} {forward * 1e3:7.2f} ms {backward * 1e3:7.2f} ms "
            f"{backward / forward:6.2f}  {dispatches}"
        )


if __name__ == "__main__":
    main()
