"""What fails, as small as `ingot reduce` gets it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import ingot.runtime as rt
from fuzz.check import TARGETS, Failure
from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.diagnostics import CompileError
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.reduction.crash import crash_signature
from ingot.compiler.driver.reduction.reduce import Limits, reduce_text
from ingot.compiler.driver.reduction.trials import Judge
from ingot.runtime.io import read_inputs
from ingot.targets.bundle.writer import write_bundle
from ingot.tools.interestingness import Mismatch


@dataclass(frozen=True)
class Breaks:
    """The judge of programs that are refused, or that break the compiler or a device."""

    device: str

    def __call__(self, text: str) -> str | None:
        """Where the program fails, or the sentence that refuses it, without numbers and names."""
        try:
            options = CompileOptions(targets=(TARGETS[self.device.partition(":")[0]],))
            loaded = rt.loads(write_bundle(compile_module(text, "fuzz.mlir", options)))
            program = loaded.bind(rt.open_device(self.device))
            for signature in loaded.functions.values():
                program.call(signature.name, *read_inputs(["random:0"], signature))
        except Refusal as refusal:
            return re.sub(r"%\w+|\d+", "N", refusal.message)
        except Exception as error:
            return crash_signature(error)
        return None


def reduced(text: str, failure: Failure, seed: int) -> str:
    """A smaller program that fails in the same way.

    The same text where the failure is not seen: the comparison that knows nothing of how a program
    came about allows more than the fuzzer's analysis of errors.
    """
    is_mismatch = failure.kind == "mismatch"
    judge: Judge = Mismatch(failure.device, seed) if is_mismatch else Breaks(failure.device)
    try:
        return reduce_text(text, "fuzz.mlir", judge, "not seen", Limits(jobs=2)).text
    except CompileError:
        return text
