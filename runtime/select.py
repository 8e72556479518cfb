"""Which variant of a bundle a device runs: a pure function of both."""

from __future__ import annotations

from collections.abc import Iterator

from ingot.runtime.errors import NoVariantError
from ingot.runtime.hal import Device, Limits
from ingot.targets.bundle.model import Bundle, Dispatch, Variant, walk


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


def _missing_limits(variant: Variant, device: Device) -> Iterator[str]:
    limits = device.limits
    for kernel in variant.kernels:
        x, y, z = kernel.threadgroup_size
        of = f"for kernel '{kernel.name}'"
        needs = [
            (x * y * z, limits.max_threads_per_threadgroup, "threads a threadgroup"),
            *(
                (n, most, "threads in one dimension")
                for n, most in zip((x, y, z), limits.max_threadgroup_size, strict=True)
            ),
            (kernel.threadgroup_memory, limits.threadgroup_memory, "bytes of threadgroup memory"),
            (kernel.push_constant_size, limits.max_push_constants, "bytes of push constants"),
        ]
        if not kernel.argument_buffer:
            needs.append((len(kernel.bindings), limits.max_buffers, "buffers"))
        for value, most, what in needs:
            if value > most:
                yield f"{value} {what} {of}, the device has {most}"
    for body in variant.bodies:
        for command in walk(body.commands):
            if isinstance(command, Dispatch):
                of = f"for kernel '{variant.kernels[command.kernel].name}'"
                yield from (f"{what} {of}" for what in _missing_in_dispatch(command, limits))


def _missing_in_dispatch(command: Dispatch, limits: Limits) -> Iterator[str]:
    for count, most in zip(command.groups, limits.max_grid, strict=True):
        if isinstance(count, int) and count > most:
            yield f"a grid of {count} threadgroups in one dimension (the device has {most})"
    for ref in command.bindings:
        offset, length = ref.offset, ref.length
        if isinstance(length, int) and length > limits.max_binding_size:
            yield f"a binding of {length} bytes (the device has {limits.max_binding_size})"
        if length and isinstance(offset, int) and offset % limits.binding_alignment:
            yield (
                f"a binding at byte {offset} (the device has multiples of "
                f"{limits.binding_alignment})"
            )


def _rank(variant: Variant) -> tuple[int, bool]:
    return variant.family, variant.simd_width != 0
