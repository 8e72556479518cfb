"""The GPU's clock and captures of the Metal device, on the stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.metal_stand_in import MTLCaptureManager
from support.metal_stand_in.device import MTLDevice

import ingot.runtime as rt
from ingot.runtime.devices.metal import counters
from ingot.runtime.devices.metal.counters import in_nanoseconds
from ingot.runtime.devices.metal.device import MetalDevice
from ingot.runtime.hal import Timing

from .conformance.work import filled, run, submit_and_wait
from .conftest import METAL

pytestmark = pytest.mark.skipif(METAL == "metal", reason="this is a Mac: its own Metal is tested")


def timed(metal: MetalDevice, count: int) -> Sequence[Timing]:
    """Run copies, one after the other, with timestamps."""
    area = filled(metal, bytes(8))
    commands = metal.create_command_buffer(profiling=True)
    commands.begin()
    for _ in range(count):
        commands.fill(area.whole, b"a")
        commands.barrier()
    commands.end()
    submit_and_wait(metal, commands)
    assert area.read() == b"a" * 8
    return commands.timings()


@pytest.mark.parametrize("samples_encoders", [True, False])
def test_commands_are_timed_in_order(
    metal: MetalDevice, monkeypatch: pytest.MonkeyPatch, samples_encoders: bool
) -> None:
    monkeypatch.setattr(MTLDevice, "samples_encoders", samples_encoders)
    monkeypatch.setattr(counters, "_MOST_COMMANDS", 2)
    found = timed(metal, 70)
    moments = [moment for timing in found for moment in (timing.start, timing.end)]
    assert moments == sorted(moments)
    assert 0 < moments[-1] - moments[0] < 60e9
    assert [timing.label for timing in found] == ["fill"] * 70


def test_ticks_become_nanoseconds() -> None:
    assert in_nanoseconds([150, 300], (1000, 100), (1200, 200)) == [1100, 1400]
    assert in_nanoseconds([150], (1000, 100), (1200, 100)) == [150]


def test_samples_without_room(metal: MetalDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_MOST_COMMANDS", 4096)
    with pytest.raises(rt.DeviceError, match="no room for timestamps"):
        timed(metal, 2049)


def test_a_command_that_was_not_timed(metal: MetalDevice) -> None:
    commands = metal.create_command_buffer(profiling=True)
    commands.begin()
    commands.fill(filled(metal, bytes(8)).whole, b"a")
    commands.end()
    with pytest.raises(rt.DeviceError, match="could not read the GPU's clock"):
        commands.timings()


def test_a_capture_holds_what_ran_inside(metal: MetalDevice, tmp_path: Path) -> None:
    area = filled(metal, bytes(8))
    path = tmp_path / "one.gputrace"
    run(metal, lambda commands: commands.update(area.whole, bytes(8)))
    with metal.capture(path):
        run(metal, lambda commands: commands.fill(area.whole, b"a"))
    run(metal, lambda commands: commands.update(area.whole, bytes(8)))
    assert path.read_text() == "fill"
    for wrong, sentence in ((path, "exists"), (tmp_path / "a.trace", "a document .gputrace")):
        with pytest.raises(rt.DeviceError, match=sentence), metal.capture(wrong):
            pass


def test_captures_must_be_enabled(
    metal: MetalDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(MTLCaptureManager, "is_enabled", False)
    with (
        pytest.raises(rt.DeviceError, match="METAL_CAPTURE_ENABLED=1"),
        metal.capture(tmp_path / "a.gputrace"),
    ):
        pass


def test_one_capture_at_a_time(metal: MetalDevice, tmp_path: Path) -> None:
    with (
        metal.capture(tmp_path / "a.gputrace"),
        pytest.raises(rt.DeviceError, match=r"does not capture: .* already started"),
        metal.capture(tmp_path / "b.gputrace"),
    ):
        pass
