"""What `ingot opt` does: read, run a pipeline, print, or check the diagnostics; part by part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.pass_pipeline import (
    Instrumentation,
    module_text,
    parse_pipeline,
    pipeline_text,
    run_passes,
)
from ingot.compiler.driver.split_input import PartsResult, run_parts
from ingot.compiler.driver.timing import phase
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class OptOptions:
    """The options of `ingot opt`."""

    pipeline: str = ""
    split_input: bool = False
    verify_diagnostics: bool = False
    verify_roundtrip: bool = False
    dump_pipeline: bool = False
    """Write the pipeline to the stream of the instrumentation before it runs."""
    print_generic: bool = False
    print_locations: bool = False
    allow_unregistered: bool = False
    instrumentation: Instrumentation = field(default_factory=Instrumentation)


def run_opt(text: str, filename: str, options: OptOptions) -> PartsResult[str]:
    """Run the pipeline on each part of `text`; the outputs are the printed modules.

    Raises `PipelineError`, `UnknownPass` and `PluginError` for the pipeline, and `PassFailure` for
    a pass that breaks.
    """
    passes = parse_pipeline(options.pipeline)
    if options.dump_pipeline:
        count = f"{len(passes)} pass{'es' * (len(passes) != 1)}"
        options.instrumentation.stream.write(
            f"Pass Manager with {count}:\nbuiltin.module({pipeline_text(passes)})\n\n"
        )
    return run_parts(
        text,
        filename,
        lambda part: _run_part(part, filename, passes, options),
        split=options.split_input,
        verify_diagnostics=options.verify_diagnostics,
    )


def _run_part(text: str, filename: str, passes: tuple[ModulePass, ...], options: OptOptions) -> str:
    context = make_context()
    context.allow_unregistered = options.allow_unregistered
    timing = options.instrumentation.timing
    with phase(timing, "read"):
        module = read_module(text, filename, context)
        verify(module, "as it was read")
    if options.verify_roundtrip:
        _verify_roundtrip(module, context, filename)
    with phase(timing, "pipeline"):
        run_passes(module, context, passes, options.instrumentation)
    with phase(timing, "print"):
        printed = module_text(
            module, generic=options.print_generic, locations=options.print_locations
        )
    return printed + "\n"


def _verify_roundtrip(module: ModuleOp, context: Context, filename: str) -> None:
    """Refuse a module that is another one when its text is read again, in either form."""
    first = module_text(module, generic=True)
    for generic, form in ((False, "custom"), (True, "generic")):
        text = module_text(module, generic=generic)
        try:
            # The generic form leaves nothing out.
            again = module_text(read_module(text, filename, context), generic=True)
        except Exception as error:
            raise refuse(module, f"the {form} form cannot be read again: {error}") from error
        if again != first:
            lines = zip(first.splitlines(), again.splitlines(), strict=False)
            other = next(((a, b) for a, b in lines if a != b), ("", ""))
            raise refuse(
                module,
                f"the {form} form is another one when it is read again:"
                f" `{other[0].strip()}` became `{other[1].strip()}`",
            )
