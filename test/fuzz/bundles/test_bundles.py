"""Damaged bundles, the same in every run: refused with a sentence, or run inside their buffers.

Bytes of the bundle that has every command become 255, in turn, so that every offset, count and
number is wrong once: what the fuzzers found (fields that were read and not
checked, element types out of range, an error without words) is among them. `make fuzz-bundles` goes
on.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from support.bundles import every_command, small_bundles
from support.harness import ROOT

import ingot.runtime as rt
from fuzz.bundles.exercise import exercise, joined
from ingot.targets.bundle import model as m
from ingot.targets.bundle.reader import read_bundle
from ingot.targets.bundle.writer import write_bundle

EMBED, TESTS = ROOT / "runtime" / "embed", ROOT / "test" / "embed"
BASE, FACTOR = 1 << 20, 64
"""Memory for reading a bundle: so many bytes, and so many for each byte of it."""


def each_byte(data: bytes, step: int) -> Iterator[bytes]:
    """`data` with every `step`-th byte turned to 255, or to 0 where it was that."""
    for at in range(0, len(data), step):
        yield data[:at] + bytes([0xFF * (data[at] != 0xFF)]) + data[at + 1 :]


def mutations(data: bytes, count: int) -> Iterator[bytes]:
    """Words, bits and lengths changed, a few together; the size in the file often fits again."""
    random = Random(7)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 4, 8))):
            at = random.randrange(len(changed) - 8)
            match random.randrange(4):
                case 0:
                    changed[at] ^= 1 << random.randrange(8)
                case 1:
                    number = random.choice((0, 1, 4, 2**31 - 1, 2**32 - 1, at, len(data)))
                    struct.pack_into("<I", changed, at & ~3, number)
                case 2:
                    other = random.randrange(len(changed) - 8)
                    changed[at & ~3 : (at & ~3) + 4] = changed[other & ~3 : (other & ~3) + 4]
                case _:
                    struct.pack_into("<q", changed, at & ~7, random.choice((-1, 2**62, -(2**63))))
        yield bytes(changed)


def test_the_runtime_refuses_or_runs_every_damaged_bundle() -> None:
    whole = write_bundle(every_command())
    assert exercise(whole) == ""
    refused = sum(exercise(data) != "" for data in each_byte(whole, 7))
    assert refused > 100
    for name, bundle, weights in small_bundles():
        for data in mutations(bundle, 60):
            exercise(data, weights)
        for data in mutations(weights, 60) if weights else ():
            assert exercise(bundle, data) or data == weights, name


def test_the_c_library_refuses_or_runs_every_damaged_bundle(tmp_path: Path) -> None:
    """In one process, under the sanitizers, with a limit for memory (`fuzz_bundle.c`)."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    names = ("checking_device.c", "exercise.c", "fuzz_bundle.c", "replay.c")
    sources = [*EMBED.glob("*.c"), *(TESTS / name for name in names)]
    command = [compiler, "-std=c11", "-g", "-O1", "-fsanitize=address,undefined"]
    command += ["-fno-sanitize-recover=all", *(f"-I{p}" for p in (EMBED / "include", EMBED, TESTS))]
    program = tmp_path / "replay"
    subprocess.run([*command, *map(str, sources), "-o", str(program)], check=True)
    inputs = [joined(data, b"") for data in each_byte(write_bundle(every_command()), 2)]
    for _, bundle, weights in small_bundles():
        inputs += (joined(data, weights) for data in mutations(bundle, 100))
        inputs += (joined(bundle, data) for data in (mutations(weights, 100) if weights else ()))
    (tmp_path / "inputs").write_bytes(b"".join(struct.pack("<I", len(i)) + i for i in inputs))
    done = subprocess.run([str(program), str(tmp_path / "inputs")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr.rstrip().endswith(str(len(inputs) - 1))


@pytest.mark.parametrize("commands", [1, 1000])
def test_memory_is_in_proportion_to_the_file(commands: int) -> None:
    """The densest command, and bytes whose sizes and offsets are wrong."""
    bundle = every_command()
    fill = m.Fill(m.BufferRef(m.BufferKind.TRANSIENT, 0, 0, 4), b"\1")
    body = m.FunctionBody((fill,) * commands, transient_size=4, result_sizes=(1,))
    variants = tuple(
        m.Variant(v.target, v.api, 0, 0, "safe", v.msl_version, v.kernels, (body,))
        for v in bundle.variants
    )
    whole = write_bundle(m.Bundle(bundle.functions, bundle.constants, variants, bundle.provenance))
    inputs = [whole, *mutations(whole, 40 if commands == 1 else 4)]
    tracemalloc.start()
    try:
        for data in inputs:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with suppress(rt.BundleError):
                read_bundle(data, "test.ingot")
            assert tracemalloc.get_traced_memory()[1] - before < BASE + FACTOR * len(data)
    finally:
        tracemalloc.stop()
