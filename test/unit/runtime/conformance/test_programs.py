"""What bundles ask of a device: functions that run no kernel, names, many threads, flat memory."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ingot.runtime.hal import Device
from ingot.targets.bundle import model as m

from ..conftest import axpy_bundle, loaded, make_bundle, tensor, whole

N = 256


def test_the_identity_function(device: Device) -> None:
    of = tensor(m.DType.F32, N)
    argument, result = (
        whole(kind, 0, 4 * N) for kind in (m.BufferKind.ARGUMENT, m.BufferKind.RESULT)
    )
    main = m.Function("main", (of,), (of,), ("x",), ("y",))
    bundle = make_bundle({main: m.FunctionBody((m.Copy(argument, result),))})
    x = np.arange(N, dtype=np.float32)
    y = loaded(bundle).bind(device).main(x)
    assert isinstance(y, np.ndarray) and y is not x
    assert np.array_equal(y, x)


@pytest.mark.parametrize("name", ["_hidden", "a.b.c", ".dot", "__x"])
def test_functions_and_kernels_with_names_of_any_kind(device: Device, name: str) -> None:
    bundle = axpy_bundle(N)
    body, (kernel,) = bundle.variants[0].bodies[0], bundle.variants[0].kernels
    renamed = make_bundle(
        {replace(bundle.functions[0], name=name): body}, (replace(kernel, name=name),)
    )
    x = np.ones(N, np.float32)
    assert np.array_equal(loaded(renamed).bind(device).call(name, x, x), 3 * x)


def test_eight_threads_call_one_function(device: Device) -> None:
    call_from_threads(device, 400)


@pytest.mark.slow
def test_eight_threads_call_one_function_10000_times(device: Device) -> None:
    """What leaks grows in every round; the arenas of malloc and of drivers do only at first."""
    growth: list[int] = []
    for _ in range(5):
        before = resident_kib()
        call_from_threads(device, 2_000)
        growth.append(resident_kib() - before)
    assert min(growth) < 256, growth


def call_from_threads(device: Device, calls: int) -> None:
    """Call from eight threads and check every value, and that no objects pile up."""
    program = loaded(axpy_bundle(N)).bind(device)
    y = np.zeros(N, np.float32)

    def call(value: int) -> bool:
        x = np.full(N, value, np.float32)
        return bool(np.array_equal(program.main(x, y), 2 * x))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(calls // 4)))
        gc.collect()
        before = len(gc.get_objects())
        assert all(pool.map(call, range(calls - calls // 4)))
        gc.collect()
        assert len(gc.get_objects()) - before < 100


def resident_kib() -> int:
    """KiB of memory that this process has; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
