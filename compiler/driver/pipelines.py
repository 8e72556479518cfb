"""The road of a program as named stages: the one place that says which pass follows which.

A stage is a textual pipeline, so `ingot opt -p` can do what the compiler does, step by step.
`ingot targets --pipeline TARGET` prints it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingot.compiler.driver.options import CompileOptions
from ingot.targets.profiles import TargetProfile

Build = Callable[[CompileOptions, TargetProfile], list[str]]


@dataclass(frozen=True)
class Stage:
    """A level's pipeline: `name` is what it leaves, `number` sorts the dumps."""

    name: str
    number: int
    build: Build

    def pipeline(self, options: CompileOptions, profile: TargetProfile) -> str:
        """The stage as text for one target."""
        return ",".join(self.build(options, profile))


def _tensor(options: CompileOptions, profile: TargetProfile) -> list[str]:
    """L1: generics on tensors, whatever the source was; the same for every target."""
    return [
        "drop-shardings",
        "stablehlo-expand-composites",
        "lift-cf-to-scf",
        "inline-calls",
        "tosa-upgrade",
        "tosa-to-linalg",
        "drop-signedness",
        "convert-stablehlo",
        "linalg-generalize-named-ops",
        "convert-elementwise-to-linalg",
        "convert-tm-tensor",
        "affine-to-arith",
        "drop-asserts",
        f"demote-f64{_options(all=options.demote_f64)}",
        "store-index",
        "unpack-int4",
        "expand-complex",
        "verify-supported",
        "linalg-compact-outputs",
        "canonicalize-tensor",
        "cse",
        *_gradient(options),
        "gather-to-generic",
        "scatter-to-generic",
        "sort-to-generic",
        "split-scan",
        "generate-to-generic",
        "pack-to-generic",
        "pad-to-generic",
        "slices-to-generic",
        "outline-control-flow",
        "outline-dynamic-shapes",
        "sink-scalars",
        "widen-index",
        "clamp-extracts",
        "linalg-fold-unit-dims",
        "linalg-propagate-reshapes",
        "canonicalize-tensor",
        "linalg-fuse-elementwise",
        "linalg-split-contraction",
        "linalg-split-reduction",
        "canonicalize-tensor",
        "cse",
        "dce",
    ]


def _gradient(options: CompileOptions) -> list[str]:
    """L1 to L1: the gradient in place of the function, where that is asked for."""
    asked = options.differentiate
    if asked is None:
        return []
    arguments = {"wrt": asked.wrt} if asked.wrt else {}
    function = {"function": asked.function} if asked.function else {}
    forward = {"forward": True} if asked.forward else {}
    choices = _options(**function, **arguments, with_value=asked.with_value, **forward)
    return [
        "raise-while-to-for",
        "gather-to-generic",
        "generate-to-generic",
        "pack-to-generic",
        f"linalg-differentiate{choices}",
        "canonicalize-tensor",
        "cse",
    ]


def _dispatch(options: CompileOptions, profile: TargetProfile) -> list[str]:
    """L2: kernels, and the host program as a plan of commands over byte ranges."""
    most = min(_MOST_OPERANDS, profile.max_buffers)
    # What Metal cannot bind goes into an argument buffer.
    packed = [f"dispatch-pack-inputs{_options(max_buffers=profile.max_buffers)}"]
    return [
        *([*packed, "slices-to-generic"] if profile.api == "vulkan" else []),
        f"dispatch-form{_options(max_operands=most, merge_products=not profile.is_cpu)}",
        "dispatch-unfold-convolutions",
        "dispatch-collapse-dims",
        "canonicalize-tensor",
        "dispatch-outline",
        "dispatch-merge-kernels",
        *_plan(options, profile),
    ]


def _plan(options: CompileOptions, profile: TargetProfile) -> list[str]:
    """The end of L2: where kernels are outlined already."""
    return [f"dispatch-plan-memory{_options(most_turns=profile.most_turns)}"]


def _tile(options: CompileOptions, profile: TargetProfile) -> list[str]:
    """L3: the schedule, and the loops that it asks for, still on tensors."""
    return [
        f"kernel-select-schedule{_options(target=profile.name)}",
        "kernel-tile-threadgroups",
        "kernel-tile-threads",
        "kernel-tile-reduction",
        "kernel-promote",
    ]


def _buffer(options: CompileOptions, profile: TargetProfile) -> list[str]:
    """L4: buffers and vectors; what unrolled loops repeat is computed once from here on."""
    return ["kernel-bufferize", "kernel-vectorize", "cse"]


def _lower(options: CompileOptions, profile: TargetProfile) -> list[str]:
    """L5: one `spirv.module` for each kernel.

    Safe math allows contraction to fma and nothing else. Metal's compiler keeps to that by the
    pragma in the MSL; Vulkan drivers also reorder, unless the SPIR-V forbids both, and assume that
    there are no NaNs, unless it says that they matter.
    """
    special_values = options.math != "fast" and profile.api == "vulkan"
    exact = options.math == "strict" or (options.math == "safe" and profile.api == "vulkan")
    return [
        *([f"check-loops{_options(most_turns=profile.most_turns)}"] if profile.most_turns else []),
        f"lower-forall{_options(max_grid=profile.max_grid[0])}",
        "lower-affine",
        f"lower-all-reduce{_options(simd_width=profile.simd_width)}",
        "lower-transfers",
        *_split_buffers(profile),
        *(["lower-simdgroup-matrix"] if profile.api == "metal" else []),
        f"expand-math{_options(math=options.math, scale_division=profile.api == 'vulkan')}",
        *(["fuse-multiply-add"] if profile.api == "vulkan" and options.math != "strict" else []),
        f"expand-narrow-types{_options(target=profile.name)}",
        "canonicalize",
        "cse",
        *(["expand-zero-arithmetic"] if special_values else []),
        f"convert-to-spirv{_options(exact=exact, special_values=special_values)}",
    ]


def _split_buffers(profile: TargetProfile) -> list[str]:
    """Where bindings are limited, and only there."""
    if profile.max_binding is None:
        return []
    limits = _options(max_binding=profile.max_binding, max_buffers=profile.max_buffers)
    return [f"split-large-buffers{limits}"]


STAGES: tuple[Stage, ...] = (
    Stage("tensor", 10, _tensor),
    Stage("dispatch", 20, _dispatch),
    Stage("tiles", 30, _tile),
    Stage("buffers", 40, _buffer),
    Stage("spirv", 50, _lower),
)
"""In the order of the road; only the first is the same for every target."""

OUTLINED_STAGES: tuple[Stage, ...] = (Stage("dispatch", 20, _plan), *STAGES[2:])
"""The road of a program whose kernels are outlined already."""

_MOST_OPERANDS = 24
"""Operands of one kernel: more of them fuse no better, and 31 is all that Metal binds."""


def gradient_pipeline(options: CompileOptions, profile: TargetProfile) -> str:
    """The passes from a program as it was read to its gradient, which is a program as well."""
    passes, gradient = _tensor(options, profile), _gradient(options)
    start = passes.index(gradient[0])
    return ",".join(passes[: start + len(gradient)])


def whole_pipeline(options: CompileOptions, profile: TargetProfile) -> str:
    """All stages for one target as one pipeline."""
    return ",".join(stage.pipeline(options, profile) for stage in STAGES)


def _options(**values: bool | int | str | tuple[str, ...]) -> str:
    """Options in the pipeline syntax: `{all=true target="metal:apple7"}`."""
    spelled = " ".join(f"{name.replace('_', '-')}={_spell(v)}" for name, v in values.items())
    return f"{{{spelled}}}"


def _spell(value: bool | int | str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_spell, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else f'"{value}"'
