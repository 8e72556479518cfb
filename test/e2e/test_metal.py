"""Compiled programs through the Metal device, on the stand-in: the same bits as on `host`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import metal_stand_in
from support.fake_xcrun import FakeXcrun
from support.harness import EXAMPLES, Array, bundle_for, device, rt

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.runtime.devices.metal.device import MetalDevice
from ingot.runtime.hal import Device
from ingot.targets.bundle.writer import write_bundle

from .test_many_inputs import one_op

SOFTMAX = """func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>)
    -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
"""
PROGRAMS = {
    "layer_norm": (EXAMPLES / "layer_norm.mlir").read_text(),
    "forty inputs in an argument buffer": one_op(),
}


@pytest.fixture
def metal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Device]:
    """A Mac's GPU with Apple's tools, or the stand-ins for both."""
    if sys.platform == "darwin":
        opened = rt.open_device("metal")
    else:
        FakeXcrun(tmp_path / "bin", monkeypatch)
        metal_stand_in.install(monkeypatch)
        opened = MetalDevice(metal_stand_in.MTLCopyAllDevices()[0])
    yield opened
    opened.close()


def test_libraries_of_apples_tools_give_the_bits_of_the_text(metal: Device) -> None:
    texts = CompileOptions(targets=("metal:apple7",))
    results: list[Array] = []
    x = np.random.default_rng(0).standard_normal((4, 64), np.float32)
    for options in (texts, replace(texts, metallib=("macosx",))):
        program = rt.loads(write_bundle(compile_module(SOFTMAX, "softmax.mlir", options)))
        kernels = program.bundle.variants[0].kernels
        assert all(bool(k.metallib_for("macosx")) is bool(options.metallib) for k in kernels)
        results.append(program.bind(metal).call("main", x))
    assert np.array_equal(*results)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_the_bits_of_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metal_stand_in.install(monkeypatch)
    metal = MetalDevice(metal_stand_in.MTLCopyAllDevices()[0])
    bundle = rt.loads(write_bundle(bundle_for(PROGRAMS[name], "host")))
    function, signature = next(iter(bundle.functions.items()))
    rng = np.random.default_rng(0)
    arguments = [rng.integers(0, 5, p.shape).astype(p.dtype) for p in signature.arguments]
    got, expected = (bundle.bind(on).call(function, *arguments) for on in (metal, device("host")))
    assert np.array_equal(got, expected)
    metal.close()
