"""What `make demo` runs: compile a program for an Apple GPU, run what was made, show it.

The dense layer of `matmul_bias_gelu.mlir` is compiled for `metal:apple7` and run on the `host`
device, which executes the very MSL that an Apple GPU would, and for Vulkan where a driver is found.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.syntax import Syntax

import ingot.runtime as rt
from ingot.compiler.driver.compile import compile_text
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.bundle.writer import write_bundle

SOURCE = Path(__file__).with_name("matmul_bias_gelu.mlir")
console = Console(highlight=False, soft_wrap=True)


def reference(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same layer in float64 NumPy."""
    v = x.astype(np.float64) @ w + b
    return 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))


def excerpt(msl: str, lines: int = 30) -> str:
    """The header comment and the beginning of the kernel."""
    text = msl.splitlines()
    head = [line for line in text if line.startswith("// ")]
    start = next(n for n, line in enumerate(text) if line.startswith("kernel void"))
    return "\n".join([*head, "...", *text[start : start + lines], "..."])


def vulkan_target() -> str | None:
    """The profile for the first Vulkan device, None where there is none."""
    try:
        device = rt.open_device("vulkan")
    except rt.IngotError as reason:
        console.print(f"vulkan: skipped, {reason}")
        return None
    return f"vulkan:{'lavapipe' if 'llvmpipe' in device.name else 'generic'}"


def main() -> int:
    """Compile, run, compare; the exit status says whether the values are right."""
    console.rule(f"ingot compile {SOURCE.name}")
    on_vulkan = vulkan_target()
    targets = ("metal:apple7", *([on_vulkan] if on_vulkan else []))
    compiled = compile_text(SOURCE.read_text(), SOURCE.name, CompileOptions(targets=targets))
    for target in compiled.targets:
        for kernel in target.kernels:
            groups = "x".join(map(str, kernel.grid))
            threads = "x".join(map(str, kernel.kernel.threadgroup_size))
            console.print(
                f"{target.profile.name}: kernel [bold]{kernel.name}[/], {groups} threadgroups of "
                f"{threads} threads, {len(kernel.kernel.spirv)} bytes of SPIR-V"
            )
    kernel = compiled.targets[0].kernels[0]
    console.rule(f"{kernel.name}.metal, in parts")
    console.print(Syntax(excerpt(kernel.kernel.msl), "cpp", background_color="default"))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dense.ingot"
        path.write_bytes(write_bundle(compiled.bundle))
        console.rule(f"ingot run {path.name}, {path.stat().st_size} bytes")
        rng = np.random.default_rng(0)
        shapes = ((65, 127), (127, 200), (200,))
        x, w, b = (rng.standard_normal(s).astype(np.float32) for s in shapes)
        expected = reference(x, w, b)
        right = True
        for device in ("host", *(["vulkan"] if on_vulkan else [])):
            result = rt.load(path).bind(device).dense(x, w, b)
            error = np.abs(result - expected).max() / np.abs(expected).max()
            right &= bool(error < 1e-5)
            verdict = "right" if error < 1e-5 else "WRONG"
            console.print(f"{device}: {verdict}, largest relative difference {error:.1e}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
