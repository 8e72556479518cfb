"""`ingot opt`: run passes on a program, as `mlir-opt` does."""

from __future__ import annotations

import click

from ingot.tools.mlir_command import OptCommand, finish, plugin_option
from ingot.tools.report import (
    Sources,
    debug_option,
    read_text,
    reported,
    timed,
    version_option,
)
from ingot.tools.startup import lean_process


@click.command("opt", cls=OptCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", default="-")
@click.option(
    "-o", "--output", default="-", metavar="FILE", help="Write here; `-` is standard output."
)
@click.option(
    "-p",
    "--passes",
    "--pass-pipeline",
    "pipelines",
    multiple=True,
    metavar="PIPELINE",
    help="Passes to run: `a,b{x=1}` or `builtin.module(a,func.func(b{x=1}))`. "
    "A pass may also be a flag: --canonicalize.",
)
@click.option("--split-input-file", is_flag=True, help="Treat parts between `// -----` apart.")
@click.option(
    "--verify-diagnostics",
    is_flag=True,
    help="Check the errors against `// expected-error@+1 {{text}}` comments.",
)
@click.option("--verify-each/--no-verify-each", default=True, help="Verify after each pass.")
@click.option(
    "--verify-roundtrip", is_flag=True, help="Check that what is printed can be read again."
)
@click.option(
    "--print-before",
    "--mlir-print-ir-before",
    multiple=True,
    metavar="PASS",
    help="Print the IR before this pass (stderr).",
)
@click.option(
    "--print-before-all",
    "--mlir-print-ir-before-all",
    is_flag=True,
    help="Print the IR before every pass (stderr).",
)
@click.option(
    "--print-after",
    "--mlir-print-ir-after",
    multiple=True,
    metavar="PASS",
    help="Print the IR after this pass (stderr).",
)
@click.option(
    "--print-after-all",
    "--mlir-print-ir-after-all",
    is_flag=True,
    help="Print the IR after every pass (stderr).",
)
@click.option(
    "--print-generic",
    "--mlir-print-op-generic",
    "--print-op-generic",
    is_flag=True,
    help="Print ops in the generic form.",
)
@click.option(
    "--print-locations",
    "--mlir-print-debuginfo",
    "--print-debuginfo",
    is_flag=True,
    help="Print source locations.",
)
@click.option(
    "--timing", "--mlir-timing", is_flag=True, help="Report the time of each pass (stderr)."
)
@click.option("--allow-unregistered-dialect", is_flag=True, help="Accept ops nobody defined.")
@click.option(
    "--list-passes", is_flag=True, help="List the passes of Ingot and of plugins and end."
)
@click.option(
    "--dump-pass-pipeline", is_flag=True, help="Print the pipeline before it runs (stderr)."
)
@plugin_option
@version_option
@debug_option
def command(
    file: str,
    output: str,
    pipelines: tuple[str, ...],
    split_input_file: bool,
    verify_diagnostics: bool,
    verify_each: bool,
    verify_roundtrip: bool,
    print_before: tuple[str, ...],
    print_before_all: bool,
    print_after: tuple[str, ...],
    print_after_all: bool,
    print_generic: bool,
    print_locations: bool,
    timing: bool,
    allow_unregistered_dialect: bool,
    list_passes: bool,
    dump_pass_pipeline: bool,
    debug: bool,
) -> None:
    """Run passes on FILE (standard input by default) and print the result.

    \b
    Example:
      ingot opt softmax.mlir -p 'linalg-generalize-named-ops,canonicalize,cse'
      ingot opt tests.mlir --pass-pipeline='builtin.module(canonicalize)' --split-input-file
    """
    if list_passes:
        from ingot.compiler.driver.registry import ingot_passes
        from ingot.compiler.plugins import pass_origins

        for name, level in {**ingot_passes(), **pass_origins()}.items():
            click.echo(f"{level:10} {name}")
        return
    sources = Sources()
    with reported(debug, sources):
        from ingot.compiler.driver.opt import OptOptions, run_opt
        from ingot.compiler.driver.pass_pipeline import Instrumentation

        with timed(timing) as measured:
            options = OptOptions(
                pipeline=",".join(pipelines),
                split_input=split_input_file,
                verify_diagnostics=verify_diagnostics,
                verify_roundtrip=verify_roundtrip,
                dump_pipeline=dump_pass_pipeline,
                print_generic=print_generic,
                print_locations=print_locations,
                allow_unregistered=allow_unregistered_dialect,
                instrumentation=Instrumentation(
                    verify_each=verify_each,
                    print_before=frozenset(print_before),
                    print_before_all=print_before_all,
                    print_after=frozenset(print_after),
                    print_after_all=print_after_all,
                    print_generic=print_generic,
                    timing=measured,
                    keep_before=not debug,
                ),
            )
            text, name = read_text(file, sources)
            result = run_opt(text, name, options)
        finish(result, "\n// -----\n".join(result.outputs).encode(), output, sources)


def main() -> None:
    """Entry point of `ingot-opt`."""
    lean_process()
    command(prog_name="ingot-opt")


if __name__ == "__main__":
    main()
