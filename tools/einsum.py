"""`ingot einsum`: from one line of index notation to a bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from ingot.tools.report import (
    Sources,
    debug_option,
    math_option,
    reported,
    targets_option,
    timed,
    timing_option,
    write_output,
)
from ingot.tools.startup import lean_process

if TYPE_CHECKING:
    from ingot.compiler.driver.options import Emit, MathMode

_NAME = "einsum.tin"
"""What diagnostics call the notation."""


@click.command("einsum", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("notation")
@click.option(
    "--arg",
    "arguments",
    multiple=True,
    metavar="NAME:TYPE",
    help="An argument, as in A:f32[3,40]; they come in this order.",
)
@click.option(
    "--base",
    type=click.Choice(["0", "1"]),
    default="1",
    show_default=True,
    help="What the first element of a dimension is called.",
)
@click.option("--fixed-order", is_flag=True, help="Do not reorder chains of contractions.")
@click.option("-o", "--output", metavar="FILE", help="Write here; `-` is standard output.")
@targets_option
@click.option(
    "--emit",
    type=click.Choice(["mlir", "spirv", "msl", "bundle"]),
    default="bundle",
    show_default=True,
    help="What to write: the program on tensors, the kernels' SPIR-V, their MSL, a bundle.",
)
@math_option()
@timing_option
@debug_option
def command(
    notation: str,
    arguments: tuple[str, ...],
    base: str,
    fixed_order: bool,
    output: str | None,
    targets: tuple[str, ...],
    emit: str,
    math: str,
    timing: bool,
    debug: bool,
) -> None:
    """Compile NOTATION to a function `main` of its arguments.

    \b
    Example:
      ingot einsum 'C[i,k] := A[i,j] * B[j,k]' --arg A:f32[3,40] --arg B:f32[40,500] \\
          -o matmul.ingot --target metal:apple7
    """
    from ingot.tools.compilation import emitted
    from ingot.tools.compile import chosen_output, compile_with_progress

    where = chosen_output(output, emit, targets)
    sources = Sources({_NAME: notation, "--arg": "\n".join(arguments)}, _NAME)
    with reported(debug, sources), timed(timing) as clock:
        text = _program(notation, arguments, base, fixed_order)
        if emit == "mlir":
            from ingot.compiler.driver.translate import program_text

            write_output(where, program_text(text, _NAME).encode())
            return
        from ingot.compiler.driver.options import CompileOptions

        options = CompileOptions(
            targets=tuple(dict.fromkeys(targets)), math=cast("MathMode", math), timing=clock
        )
        compiled = compile_with_progress(text, _NAME, options)
        write_output(where, emitted(compiled, cast("Emit", emit), where, _NAME))


def _program(notation: str, arguments: tuple[str, ...], base: str, fixed_order: bool) -> str:
    """The notation as a file: the options follow it, so that its lines keep their numbers."""
    from ingot.compiler.frontends.index_notation import parse_declaration

    for number, argument in enumerate(arguments, 1):
        parse_declaration(argument, "--arg", number)
    lines = [notation, f"@base {base}", *(f"@arg {argument}" for argument in arguments)]
    return "\n".join([*lines, *(["@order fixed"] if fixed_order else [])])


def main() -> None:
    """Entry point of `ingot-einsum`."""
    lean_process()
    command(prog_name="ingot-einsum")


if __name__ == "__main__":
    main()
