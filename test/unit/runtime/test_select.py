"""Which variant runs where."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Limits
from ingot.runtime.select import select_variant
from ingot.targets.bundle import model as m

LIMITS = Limits(
    max_threads_per_threadgroup=256,
    max_threadgroup_size=(256, 256, 64),
    max_grid=(65535, 65535, 65535),
    threadgroup_memory=16384,
    max_buffers=8,
    max_buffer_size=2**30,
    max_push_constants=128,
    binding_alignment=16,
    max_binding_size=2**20,
)


@dataclass
class FakeDevice:
    api: str = "vulkan"
    family: int = 1
    simd_width: int = 8
    name: str = "fake"
    features: frozenset[str] = frozenset({"int64"})
    limits: Limits = field(default_factory=lambda: LIMITS)


def variant(target: str, **changes: object) -> m.Variant:
    values: dict[str, object] = {
        "api": target.split(":")[0],
        "family": 0,
        "simd_width": 0,
        "math_mode": "safe",
        "msl_version": (0, 0),
        "kernels": (),
        "bodies": (),
    }
    return m.Variant(target=target, **(values | changes))


def kernel(**changes: object) -> m.Kernel:
    values: dict[str, object] = {"threadgroup_size": (64, 1, 1), "bindings": (), "spirv": b""}
    return m.Kernel(name="k", entry_point="k", **(values | changes))


def dispatching(groups: tuple[int, int, int], length: int, offset: int = 0) -> m.Variant:
    ref = m.BufferRef(m.BufferKind.TRANSIENT, 0, offset, length)
    body = m.FunctionBody((m.Dispatch(0, groups, (ref,)),), 2**30)
    bound = kernel(bindings=(m.Binding("b", m.DType.F32, m.Access.READ),))
    return variant("vulkan:x", kernels=(bound,), bodies=(body,))


def bundle(*variants: m.Variant) -> m.Bundle:
    return m.Bundle((), (), variants, m.Provenance("", "", "", ""))


def test_highest_family_is_best() -> None:
    chosen = bundle(
        variant("vulkan:generic"),
        variant("vulkan:lavapipe", family=1, simd_width=8),
        variant("vulkan:hopper", family=2, simd_width=32),
        variant("metal:apple7", family=7),
    )
    assert select_variant(chosen, FakeDevice()) == 1
    assert select_variant(chosen, FakeDevice(family=2, simd_width=32)) == 2
    assert select_variant(chosen, FakeDevice(family=0)) == 0
    assert select_variant(chosen, FakeDevice(api="metal", family=9)) == 3


def test_own_simd_width_is_better_than_any() -> None:
    chosen = bundle(variant("vulkan:a"), variant("vulkan:b", simd_width=8), variant("vulkan:c"))
    assert select_variant(chosen, FakeDevice()) == 1


@pytest.mark.parametrize(
    ("needs", "sentence"),
    [
        (variant("metal:apple7", family=7), "a metal device, not vulkan"),
        (variant("vulkan:x", family=2), "family 2, the device has 1"),
        (variant("vulkan:x", simd_width=32), "a SIMD width of 32, the device has 8"),
        (variant("vulkan:x", required_features=("int64", "float16")), "the feature float16"),
        (
            variant("vulkan:x", kernels=(kernel(threadgroup_size=(32, 32, 1)),)),
            "1024 threads a threadgroup for kernel 'k', the device has 256",
        ),
        (
            variant("vulkan:x", kernels=(kernel(threadgroup_size=(1, 1, 128)),)),
            "128 threads in one dimension for kernel 'k', the device has 64",
        ),
        (
            variant("vulkan:x", kernels=(kernel(threadgroup_memory=32768),)),
            "32768 bytes of threadgroup memory for kernel 'k', the device has 16384",
        ),
        (
            variant(
                "vulkan:x",
                kernels=(kernel(bindings=(m.Binding("b", m.DType.F32, m.Access.READ),) * 9),),
            ),
            "9 buffers for kernel 'k', the device has 8",
        ),
        (
            dispatching((1, 65536, 1), length=4),
            "a grid of 65536 threadgroups in one dimension (the device has 65535) for kernel 'k'",
        ),
        (
            dispatching((1, 1, 1), length=2**20 + 1),
            "a binding of 1048577 bytes (the device has 1048576) for kernel 'k'",
        ),
        (
            dispatching((1, 1, 1), length=4, offset=8),
            "a binding at byte 8 (the device has multiples of 16) for kernel 'k'",
        ),
    ],
)
def test_what_is_missing_is_named(needs: m.Variant, sentence: str) -> None:
    with pytest.raises(rt.NoVariantError) as raised:
        select_variant(bundle(needs), FakeDevice())
    assert str(raised.value) == (
        f"no variant of the bundle runs on 'fake': '{needs.target}' needs {sentence}"
    )
