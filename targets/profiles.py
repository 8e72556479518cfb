"""Target profiles: what a device class offers, as data.

Sources: Apple's Metal feature set tables for the limits of a GPU family, the Vulkan 1.1 required
limits for `vulkan:generic`, and what Mesa's lavapipe and NVIDIA's Hopper drivers report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

API = Literal["metal", "vulkan"]


@dataclass(frozen=True)
class MatrixUnit:
    """One multiply-accumulate shape: (m x k) by (k x n), element and accumulator types by name."""

    m: int
    n: int
    k: int
    element: str
    accumulator: str


@dataclass(frozen=True)
class Peaks:
    """What a device of the class reaches at best, for the cost model."""

    bandwidth: float
    """Bytes a second."""
    flops: float
    """f32 operations a second, a multiply-add counted as two."""
    matrix_flops: float
    """The same on matrix units, in f16 where they have it."""
    source: str
    """Which device, and who says so."""


@dataclass(frozen=True)
class TargetProfile:
    """Limits and features of one device class; sizes in bytes, counts in threads or elements."""

    name: str
    """As the user writes it: `metal:apple7`."""
    api: API
    family: int
    """Apple GPU family (7 for M1), or a rank that grows with what a Vulkan class requires."""
    msl_version: tuple[int, int] | None
    simd_width: int
    """Threads in a SIMD-group (subgroup); 0 when it is not known at compile time."""
    max_threads_per_threadgroup: int
    threadgroup_memory: int
    max_buffers: int
    """Buffer arguments of one kernel before an argument buffer is needed."""
    max_binding: int | None = None
    """Bytes of one buffer argument, or None where only a buffer's size is limited."""
    max_grid: tuple[int, int, int] = (65535, 65535, 65535)
    storage_types: frozenset[str] = frozenset({"i8", "i16", "i32", "i64", "f16", "f32"})
    """Element types that loads and stores handle natively; others are emulated in integers."""
    arithmetic_types: frozenset[str] = frozenset({"i8", "i16", "i32", "i64", "f16", "f32"})
    matrix_units: tuple[MatrixUnit, ...] = ()
    subgroup_shuffle: bool = True
    most_turns: int = 0
    """Turns of all loops of a thread from which a driver ends them without a word; 0 for never."""
    is_cpu: bool = False
    """A CPU runs the kernels: a thread or a barrier costs more than an element."""
    peaks: Peaks | None = None
    """None where a class holds devices that have nothing in common."""


def _apple(
    family: int, msl: tuple[int, int], chip: str, gigabytes: int, teraflops: float
) -> TargetProfile:
    """`chip` is the smallest of the family, with its memory's GB/s and TFLOP/s of f32."""
    bf16 = frozenset({"bf16"})
    units = tuple(MatrixUnit(8, 8, 8, t, "f32") for t in ("f16", "bf16", "f32"))
    return TargetProfile(
        name=f"metal:apple{family}",
        api="metal",
        family=family,
        msl_version=msl,
        simd_width=32,
        max_threads_per_threadgroup=1024,
        threadgroup_memory=32768,
        max_buffers=31,
        storage_types=TargetProfile.storage_types | bf16,
        matrix_units=units,
        # One 8x8x8 multiply-accumulate takes 18 issue slots for 16 multiply-adds a lane
        # (P. Turner, metal-benchmarks).
        peaks=Peaks(
            bandwidth=gigabytes * 1e9,
            flops=teraflops * 1e12,
            matrix_flops=teraflops * 1e12 * 16 / 18,
            source=f"Apple {chip}, the vendor's and press figures",
        ),
    )


_SMALL_BINDING = 1 << 27
"""`maxStorageBufferRange` that Vulkan requires; lavapipe has no more."""
_LAVAPIPE_TURNS = 65535
"""Mesa's lavapipe counts the turns of all loops of a thread together, and leaves them here."""

PROFILES: dict[str, TargetProfile] = {
    p.name: p
    for p in (
        _apple(7, (3, 1), "M1", 68, 2.6),
        _apple(8, (3, 1), "M2", 100, 3.6),
        _apple(9, (3, 1), "M3", 100, 3.5),
        _apple(10, (3, 2), "M5", 153, 4.2),
        TargetProfile(
            name="vulkan:generic",
            api="vulkan",
            family=0,
            msl_version=None,
            simd_width=0,
            max_threads_per_threadgroup=256,
            threadgroup_memory=16384,
            max_buffers=16,
            max_binding=_SMALL_BINDING,
            most_turns=_LAVAPIPE_TURNS,
            subgroup_shuffle=False,
        ),
        TargetProfile(
            name="vulkan:lavapipe",
            api="vulkan",
            family=1,
            msl_version=None,
            simd_width=8,
            max_threads_per_threadgroup=1024,
            threadgroup_memory=32768,
            max_buffers=32,
            max_binding=_SMALL_BINDING,
            most_turns=_LAVAPIPE_TURNS,
            is_cpu=True,
            peaks=Peaks(20e9, 20e9, 20e9, "two cores of an x86-64 server, `python -m bench`"),
        ),
        TargetProfile(
            name="vulkan:hopper",
            api="vulkan",
            family=2,
            msl_version=None,
            simd_width=32,
            max_threads_per_threadgroup=1024,
            threadgroup_memory=49152,
            max_buffers=1024,
            max_binding=2**32 - 1,
            matrix_units=(
                MatrixUnit(16, 16, 16, "f16", "f32"),
                MatrixUnit(16, 16, 16, "bf16", "f32"),
            ),
            peaks=Peaks(4.8e12, 67e12, 989e12, "H200 SXM, NVIDIA's data sheet (dense)"),
        ),
    )
}
"""Every profile by the name that `--target` takes."""


def profile_for(api: str, family: int, simd_width: int) -> TargetProfile:
    """The most demanding profile that a device satisfies, given what `ingot.runtime` says of it."""
    fitting = [
        profile
        for profile in PROFILES.values()
        if profile.api == api and profile.family <= family and profile.simd_width in (0, simd_width)
    ]
    return max(fitting, key=lambda profile: profile.family)
