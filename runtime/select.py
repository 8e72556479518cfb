"""Which variant of a bundle a device runs: a pure function of both."""

from __future__ import annotations

from ingot.runtime.errors import NoVariantError
from ingot.runtime.hal import Device
from ingot.targets.bundle.model import Bundle, Variant


def select_variant(bundle: Bundle, device: Device) -> int:
    """Return the index of the best variant that `device` satisfies.

    Best is the highest family, then one that is made for the device's SIMD width; the first of
    equals. Raises `NoVariantError` with what each variant misses.
    """
    unmet = [missing(variant, device) for variant in bundle.variants]
    fitting = [index for index, lacks in enumerate(unmet) if not lacks]
    if fitting:
        return max(fitting, key=lambda i: (_rank(bundle.variants[i]), -i))
    reasons = "; ".join(
        f"'{variant.target}' needs {lacks[0]}"
        for variant, lacks in zip(bundle.variants, unmet, strict=True)
    )
    raise NoVariantError(f"no variant of the bundle runs on '{device.name}': {reasons}")


def missing(variant: Variant, device: Device) -> list[str]:
    """Return what `variant` needs and `device` has not, as completions of "it needs ..."."""
    if variant.api != device.api:
        return [f"a {variant.api} device, not {device.api}"]
    lacks: list[str] = []
    if variant.family > device.family:
        lacks.append(f"family {variant.family}, the device has {device.family}")
    if variant.simd_width not in (0, device.simd_width):
        lacks.append(f"a SIMD width of {variant.simd_width}, the device has {device.simd_width}")
    for feature in variant.required_features:
        if feature not in device.features:
            lacks.append(f"the feature {feature}")
    lacks.extend(_missing_limits(variant, device))
    return lacks


def _missing_limits(variant: Variant, device: Device) -> list[str]:
    limits, lacks = device.limits, list[str]()

    def need(value: int, most: int, what: str) -> None:
        if value > most:
            lacks.append(f"{what}, the device has {most}")

    for kernel in variant.kernels:
        x, y, z = kernel.threadgroup_size
        threads, of = x * y * z, f"for kernel '{kernel.name}'"
        need(threads, limits.max_threads_per_threadgroup, f"{threads} threads a threadgroup {of}")
        for size, most in zip(kernel.threadgroup_size, limits.max_threadgroup_size, strict=True):
            need(size, most, f"{size} threads in one dimension {of}")
        memory = kernel.threadgroup_memory
        need(memory, limits.threadgroup_memory, f"{memory} bytes of threadgroup memory {of}")
        if not kernel.argument_buffer:
            count = len(kernel.bindings)
            need(count, limits.max_buffers, f"{count} buffers {of}")
        constants = kernel.push_constant_size
        need(constants, limits.max_push_constants, f"{constants} bytes of push constants {of}")
    return lacks


def _rank(variant: Variant) -> tuple[int, bool]:
    return variant.family, variant.simd_width != 0
