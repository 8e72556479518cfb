"""Small words for the tests of the contract: record, run, fill."""

from __future__ import annotations

from collections.abc import Callable

from ingot.runtime.hal import Buffer, BufferRange, CommandBuffer, Device, Memory

SOON = 60.0
"""Seconds in which whatever is going to happen has happened, on a busy machine too."""


def record(
    device: Device, write: Callable[[CommandBuffer], None], profiling: bool = False
) -> CommandBuffer:
    """A recorded command buffer."""
    commands = device.create_command_buffer(profiling)
    commands.begin()
    write(commands)
    commands.end()
    return commands


def submit_and_wait(device: Device, *commands: CommandBuffer) -> None:
    """One submission, finished."""
    done = device.create_semaphore()
    device.queue.submit(commands, signal=[(done, 1)])
    done.wait(1, SOON)


def run(device: Device, write: Callable[[CommandBuffer], None]) -> None:
    """Record, submit and wait."""
    submit_and_wait(device, record(device, write))


def filled(device: Device, content: bytes, memory: Memory = Memory.DEVICE) -> Buffer:
    """A buffer with this content."""
    buffer = device.allocate(len(content), memory)
    buffer.write(0, content)
    return buffer


def part(buffer: Buffer, offset: int, length: int) -> BufferRange:
    """A range, by position."""
    return BufferRange(buffer, offset, length)
