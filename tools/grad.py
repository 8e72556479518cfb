"""`ingot grad`: from a program to its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from ingot.tools.report import (
    Sources,
    debug_option,
    demote_f64_option,
    math_option,
    read_text,
    reported,
    targets_option,
    timed,
    timing_option,
    write_output,
)
from ingot.tools.startup import lean_process

if TYPE_CHECKING:
    from ingot.compiler.driver.options import MathMode


@click.command("grad", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file")
@click.option(
    "--wrt",
    multiple=True,
    metavar="A,B",
    help="Arguments, by name or position; all floats without `ingot.nograd` when left out.",
)
@click.option("-o", "--output", metavar="FILE", help="Write here; `-` is standard output.")
@targets_option
@click.option(
    "--emit",
    type=click.Choice(["mlir", "bundle"]),
    default="bundle",
    show_default=True,
    help="What to write: the gradient as a program, or compiled.",
)
@click.option("--function", default="", metavar="NAME", help="Which function, if there are more.")
@click.option("--with-value", is_flag=True, help="Return the results, too, before the gradients.")
@click.option(
    "--forward",
    is_flag=True,
    help="The Jacobian-vector product: tangents of arguments in, tangents of results out.",
)
@math_option()
@demote_f64_option
@timing_option
@debug_option
def command(
    file: str,
    wrt: tuple[str, ...],
    output: str | None,
    targets: tuple[str, ...],
    emit: str,
    function: str,
    with_value: bool,
    forward: bool,
    math: str,
    demote_f64: bool,
    timing: bool,
    debug: bool,
) -> None:
    """Differentiate a function of FILE (`-` is standard input), backwards.

    It keeps its name, takes its arguments and then one cotangent for each float result, and
    returns one gradient for each name in --wrt.

    \b
    Example:
      ingot grad layer.mlir --wrt x,w -o layer_grad.ingot --target metal:apple7
      ingot grad layer.mlir --wrt x --emit mlir
    """
    from ingot.tools.compile import chosen_output, compile_with_progress

    where = chosen_output(output, emit, targets)
    sources = Sources()
    with reported(debug, sources), timed(timing) as clock:
        text, name = read_text(file, sources)
        from ingot.compiler.driver.options import CompileOptions, Differentiate

        names = tuple(part.strip() for names in wrt for part in names.split(","))
        options = CompileOptions(
            targets=tuple(dict.fromkeys(targets)),
            math=cast("MathMode", math),
            demote_f64=demote_f64,
            differentiate=Differentiate(names, function, with_value, forward),
            timing=clock,
        )
        if emit == "mlir":
            from ingot.compiler.driver.gradient import gradient_text

            write_output(where, gradient_text(text, name, options).encode())
            return
        from ingot.targets.bundle.writer import write_bundle

        compiled = compile_with_progress(text, name, options)
        write_output(where, write_bundle(compiled.bundle))


def main() -> None:
    """Entry point of `ingot-grad`."""
    lean_process()
    command(prog_name="ingot-grad")


if __name__ == "__main__":
    main()
