"""Finding devices, and the sentence when there is none."""

from __future__ import annotations

import sys

import pytest

import ingot.runtime as rt
from ingot.runtime.devices.vulkan import instance, native


def test_unknown_devices_are_refused_with_the_known_ones() -> None:
    with pytest.raises(rt.DeviceUnavailableError, match=r"devices are: metal, vulkan, host$"):
        rt.open_device("cuda")


def test_every_backend_is_listed() -> None:
    devices = rt.list_devices()
    assert {device.name.split(":")[0] for device in devices} == {"metal", "vulkan", "host"}
    assert all(device.is_available or device.problem for device in devices)


@pytest.mark.skipif(sys.platform == "darwin", reason="this is a Mac")
@pytest.mark.parametrize("name", ["metal", "metal:0"])
def test_metal_needs_a_mac(name: str) -> None:
    with pytest.raises(rt.DeviceUnavailableError, match=r"^the 'metal' device needs macOS"):
        rt.open_device(name)


def test_vulkan_devices_are_opened_by_index_and_name(vulkan: rt.DeviceInfo) -> None:
    opened = rt.open_device(f"vulkan:{vulkan.name.split()[0]}")
    assert opened.api == "vulkan"
    opened.close()
    rt.open_device("vulkan:0").close()
    for name in ("vulkan:99", "vulkan:no such gpu"):
        with pytest.raises(rt.DeviceUnavailableError, match="there are: 0 "):
            rt.open_device(name)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError("no libvulkan"), "there is no Vulkan loader here: install"),
        (ImportError("vulkan"), "needs the Python package 'vulkan'"),
    ],
)
def test_missing_loader_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    def refuse(name: str) -> None:
        raise error

    monkeypatch.setattr(native, "import_module", refuse)
    native.load_vulkan.cache_clear()
    instance.physical_devices.cache_clear()
    try:
        with pytest.raises(rt.DeviceUnavailableError, match=sentence):
            rt.open_device("vulkan")
        assert any(sentence in device.problem for device in rt.list_devices())
    finally:
        native.load_vulkan.cache_clear()
        instance.physical_devices.cache_clear()


def test_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingot.runtime.devices.vulkan.device.physical_devices", lambda: ())
    with pytest.raises(rt.DeviceUnavailableError, match=r"mesa-vulkan-drivers|MoltenVK"):
        rt.open_device("vulkan")
