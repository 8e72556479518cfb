"""The judge of internal errors: does the compiler still break, and in the same way?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.compile import compile_text
from ingot.compiler.driver.diagnostics import is_user_error
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import (
    Instrumentation,
    PassFailure,
    parse_pipeline,
    run_passes,
)
from ingot.compiler.driver.verification import InvalidIR
from ingot.compiler.frontends.reader import read_module


@dataclass(frozen=True)
class PassesCrash:
    """Runs a pipeline as `ingot opt` does; IR that a pass leaves invalid counts as a crash."""

    pipeline: str

    def __call__(self, text: str) -> str | None:
        """The signature of the internal error, if there is one."""
        context = make_context()
        context.allow_unregistered = True
        try:
            module = read_module(text, "candidate.mlir", context)
            watch = Instrumentation(verify_each=True)
            run_passes(module, context, parse_pipeline(self.pipeline), watch)
        except InvalidIR as error:
            return f"invalid IR {error.stage}"
        except Exception as error:
            return None if is_user_error(error) else crash_signature(error)
        return None


@dataclass(frozen=True)
class CompilerCrashes:
    """Compiles, as `ingot compile` does."""

    options: CompileOptions

    def __call__(self, text: str) -> str | None:
        """The signature of the internal error, if there is one."""
        try:
            # With the module kept, a failure is not compiled a second time.
            compile_text(text, "candidate.mlir", replace(self.options, keep_before=True))
        except Exception as error:
            return None if is_user_error(error) else crash_signature(error)
        return None


def crash_signature(error: BaseException) -> str:
    """Words for an internal error that do not change with the program: its kind and its place.

    The message is no part of them: it tends to name values, types and sizes.
    """
    prefix = ""
    if isinstance(error, PassFailure):
        prefix = f"pass {error.pass_name}: "
        error = error.__cause__ or error
    kind = type(error).__name__
    trace = error.__traceback__
    if isinstance(error, RecursionError) or trace is None:
        return f"{prefix}{kind}"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{prefix}{kind} in {trace.tb_frame.f_code.co_qualname}"
