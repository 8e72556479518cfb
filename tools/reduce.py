"""`ingot reduce`: make a failing program small."""

from __future__ import annotations

import shutil
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import click

from ingot.tools.mlir_command import OptCommand, load_plugins, plugin_option
from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    fail,
    math_option,
    read_text,
    reported,
    write_output,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingot.compiler.driver.options import MathMode
    from ingot.compiler.driver.reduction.search import Size, Step
    from ingot.compiler.driver.reduction.trials import Judge


@click.command("reduce", cls=OptCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", default="-")
@click.option("-o", "--output", default="-", metavar="OUT", help="Write here (default: stdout).")
@click.option(
    "--test",
    metavar="SCRIPT",
    help="A program that is called with a file's path and ends with status 1 where the file is "
    "interesting, and with 0 where it is not.",
)
@click.option(
    "--test-arg", "test_args", multiple=True, metavar="ARG", help="For SCRIPT, before the path."
)
@click.option(
    "--crash",
    is_flag=True,
    help="Interesting is what makes the compiler break in the same way: with the RUN line that "
    "reproducers have, --passes or --target.",
)
@click.option(
    "--mismatch",
    is_flag=True,
    help="Interesting is what --device computes otherwise than the reference evaluator.",
)
@click.option(
    "-p", "--passes", "--pass-pipeline", "pipeline", metavar="PIPELINE", help="For --crash."
)
@click.option("--target", "targets", multiple=True, metavar="TARGET", help="For --crash.")
@math_option("How programs are compiled, for --crash and --mismatch.")
@click.option(
    "--device", default="host", show_default=True, metavar="DEVICE", help="For --mismatch."
)
@click.option(
    "--seed", default=0, show_default=True, metavar="N", help="Of random inputs, for --mismatch."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Try so many programs at once; the result is the same.",
)
@click.option("--max-time", type=float, metavar="SECONDS", help="Give what has been found by then.")
@click.option(
    "--test-timeout",
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="What takes longer is not interesting.",
)
@click.option("--allow-unregistered-dialect", is_flag=True, help="Accept ops nobody defined.")
@plugin_option
@debug_option
def command(
    file: str,
    output: str,
    test: str | None,
    test_args: tuple[str, ...],
    crash: bool,
    mismatch: bool,
    pipeline: str | None,
    targets: tuple[str, ...],
    math: str,
    device: str,
    seed: int,
    jobs: int,
    max_time: float | None,
    test_timeout: float,
    allow_unregistered_dialect: bool,
    debug: bool,
) -> None:
    """Make the program in FILE (standard input by default) small, while it stays interesting.

    Every candidate is a valid program. SCRIPT decides as with `mlir-reduce`.

    \b
    Example:
      ingot reduce model.mlir --test ./still_fails.sh -o small.mlir -j 4
      ingot reduce ingot-reproducer-0123456789ab.mlir --crash
      ingot reduce model.mlir --mismatch --device vulkan
    """
    if (test is not None) + crash + mismatch != 1:
        raise CommandLineError(
            "error: say what is interesting: --test SCRIPT, --crash or --mismatch"
        )
    sources = Sources()
    with reported(debug, sources):
        text, name = read_text(file, sources)
        from ingot.compiler.driver.reduction.reduce import Limits, reduce_text
        from ingot.compiler.driver.reproducer import split_head

        if test is not None:
            judge: Judge = _script(test, test_args)
            otherwise = f"{test} says that the program is not interesting"
        elif crash:
            judge = _crash(text, name, pipeline, targets, cast("MathMode", math))
            otherwise = "no internal error to reduce: the program compiles, or is refused"
        else:
            judge = _mismatch(device, seed, cast("MathMode", math))
            otherwise = f"{device} computes what the reference evaluator does, or does not run this"
        limits = Limits(jobs, test_timeout, max_time)
        reduced = reduce_text(
            text, name, judge, otherwise, limits, _show, allow_unregistered_dialect
        )
        end = "nothing more can be taken" if reduced.is_complete else "the time is up"
        click.echo(
            f"{_words(reduced.before)} became {_words(reduced.after)} in {reduced.trials} trials;"
            f" {end}\nstill interesting: {reduced.failure}",
            err=True,
        )
        # A reproducer stays one.
        head = split_head(text)[0] if crash and pipeline is None and not targets else ""
        write_output(output, (head + reduced.text).encode())
        sys.stdout.flush()


def _script(test: str, arguments: tuple[str, ...]) -> Judge:
    from ingot.tools.interestingness import Script

    path = shutil.which(test) or shutil.which(f"./{test}")
    if path is None:
        raise CommandLineError(f"{test}: error: no such program, or it may not be executed")
    return Script(path, arguments)


def _crash(
    text: str, name: str, pipeline: str | None, targets: tuple[str, ...], math: MathMode
) -> Judge:
    """The judge of internal errors: of passes, of the compiler, or of the RUN line in the file."""
    from ingot.compiler.driver.options import CompileOptions
    from ingot.compiler.driver.pass_pipeline import parse_pipeline
    from ingot.compiler.driver.reduction.crash import CompilerCrashes, PassesCrash
    from ingot.compiler.driver.reproducer import command_of
    from ingot.tools.compilation import load_compiler
    from ingot.tools.compile import check_target_names

    demote = False
    if pipeline is None and not targets:
        words = command_of(text) or []
        load_plugins(_values(words, "--load-pass-plugin"))
        found = _values(words, "-p")
        pipeline = found[0] if words[:1] == ["opt"] and found else None
        if words[:1] == ["compile"]:
            targets = tuple(_values(words, "--target"))
            math = cast("MathMode", (*_values(words, "--math"), math)[0])
            demote = "--demote-f64" in words
    if pipeline is not None:
        parse_pipeline(pipeline)
        return PassesCrash(pipeline)
    if not targets:
        raise CommandLineError(
            f"{name}: error: no `// RUN: ingot` line says what fails; give --passes or --target"
        )
    check_target_names(targets)
    load_compiler()
    return CompilerCrashes(CompileOptions(targets, math, demote))


def _values(words: Sequence[str], option: str) -> list[str]:
    return [value for word, value in pairwise(words) if word == option]


def _mismatch(device: str, seed: int, math: MathMode) -> Judge:
    from ingot.compiler.driver.reduction.trials import Trials
    from ingot.tools.compilation import load_compiler
    from ingot.tools.interestingness import CannotOpen, Mismatch

    problem = Trials(CannotOpen(device)).ask("builtin.module {\n}\n")
    if problem is not None:
        fail(f"error: {problem}")
    load_compiler()
    return Mismatch(device, seed, math)


def _show(step: Step) -> None:
    click.echo(f"{_words(step.size)} after {step.trials} trials: {step.reduction}", err=True)


def _words(size: Size) -> str:
    return f"{size.ops} ops, {size.characters} bytes"
