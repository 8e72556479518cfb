"""Every choice of a compilation, in one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.dialects.builtin import ModuleOp

    from ingot.compiler.driver.schedules import ScheduleEntry
    from ingot.compiler.driver.timing import Timing
    from ingot.targets.metallib import Sdk
    from ingot.targets.profiles import TargetProfile

MathMode = Literal["safe", "fast", "strict"]
Emit = Literal["mlir", "spirv", "msl", "c-header", "bundle"]


@dataclass(frozen=True)
class Differentiate:
    """What `ingot grad` was asked for: replace a function by its vector-Jacobian product."""

    wrt: tuple[str, ...] = ()
    """Names or positions of arguments; empty for all floats that are not marked `ingot.nograd`."""
    function: str = ""
    """Empty for the only function of the module."""
    with_value: bool = False
    """Return the results, too, before the gradients."""
    forward: bool = False
    """The Jacobian-vector product instead: tangents of arguments in, tangents of results out."""


@dataclass(frozen=True)
class CompileOptions:
    """What `ingot compile` was asked for; nothing in the compiler reads global state instead."""

    targets: tuple[str, ...]
    """Profile names, as `--target` takes them; the bundle holds one variant for each."""
    math: MathMode = "safe"
    """safe: IEEE special values, contraction allowed; strict: no contraction; fast: fast math."""
    demote_f64: bool = False
    """Compute f64 programs in f32 instead of refusing them."""
    metallib: tuple[Sdk, ...] = ()
    """SDKs to put Metal libraries for into the bundle, beside the MSL of Metal targets."""
    differentiate: Differentiate | None = None
    """Compile the gradient of a function instead of the function."""
    dump_dir: Path | None = None
    """Folder for the module after each stage, and each kernel's IR, SPIR-V and MSL."""
    print_after: frozenset[str] = frozenset()
    """Print the module to standard error after these passes."""
    print_after_all: bool = False
    schedules: tuple[ScheduleEntry, ...] = ()
    """Schedules to use instead of those that the compiler would choose."""
    keep_schedules: bool = False
    """Return the schedule of every kernel beside its code."""
    keep_positions: bool = False
    """Locate every op in the text, even where the text says that it comes from elsewhere."""
    processes: int = 1
    """Compile kernels in up to so many processes, where there are many."""
    timing: Timing | None = None
    """Learns how long each phase and pass takes."""
    on_module: Callable[[TargetProfile, str, ModuleOp], None] | None = None
    """Shown the module after each stage, with the target and the name of the stage."""
    verify_each: bool = False
    """Verify the IR after each pass (slow; for tests)."""
    keep_before: bool = False
    """Keep the module before each pass, so that a failure can be reproduced (slow)."""
