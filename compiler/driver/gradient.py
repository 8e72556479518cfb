"""A program's gradient as a program: text in, text out."""

from __future__ import annotations

from dataclasses import replace

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import (
    Instrumentation,
    PassFailure,
    module_text,
    parse_pipeline,
    run_passes,
)
from ingot.compiler.driver.pipelines import gradient_pipeline
from ingot.compiler.driver.timing import phase
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module
from ingot.targets.profiles import PROFILES


def gradient_text(text: str, filename: str, options: CompileOptions) -> str:
    """L1 of the gradient that `options.differentiate` asks for, which compiles like any program.

    Raises `Refusal` for what cannot be read or differentiated, `PassFailure` for a bug.
    """
    context = make_context()
    with phase(options.timing, "read"):
        module = read_module(text, filename, context)
        verify(module, "as it was read")
    passes = parse_pipeline(gradient_pipeline(options, next(iter(PROFILES.values()))))
    watch = Instrumentation(
        verify_each=options.verify_each,
        print_after=options.print_after,
        print_after_all=options.print_after_all,
        timing=options.timing,
        keep_before=options.keep_before,
    )
    try:
        with phase(options.timing, "gradient"):
            run_passes(module, context, passes, watch)
    except PassFailure:
        if options.keep_before:
            raise
        # A bug: once more, so that the failure carries the module that makes the pass fail.
        return gradient_text(text, filename, replace(options, keep_before=True))
    return module_text(module) + "\n"
