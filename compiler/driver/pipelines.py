"""The road of a program as named stages; the single place that says which pass follows which.

Each stage is a textual pipeline, so that `ingot opt -p` does what the compiler does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingot.compiler.driver.options import CompileOptions
from ingot.targets.profiles import TargetProfile

Build = Callable[[CompileOptions, TargetProfile], list[str]]


@dataclass(frozen=True)
class Stage:
    """A level's pipeline: `name` is the level that it leaves, `number` sorts the dumps."""

    name: str
    number: int
    build: Build

    def pipeline(self, options: CompileOptions, profile: TargetProfile) -> str:
        """The stage as text for one target."""
        return ",".join(self.build(options, profile))


def _tensor(options: CompileOptions, profile: TargetProfile) -> list[str]:
    return ["canonicalize", "cse"]


def _dispatch(options: CompileOptions, profile: TargetProfile) -> list[str]:
    return []


def _kernel(options: CompileOptions, profile: TargetProfile) -> list[str]:
    return []


def _lowering(options: CompileOptions, profile: TargetProfile) -> list[str]:
    return []


STAGES: tuple[Stage, ...] = (
    Stage("tensor", 10, _tensor),
    Stage("dispatch", 20, _dispatch),
    Stage("kernel", 30, _kernel),
    Stage("spirv", 50, _lowering),
)


def whole_pipeline(options: CompileOptions, profile: TargetProfile) -> str:
    """All stages for one target as one pipeline."""
    return ",".join(filter(None, (s.pipeline(options, profile) for s in STAGES)))
