"""Real programs, compiled and run on both devices, against the values JAX and PyTorch computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.harness import DEVICES, SHARED, Array, assert_close, bundle_for, device, rt

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.runtime.devices.host.check import check_msl
from ingot.targets.bundle.model import DType, TensorType
from ingot.targets.bundle.writer import write_bundle

# What is refused so far, and what the refusal says.
NOT_YET: dict[str, str] = {}


def programs() -> list[Path]:
    folder = SHARED / "programs"
    return sorted(p for d in ("linalg_torch", "linalg_jax") for p in (folder / d).glob("*.mlir"))


def arrays(data: dict[str, Array], prefix: str, types: tuple[TensorType, ...]) -> list[Array]:
    """`in0`, `in1`, ... with bf16 restored from its bits."""
    found: list[Array] = []
    for index, type_ in enumerate(types):
        array = data[f"{prefix}{index}"]
        found.append(array.view(ml_dtypes.bfloat16) if type_.dtype is DType.BF16 else array)
    return found


def call(loaded: rt.LoadedBundle, where: Any, function: str, inputs: list[Array]) -> list[Array]:
    result = loaded.bind(where).call(function, *inputs)
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("path", programs(), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_values_are_right(path: Path, device_name: str) -> None:
    opened = device(device_name)
    if path.stem in NOT_YET:
        with pytest.raises(Refusal, match=NOT_YET[path.stem]):
            bundle_for(path.read_text(), device_name, path.name)
        return
    bundle = bundle_for(path.read_text(), device_name, path.name)
    with np.load(SHARED / "programs" / "data" / f"{path.stem}.npz") as file:
        data = dict(file)
    (function,) = bundle.functions
    inputs = arrays(data, "in", function.arguments)
    expected = arrays(data, "out", function.results)
    loaded = rt.loads(write_bundle(bundle))
    results = call(loaded, opened, function.name, inputs)
    assert len(results) == len(expected)
    for index, (got, want) in enumerate(zip(results, expected, strict=True)):
        assert_close(got, want.reshape(got.shape), f"result {index}")
    if device_name == "host":
        shuffled = call(loaded, "host:random:7", function.name, inputs)
        for got, again in zip(results, shuffled, strict=True):
            np.testing.assert_array_equal(got, again, "another order of threads")
        for kernel in bundle.variants[0].kernels:
            assert check_msl(kernel.msl) == [], kernel.name
