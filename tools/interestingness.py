"""What `ingot reduce` may ask of a program while it shrinks it; see `reduction.trials.Judge`."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingot.compiler.driver.options import MathMode
    from ingot.runtime import Parameter, Signature

FILE = "candidate.mlir"
"""The name of the program in messages that nobody reads."""
_OPEN_SIZE = 3
"""What an open size is in a run: small, and no divisor of what sizes tend to be."""


@dataclass(frozen=True)
class Script:
    """A program of the user's that is given the file's path and says by its exit status what it
    thinks, as with mlir-reduce: 0 that the file is of no interest, anything else that it is."""

    path: str
    arguments: tuple[str, ...] = ()

    def __call__(self, text: str) -> str | None:
        """What the script says of a file with this text."""
        with tempfile.TemporaryDirectory(prefix="ingot-reduce-") as folder:
            file = Path(folder, FILE)
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([self.path, *self.arguments, str(file)], check=False)
        return "the test script says so" if done.returncode > 0 else None


@dataclass(frozen=True)
class CannotOpen:
    """Says why a device cannot be opened; in a process of its own, since drivers do not survive a
    fork."""

    device: str

    def __call__(self, text: str) -> str | None:
        """The error of the device, whatever the program."""
        from ingot.runtime import IngotError, open_device

        try:
            open_device(self.device)
        except IngotError as error:
            return str(error)
        return None


@dataclass(frozen=True)
class Mismatch:
    """Runs every function on a device with random arguments, and in the reference evaluator."""

    device: str
    seed: int = 0
    math: MathMode = "safe"

    def __call__(self, text: str) -> str | None:
        """Whether a result differs from the reference by more than rounding explains."""
        from ingot.compiler.driver.compile import compile_text
        from ingot.compiler.driver.options import CompileOptions
        from ingot.compiler.driver.verify_values import compare, reference_results
        from ingot.runtime import LoadedBundle, open_device
        from ingot.runtime.calls import as_list
        from ingot.runtime.io import read_inputs
        from ingot.tools.run import target_for

        try:
            device = open_device(self.device)
            options = CompileOptions(targets=(target_for(device),), math=self.math)
            loaded = LoadedBundle(compile_text(text, FILE, options).bundle, FILE)
            program = loaded.bind(device)
            for signature in loaded.functions.values():
                arguments = read_inputs([f"random:{self.seed}"], _closed(signature))
                got = as_list(program.call(signature.name, *arguments))
                want = reference_results(text, FILE, signature.name, arguments)
                if not all(compare(g, w).is_right for g, w in zip(got, want, strict=True)):
                    return "the device computes other values than the reference evaluator"
        except Exception:  # refused, broken, inputs that the reference refuses: something else
            return None
        return None


def _closed(signature: Signature) -> Signature:
    """With sizes for those that are open."""
    return replace(signature, arguments=tuple(map(_closed_parameter, signature.arguments)))


def _closed_parameter(parameter: Parameter) -> Parameter:
    shape = tuple(_OPEN_SIZE if size < 0 else size for size in parameter.shape)
    return replace(parameter, type=replace(parameter.type, shape=shape))
