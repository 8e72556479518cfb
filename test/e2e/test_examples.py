"""The examples: right on both devices, the same bytes twice, MSL that passes the check."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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


def turkish(folder: Path) -> dict[str, str]:
    """A locale with a comma in numbers and an `i` whose capital is no `I`, if it can be made."""
    made = folder / "tr_TR.UTF-8"
    localedef = shutil.which("localedef")
    words = [localedef or "", "-i", "tr_TR", "-f", "UTF-8", str(made)]
    if localedef is None or subprocess.run(words, capture_output=True).returncode:
        return {"LC_ALL": "C.UTF-8"}
    return {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(folder)}


def test_bytes_do_not_depend_on_folder_hash_seed_or_locale(tmp_path: Path) -> None:
    """Nor on the time zone, on the number of processes, or on who reads which locale when."""
    # As in an app that sets the locale for the libraries that it calls, which Python does not do.
    program = (
        "import locale; locale.setlocale(locale.LC_ALL, '')\n"
        "from ingot.tools.main import main; main()\n"
    )
    sources = [*PROGRAMS, EXAMPLES / "fit" / "bumps.tin"]
    environments = (
        {"LC_ALL": "C", "PYTHONHASHSEED": "1", "TZ": "UTC", "HOME": "/nonexistent"},
        {**turkish(tmp_path), "PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu"},
    )
    made: list[dict[str, bytes]] = []
    for number, environment in enumerate(environments):
        # The second folder's name is long, and not ASCII.
        folder = tmp_path / ("first", f"{'Ordner-' * 20}ü")[number]
        folder.mkdir()
        for source in sources:
            shutil.copy(source, folder)
        names = [s.name if number else str(folder / s.name) for s in sources]
        for emit in ("bundle", "msl", "mlir"):
            words = ["compile", *names, "--out-dir", "out", "--no-cache", f"-j{number + 1}"]
            words += ["--emit", emit, "--target", "metal:apple7", "--target", "vulkan:generic"]
            subprocess.run(
                [sys.executable, "-c", program, *words],
                check=True,
                cwd=folder,
                env={**os.environ, **environment},
            )
        made.append({path.name: path.read_bytes() for path in (folder / "out").iterdir()})
    assert len(made[0]) == 3 * len(sources)
    assert made[0].keys() == made[1].keys()
    assert [name for name, data in made[0].items() if data != made[1][name]] == []


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
