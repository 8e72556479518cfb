"""The examples: right on both devices, the same bytes twice, MSL that passes the check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.harness import DEVICES, EXAMPLES, assert_close, bundle_for, device, rt

from ingot.compiler.driver.verify_values import reference_results
from ingot.targets.bundle.writer import write_bundle

PROGRAMS = sorted(EXAMPLES.glob("*.mlir"))


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_values_are_right(path: Path, device_name: str) -> None:
    text = path.read_text()
    opened = device(device_name)
    loaded = rt.loads(write_bundle(bundle_for(text, device_name, path.name)))
    (function,) = loaded.functions.values()
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(a.shape).astype(np.float32) for a in function.arguments]
    result = loaded.bind(opened).call(function.name, *inputs)
    (expected,) = reference_results(text, path.name, function.name, inputs)
    assert isinstance(result, np.ndarray)
    assert_close(result, expected)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_the_msl_is_what_metal_takes(path: Path) -> None:
    from ingot.runtime.devices.host.check import check_msl

    for variant in bundle_for(path.read_text(), "host", path.name).variants:
        for kernel in variant.kernels:
            assert check_msl(kernel.msl) == []


def test_bytes_do_not_depend_on_folder_hash_seed_or_locale(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    made: list[bytes] = []
    for number, locale in enumerate(("C", "C.UTF-8")):
        folder = tmp_path / f"folder{number}"
        folder.mkdir()
        source = folder / "softmax.mlir"
        source.write_bytes((EXAMPLES / "softmax.mlir").read_bytes())
        ingot = Path(sys.executable).with_name("ingot")
        targets = ["--target", "metal:apple7", "--target", "vulkan:generic"]
        subprocess.run(
            [ingot, "compile", source, "-o", folder / "out.ingot", *targets],
            check=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": str(number + 1), "LC_ALL": locale},
        )
        made.append((folder / "out.ingot").read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("device_name", DEVICES)
def test_the_fit_converges_and_draws_its_losses(device_name: str, tmp_path: Path) -> None:
    import runpy

    device(device_name)
    script = runpy.run_path(str(EXAMPLES / "fit" / "fit.py"))
    picture = tmp_path / "loss.svg"
    arguments = ["--device", device_name, "--steps", "60", "--output", str(picture)]
    assert script["main"](arguments) == 0
    drawn = picture.read_text()
    assert drawn.count(",") >= 60
    assert "polyline" in drawn
