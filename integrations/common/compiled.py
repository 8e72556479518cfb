"""A function of a framework that was compiled: what `ingot.jax` and `ingot.torch` return."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ingot.compiler.driver.diagnostics import CompileError
from ingot.compiler.driver.options import CompileOptions, MathMode

if TYPE_CHECKING:
    from ingot.runtime.dtypes import Array
    from ingot.runtime.hal import Device
    from ingot.runtime.program import Program
    from ingot.targets.bundle.model import Bundle

DEFAULT_TARGET = "metal:apple7"
"""What every Apple GPU since the M1 runs, and the `host` device of any machine."""
_ENTRY = "main"


class Boundary(Protocol):
    """The way of a call from the framework's values to arrays and back."""

    def text(self) -> str:
        """The program that was compiled, as MLIR text."""
        ...

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Array]:
        """The arguments of `main`; raises `ArgumentError` for values of another structure."""
        ...

    def values(self, results: Sequence[Array]) -> Any:
        """What the call returns, from the results of `main`."""
        ...


@dataclass(frozen=True)
class CompiledFunction:
    """Call it with the arguments that the function takes; it returns what the function returns.

    The first call opens the device and loads the kernels.
    """

    name: str
    """The function's, for people."""
    bundle: Bundle = field(repr=False)
    """The compiled program, with a variant for each target."""
    boundary: Boundary = field(repr=False)
    device: Device | str | None = None
    """Where calls run, open or as `ingot devices` names it; None: the first that can."""

    @property
    def mlir(self) -> str:
        """The program that the framework exported, as MLIR text with all constants."""
        return self.boundary.text()

    @cached_property
    def program(self) -> Program:
        """The bundle on its device; raises `DeviceUnavailableError`, `NoVariantError`."""
        from ingot.runtime import open_device
        from ingot.runtime.program import Program

        device = open_device(self.device) if isinstance(self.device, str) else self.device
        return Program(self.bundle, device or _first_device(self.bundle))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; raises `ArgumentError` for arguments of another shape or type."""
        result = self.program.call(_ENTRY, *self.boundary.arrays(args, kwargs))
        if result is None:
            return self.boundary.values(())
        return self.boundary.values(result if isinstance(result, tuple) else (result,))

    def bind(self, device: Device | str) -> CompiledFunction:
        """The same function on another device, open or named, for example `vulkan:0`."""
        return CompiledFunction(self.name, self.bundle, self.boundary, device)

    def save(
        self, path: str | os.PathLike[str], weights: str | os.PathLike[str] | None = None
    ) -> None:
        """Write the bundle, which `ingot run` and `ingot.runtime.load` read.

        Large constants go to `weights`, a safetensors file in the same folder, if it is given.
        Raises `BundleError` where a file cannot be written.
        """
        from ingot.targets.bundle.weights import save_bundle

        save_bundle(self.bundle, path, weights)

    def inspect(self, target: str | None = None) -> str:
        """What `ingot inspect` prints: signature, commands, kernels and memory of a variant."""
        from ingot.tools.inspect import overview

        return overview(self.name, self.bundle, target)


def compile_program(
    boundary: Boundary,
    name: str,
    *,
    target: str | Sequence[str],
    device: Device | str | None,
    math: MathMode,
    demote_f64: bool,
) -> CompiledFunction:
    """Compile what a framework exported; raises `CompileError` for what cannot be compiled."""
    from ingot.compiler.driver.compile import compile_module
    from ingot.compiler.driver.diagnostics import diagnose, is_user_error, render
    from ingot.targets.profiles import PROFILES

    targets = (target,) if isinstance(target, str) else tuple(dict.fromkeys(target))
    for wanted in targets:
        if wanted not in PROFILES:
            raise CompileError(f"unknown target `{wanted}`; targets are: {', '.join(PROFILES)}")
    options = CompileOptions(targets=targets, math=math, demote_f64=demote_f64)
    text, filename = boundary.text(), f"{name}.mlir"
    try:
        bundle = compile_module(text, filename, options)
    except Exception as error:
        if not is_user_error(error):
            raise
        raise CompileError(render(diagnose(error, filename), {filename: text})) from None
    return CompiledFunction(name, bundle, boundary, device)


def name_of(function: Callable[..., Any]) -> str:
    """What to call a function or module in diagnostics: an identifier."""
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(c if c.isalnum() else "_" for c in name).strip("_") or "function"


def _first_device(bundle: Bundle) -> Device:
    """The first device of this machine that a variant of the bundle runs on."""
    from ingot.runtime import NoVariantError, list_devices, open_device
    from ingot.runtime.select import select_variant

    reasons: list[str] = []
    for info in list_devices():
        if info.problem:
            reasons.append(info.problem)
            continue
        device = open_device(info.name)
        try:
            select_variant(bundle, device)
        except NoVariantError as error:
            reasons.append(str(error))
            continue
        return device
    raise NoVariantError("no device of this machine runs the bundle: " + "; ".join(reasons))
