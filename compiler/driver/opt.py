"""What `ingot opt` does: read, run a pipeline, print, or check the diagnostics; part by part."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.diagnostics import Diagnostic, diagnose, is_user_error
from ingot.compiler.driver.expected_diagnostics import expectations, mismatches
from ingot.compiler.driver.pass_pipeline import (
    Instrumentation,
    module_text,
    parse_pipeline,
    run_passes,
)
from ingot.compiler.driver.timing import phase
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module

_SPLIT = re.compile(r"^[ \t]*// -----[^\n]*\n?", re.M)


@dataclass(frozen=True)
class OptOptions:
    """The options of `ingot opt`."""

    pipeline: str = ""
    split_input: bool = False
    verify_diagnostics: bool = False
    print_generic: bool = False
    print_locations: bool = False
    allow_unregistered: bool = False
    instrumentation: Instrumentation = field(default_factory=Instrumentation)


@dataclass(frozen=True)
class OptResult:
    """The printed modules, and under `verify_diagnostics` what differed from the comments."""

    output: str
    problems: tuple[str, ...] = ()


def run_opt(text: str, filename: str, options: OptOptions) -> OptResult:
    """Run the pipeline on `text`; raises what reading, verifying and the passes raise."""
    passes = parse_pipeline(options.pipeline)
    timing = options.instrumentation.timing
    outputs: list[str] = []
    problems: list[str] = []
    for part, lines_before in _parts(text, options.split_input):
        context = make_context()
        context.allow_unregistered = options.allow_unregistered
        produced: list[Diagnostic] = []
        try:
            # Blank lines keep the positions of the file in a part of it.
            with phase(timing, "read"):
                module = read_module("\n" * lines_before + part, filename, context)
                verify(module, "as it was read")
            with phase(timing, "pipeline"):
                run_passes(module, context, passes, options.instrumentation)
        except Exception as error:
            if not (options.verify_diagnostics and is_user_error(error)):
                raise
            produced.append(diagnose(error, filename))
        else:
            with phase(timing, "print"):
                outputs.append(
                    module_text(
                        module, generic=options.print_generic, locations=options.print_locations
                    )
                )
        if options.verify_diagnostics:
            problems += mismatches(expectations(part, lines_before + 1), produced, filename)
    return OptResult("\n// -----\n".join(outputs) + "\n" if outputs else "", tuple(problems))


def _parts(text: str, split: bool) -> list[tuple[str, int]]:
    """The parts of the input, each with the number of lines before it."""
    if not split:
        return [(text, 0)]
    parts: list[tuple[str, int]] = []
    start = 0
    for separator in _SPLIT.finditer(text):
        parts.append((text[start : separator.start()], text.count("\n", 0, start)))
        start = separator.end()
    parts.append((text[start:], text.count("\n", 0, start)))
    return [(part, line) for part, line in parts if part.strip()]
