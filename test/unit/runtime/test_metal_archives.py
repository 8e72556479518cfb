"""Pipelines that Metal compiled before, on the stand-in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import metal_stand_in
from support.metal_stand_in.libraries import MTLBinaryArchive

from ingot.runtime.devices.metal import archive
from ingot.runtime.devices.metal.device import MetalDevice

from .conftest import METAL
from .kernels import axpy

pytestmark = pytest.mark.skipif(METAL == "metal", reason="this is a Mac: its own Metal is tested")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the pipelines that were compiled into an archive."""
    names: list[str] = []
    add = MTLBinaryArchive.addComputePipelineFunctionsWithDescriptor_error_

    def counted(self: MTLBinaryArchive, descriptor: object, error: None) -> object:
        names.append(descriptor.label())  # type: ignore[attr-defined]
        return add(self, descriptor, error)

    method = "addComputePipelineFunctionsWithDescriptor_error_"
    monkeypatch.setattr(MTLBinaryArchive, method, counted)
    return names


def test_pipelines_are_compiled_once(
    metal: MetalDevice, compiled: list[str], tmp_path: Path
) -> None:
    for _ in range(2):
        metal.load([axpy()], "safe", (3, 1))
    assert compiled == ["axpy"]
    assert [path.suffix for path in tmp_path.iterdir()] == [".metalarchive"]
    other = replace(axpy(), msl=axpy().msl + "// another kernel\n")
    metal.load([other], "safe", (3, 1))
    metal.load([axpy()], "fast", (3, 1))
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("damage", [b"", b"\0damaged", b'{"the stand-in\'s binary archive": []}'])
def test_a_damaged_archive_is_made_again(
    metal: MetalDevice, compiled: list[str], tmp_path: Path, damage: bytes
) -> None:
    metal.load([axpy()], "safe", (3, 1))
    [path] = tmp_path.iterdir()
    good = path.read_bytes()
    path.write_bytes(damage)
    metal.load([axpy()], "safe", (3, 1))
    assert compiled == ["axpy"] * 2
    assert path.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_left_alone(
    metal: MetalDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path / "file"))
    [mtl_device] = metal_stand_in.MTLCopyAllDevices()
    assert archive.archive_path(mtl_device, [axpy()], "safe", (3, 1)) is None


def test_the_cache_forgets_the_oldest_archives(
    metal: MetalDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(archive, "MOST_ARCHIVES", 2)
    for number in range(4):
        metal.load([replace(axpy(), msl=f"{axpy().msl}// {number}\n")], "safe", (3, 1))
    assert len(list(tmp_path.iterdir())) <= 2
