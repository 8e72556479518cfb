"""StableHLO programs of JAX and PyTorch, compiled and run on both devices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.conformance import judge, run_program
from support.harness import DEVICES, SHARED, run

# What is refused so far, and what the refusal says.
NOT_YET: dict[str, str] = {
    "complex_mul": "complex numbers",
    "fft": "complex numbers",
    "mlp_grad": "stablehlo.scatter",
    "sort": "stablehlo.sort",
    "t_dyn_mlp": "shape",
}


def programs() -> list[Path]:
    folder = SHARED / "programs"
    return sorted(p for d in ("stablehlo", "stablehlo_torch") for p in (folder / d).glob("*.mlir"))


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("path", programs(), ids=lambda p: p.stem)
def test_programs_are_right(path: Path, device_name: str) -> None:
    outcome = run_program(path, SHARED / "programs" / "data" / f"{path.stem}.npz", device_name)
    if path.stem in NOT_YET:
        assert outcome.verdict == "refused" and NOT_YET[path.stem] in outcome.reason
    else:
        assert outcome.verdict == "right", outcome


@pytest.mark.slow
@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize(
    "path", sorted((SHARED / "conformance" / "stablehlo").glob("*.mlir")), ids=lambda p: p.stem
)
def test_conformance(path: Path, device_name: str) -> None:
    outcome = judge((path, path.with_suffix(".npz"), device_name))
    assert outcome.verdict in ("right", "refused"), outcome


@pytest.mark.parametrize("device_name", DEVICES)
def test_unsigned_integers_keep_their_type(device_name: str) -> None:
    text = """
      func.func @main(%x: tensor<4xui8>, %y: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>) {
        %q = stablehlo.divide %x, %y : tensor<4xui8>
        %c = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
        return %q, %c : tensor<4xui8>, tensor<4xi1>
      }"""
    x, y = np.array([200, 7, 255, 0], np.uint8), np.array([3, 130, 254, 1], np.uint8)
    quotient, less = run(text, device_name, [x, y])
    assert quotient.dtype == np.uint8 and np.array_equal(quotient, x // y)
    assert np.array_equal(less, x < y)
