"""Many random commands, from many threads, against what bytes in Python become."""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from ingot.runtime.hal import Buffer, CommandBuffer, Device, Pipeline

from .work import SOON, filled, part, record

FLOATS = 64
SIZE = 4 * FLOATS
GAP = 256
"""Bytes between two areas, at which every device can bind."""


def random_commands(
    random: Random, axpy: Pipeline, area: Buffer, expected: bytearray, commands: CommandBuffer
) -> None:
    """Record a few commands on an area of four buffers, and do them to `expected`."""
    for _ in range(random.randrange(5, 15)):
        commands.barrier()
        start, length = random.randrange(3 * GAP), random.randrange(1, GAP)
        match random.randrange(4):
            case 0:
                pattern = random.randbytes(random.choice((1, 2, 4)))
                commands.fill(part(area, start, length), pattern)
                expected[start : start + length] = (pattern * length)[:length]
            case 1:
                data = random.randbytes(length)
                commands.update(part(area, start, length), data)
                expected[start : start + length] = data
            case 2:
                target = random.choice([t for t in range(0, 3 * GAP, 7) if abs(t - start) >= GAP])
                commands.copy(part(area, start, length), part(area, target, length))
                expected[target : target + length] = expected[start : start + length]
            case _:
                x, y, out = random.sample(range(4), 3)
                bindings = [part(area, GAP * i, SIZE) for i in (x, y, out)]
                words = [floats(expected, i) for i in (x, y)]
                if not all(np.isfinite(w).all() and (abs(w) < 1e6).all() for w in words):
                    commands.fill(bindings[2], b"\0")
                    expected[GAP * out : GAP * out + SIZE] = bytes(SIZE)
                    continue
                commands.dispatch(axpy, (1, 1, 1), bindings, struct.pack("<If", FLOATS, 1.0))
                expected[GAP * out : GAP * out + SIZE] = (words[0] + words[1]).tobytes()


def floats(data: bytearray, index: int) -> np.ndarray:
    return np.frombuffer(bytes(data[GAP * index : GAP * index + SIZE]), np.float32)


def work(device: Device, axpy: Pipeline, seed: int, submissions: int) -> None:
    """Submissions that follow each other on one area, checked at the end and now and then."""
    random = Random(seed)
    expected = bytearray(4 * GAP)
    area, steps = filled(device, bytes(expected)), device.create_semaphore()
    for turn in range(1, submissions + 1):
        commands = record(device, lambda c: random_commands(random, axpy, area, expected, c))
        wait = [(steps, turn - 1)] if turn > 1 else []
        device.queue.submit([commands], wait=wait, signal=[(steps, turn)])
        if turn == submissions or random.random() < 0.2:
            steps.wait(turn, SOON)
            assert area.read() == bytes(expected), (seed, turn)


def test_random_commands(device: Device, axpy: Pipeline) -> None:
    for seed in range(5):
        work(device, axpy, seed, 10)


def test_random_commands_from_eight_threads(device: Device, axpy: Pipeline) -> None:
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, device, axpy, seed, 6) for seed in range(100, 108)]:
            done.result(SOON)


@pytest.mark.slow
def test_random_commands_for_long(device: Device, axpy: Pipeline) -> None:
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, device, axpy, seed, 50) for seed in range(200, 264)]:
            done.result(10 * SOON)
