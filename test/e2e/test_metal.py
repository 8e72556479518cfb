"""Compiled programs through the Metal device, on the stand-in: the same bits as on `host`."""

from __future__ import annotations

import numpy as np
import pytest
from support import metal_stand_in
from support.harness import EXAMPLES, bundle_for, device, rt

from ingot.runtime.devices.metal.device import MetalDevice
from ingot.targets.bundle.writer import write_bundle

from .test_many_inputs import one_op

PROGRAMS = {
    "layer_norm": (EXAMPLES / "layer_norm.mlir").read_text(),
    "forty inputs in an argument buffer": one_op(),
}


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
