"""Devices to test on, and bundles built by hand."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import metal_stand_in

import ingot.runtime as rt
from ingot.runtime.devices.metal import archive
from ingot.runtime.devices.metal.device import MetalDevice
from ingot.runtime.hal import Device
from ingot.targets.bundle import model as m

from .kernels import axpy

METAL = "metal" if sys.platform == "darwin" else "metal-stand-in"
DEVICES = ("vulkan", "vulkan-discrete", "host", METAL)


def open_for_test(name: str) -> Device:
    """Open a device, or a variation of one that no user has.

    `vulkan-discrete` is Vulkan with memory that the host cannot map, `metal-stand-in` the Metal
    device on `support.metal_stand_in`.
    """
    match name:
        case "vulkan-discrete":
            from ingot.runtime.devices.vulkan.device import VulkanDevice
            from ingot.runtime.devices.vulkan.instance import physical_devices

            return VulkanDevice(replace(physical_devices()[0], is_unified=False))
        case "metal-stand-in":
            return MetalDevice(metal_stand_in.MTLCopyAllDevices()[0])
        case _:
            return rt.open_device(name)


@pytest.fixture(scope="session", params=DEVICES)
def device_name(request: pytest.FixtureRequest) -> Iterator[str]:
    """A name for `open_for_test`; a test is skipped where there is no such device."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "metal-stand-in":
            metal_stand_in.install(patch)
        yield request.param


@pytest.fixture(scope="session")
def device(device_name: str) -> Iterator[Device]:
    try:
        opened = open_for_test(device_name)
    except rt.DeviceUnavailableError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.fixture
def metal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MetalDevice]:
    """The Metal device on the stand-in, with an empty cache for its archives."""
    monkeypatch.setattr(archive, "cache_folder", lambda room: tmp_path)
    metal_stand_in.install(monkeypatch)
    device = open_for_test("metal-stand-in")
    assert isinstance(device, MetalDevice)
    yield device
    device.close()


@pytest.fixture(scope="session")
def vulkan() -> Iterator[Device]:
    try:
        opened = open_for_test("vulkan")
    except rt.DeviceUnavailableError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def tensor(dtype: m.DType, *shape: int) -> m.TensorType:
    return m.TensorType(dtype, shape)


def whole(kind: m.BufferKind, index: int, length: int, offset: int = 0) -> m.BufferRef:
    return m.BufferRef(kind, index, offset, length)


def make_bundle(
    functions: dict[m.Function, m.FunctionBody],
    kernels: tuple[m.Kernel, ...] = (),
    constants: tuple[m.Constant, ...] = (),
) -> m.Bundle:
    """Return a bundle with a variant for any Vulkan device and one for any Metal device."""
    variants = tuple(
        m.Variant(
            target=f"{api}:test",
            api=api,
            family=0,
            simd_width=0,
            math_mode="safe",
            msl_version=msl,
            kernels=kernels,
            bodies=tuple(functions.values()),
        )
        for api, msl in (("vulkan", (0, 0)), ("metal", (3, 1)))
    )
    return m.Bundle(tuple(functions), constants, variants, m.Provenance("", "", "", ""))


def loaded(bundle: m.Bundle) -> rt.LoadedBundle:
    """Write and read a bundle, then return it loaded."""
    from ingot.targets.bundle.writer import write_bundle

    return rt.loads(write_bundle(bundle), "test.ingot")


def axpy_dispatch(n: int, a: float, *refs: m.BufferRef) -> m.Dispatch:
    return m.Dispatch(0, (-(-n // 64), 1, 1), refs, struct.pack("<If", n, a))


def axpy_bundle(n: int, a: float = 2.0) -> m.Bundle:
    """main(x, y) = a * x + y on n floats."""
    of = tensor(m.DType.F32, n)
    refs = (
        whole(m.BufferKind.ARGUMENT, 0, 4 * n),
        whole(m.BufferKind.ARGUMENT, 1, 4 * n),
        whole(m.BufferKind.RESULT, 0, 4 * n),
    )
    main = m.Function("main", (of, of), (of,), ("x", "y"), ("z",))
    return make_bundle({main: m.FunctionBody((axpy_dispatch(n, a, *refs),))}, (axpy(),))
