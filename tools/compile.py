"""`ingot compile`: from programs to bundles."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ingot.tools.compilation import Job, Outcome, Request, compile_job, compile_jobs
from ingot.tools.messages import Form, messages_text
from ingot.tools.report import (
    CommandLineError,
    debug_option,
    demote_f64_option,
    math_option,
    read_bytes,
    reported,
    targets_option,
    timing_option,
)
from ingot.tools.startup import lean_process, numpy_in_one_thread

if TYPE_CHECKING:
    from ingot.compiler.driver.compile import Compiled
    from ingot.compiler.driver.options import CompileOptions, Emit, MathMode
    from ingot.targets.metallib import Sdk

_SUFFIXES: dict[str, str] = {
    "bundle": ".ingot",
    "msl": ".metal",
    "spirv": ".spvasm",
    "mlir": ".mlir",
}
"""What a file in --out-dir ends in."""


class CompileCommand(click.Command):
    """Takes response files: `@FILE` stands for the words in FILE, quoted as a shell does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a shell asks for completions
            return super().parse_args(ctx, args)
        words: list[str] = []
        for word in args:
            if word.startswith("@") and len(word) > 1:
                text = read_bytes(word[1:]).decode("utf-8", "replace")
                words += shlex.split(text, comments=True)
            else:
                words.append(word)
        return super().parse_args(ctx, words)


@click.command(
    "compile", cls=CompileCommand, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", metavar="FILE", help="Write here; `-` is standard output.")
@click.option("--out-dir", metavar="DIR", help="Write an output for each FILE here.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=0),
    metavar="N",
    help="Use so many processes, for files, or for the kernels of a file that has many; 0 is one"
    " for each processor.  [default: one file at a time, its kernels on all processors]",
)
@click.option("-k", "--keep-going", is_flag=True, help="Compile the other files after an error.")
@targets_option
@click.option(
    "--emit",
    type=click.Choice(["mlir", "spirv", "msl", "c-header", "bundle"]),
    default="bundle",
    show_default=True,
    help="What to write: the final IR, the kernels' SPIR-V as text, their MSL, a header with typed"
    " functions for C, a bundle.",
)
@math_option()
@demote_f64_option
@click.option("--dump-dir", metavar="DIR", help="Leave every stage and every kernel's files here.")
@click.option(
    "--print-after", multiple=True, metavar="PASS", help="Print the IR after this pass (stderr)."
)
@click.option("--print-after-all", is_flag=True, help="Print the IR after every pass (stderr).")
@click.option(
    "--metallib",
    "metallib",
    multiple=True,
    type=click.Choice(["macosx", "iphoneos", "iphonesimulator"]),
    help="Also compile the MSL for this platform with Apple's tools (macOS only); may be given"
    " several times.",
)
@timing_option
@click.option(
    "--weights",
    metavar="FILE",
    help="Put large constants into this safetensors file beside the bundle.",
)
@click.option(
    "--schedule",
    "schedule_files",
    multiple=True,
    metavar="FILE",
    help="Take the schedules of kernels from this JSON file; may be given several times.",
)
@click.option(
    "--schedule-db",
    metavar="FILE",
    help="Take schedules that `ingot tune --schedule-db` found; those of --schedule come first.",
)
@click.option(
    "--print-schedule",
    is_flag=True,
    help="Print every kernel's schedule as JSON, as --schedule takes it; without -o nothing else.",
)
@click.option(
    "--check-msl", is_flag=True, help="Check the MSL with clang for address space errors."
)
@click.option(
    "-MD", "write_depfile", is_flag=True, help="Write what each output depends on: OUT.d."
)
@click.option("-MF", "depfile", metavar="FILE", help="With -o: write what it depends on here.")
@click.option(
    "--diagnostics",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How errors and warnings are written (stderr).",
)
@click.option(
    "--embed",
    metavar="FILE",
    help="Also write the bundle as C source (.c) or, with the system's cc, an object file (.o).",
)
@click.option(
    "--name", metavar="NAME", help="What the names in C begin with; FILE's name when left out."
)
@click.option("--no-cache", is_flag=True, help="Compile even what was compiled before.")
@debug_option
def command(
    files: tuple[str, ...],
    output: str | None,
    out_dir: str | None,
    jobs: int | None,
    keep_going: bool,
    targets: tuple[str, ...],
    emit: str,
    math: str,
    demote_f64: bool,
    dump_dir: str | None,
    print_after: tuple[str, ...],
    print_after_all: bool,
    timing: bool,
    metallib: tuple[str, ...],
    weights: str | None,
    schedule_files: tuple[str, ...],
    schedule_db: str | None,
    print_schedule: bool,
    check_msl: bool,
    write_depfile: bool,
    depfile: str | None,
    diagnostics: str,
    embed: str | None,
    name: str | None,
    no_cache: bool,
    debug: bool,
) -> None:
    """Compile FILEs (`-` is standard input) for one or more targets.

    With -o the functions of all FILEs go into one bundle; with --out-dir each becomes its own.

    What was compiled before with the same options and versions is taken from a cache (see
    `ingot cache`). `@FILE` on the command line stands for the words in FILE.

    \b
    Example:
      ingot compile softmax.mlir -o softmax.ingot --target metal:apple7 --target vulkan:generic
      ingot compile softmax.mlir -o - --target metal:apple7 --emit msl
      ingot compile softmax.mlir norm.mlir -o both.ingot --target metal:apple7
      ingot compile *.mlir --out-dir bundles -j 8 --target metal:apple7
    """
    if not targets:
        raise CommandLineError(
            "error: no --target given; for example --target metal:apple7 (see `ingot targets`)"
        )
    if output is None and out_dir is None and not print_schedule:
        if emit == "bundle":
            raise CommandLineError("error: no output given; write -o FILE.ingot")
        output = "-"
    _check_outputs(files, output, out_dir, weights, emit, depfile, embed)
    check_target_names(targets)
    _check_metallib(metallib, targets, emit)
    at_once = 1 if jobs is None else jobs or processors()
    groups = [files] if out_dir is None else [(file,) for file in files]
    request = Request(
        targets=tuple(dict.fromkeys(targets)),
        emit=cast("Emit", emit),
        math=cast("MathMode", math),
        demote_f64=demote_f64,
        dump_dir=dump_dir,
        print_after=print_after,
        print_after_all=print_after_all,
        timing=timing,
        # A header is that of the bundle, and needs no tools.
        metallib=cast(
            "tuple[Sdk, ...]", tuple(dict.fromkeys(metallib)) if emit == "bundle" else ()
        ),
        weights=weights,
        schedule_files=schedule_files,
        schedule_db=schedule_db,
        print_schedule=print_schedule,
        check_msl=check_msl,
        embed=embed,
        name=name,
        use_cache=not no_cache,
        processes=processors() if jobs is None else 1 if len(groups) > 1 else at_once,
    )
    listed = [_job(group, output, out_dir, emit, write_depfile, depfile) for group in groups]
    outcomes: list[Outcome] = []
    with reported(debug):
        if out_dir is not None:
            _make_folder(out_dir)
        if len(listed) == 1:
            from ingot.tools.progress import progress

            with progress(f"compiling {' '.join(files)}") as step:
                outcomes.append(compile_job(listed[0], request, step, debug))
            _show(outcomes[-1], diagnostics)
        else:
            for outcome in compile_jobs(listed, request, at_once, keep_going):
                outcomes.append(outcome)
                _show(outcome, diagnostics)
    _finish(listed, outcomes, cast("Form", diagnostics))


def _check_outputs(
    files: tuple[str, ...],
    output: str | None,
    out_dir: str | None,
    weights: str | None,
    emit: str,
    depfile: str | None,
    embed: str | None,
) -> None:
    """Raise `CommandLineError` for outputs that do not go together."""
    if output is not None and out_dir is not None:
        raise CommandLineError("error: -o and --out-dir are two places for one output")
    if len(files) > 1 and output in (None, "-") and out_dir is None:
        raise CommandLineError(
            f"error: {len(files)} files need -o FILE for one output, or --out-dir DIR for an"
            " output each"
        )
    if weights is not None and (emit != "bundle" or output in (None, "-")):
        raise CommandLineError("error: --weights needs a bundle: write -o FILE.ingot")
    if embed is not None and (emit != "bundle" or output in (None, "-") or weights is not None):
        raise CommandLineError("error: --embed needs a whole bundle: write -o FILE.ingot")
    if depfile is not None and output in (None, "-"):
        raise CommandLineError("error: -MF needs an output: write -o FILE.ingot")
    if out_dir is not None:
        names: dict[str, str] = {}
        for file in files:
            other = names.setdefault(Path(file).stem, file)
            if other != file:
                raise CommandLineError(f"error: {other} and {file} would have the same output")


def _check_metallib(metallib: tuple[str, ...], targets: tuple[str, ...], emit: str) -> None:
    """Raise `CommandLineError` where there would be no place for Metal libraries."""
    if metallib and emit not in ("bundle", "c-header"):
        raise CommandLineError("error: --metallib needs a bundle to put the libraries into")
    if metallib and not any(target.startswith("metal:") for target in targets):
        raise CommandLineError(
            "error: --metallib compiles for Metal, and no --target is; for example metal:apple7"
        )


def _job(
    files: tuple[str, ...],
    output: str | None,
    out_dir: str | None,
    emit: str,
    write_depfile: bool,
    depfile: str | None,
) -> Job:
    file, *others = files
    if out_dir is not None:
        stem = "stdin" if file == "-" else Path(file).stem
        output = str(Path(out_dir, stem + _SUFFIXES[emit]))
    if write_depfile and depfile is None and output not in (None, "-"):
        depfile = f"{output}.d"
    return Job(file, output, depfile, tuple(others))


def _make_folder(path: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandLineError(f"{path}: error: {error.strerror or error}") from None


def processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _show(outcome: Outcome, diagnostics: str) -> None:
    """What an outcome prints as soon as it is there."""
    if outcome.printed:
        click.echo(outcome.printed, nl=False)
    if diagnostics == "text":
        click.echo(messages_text(outcome.messages, "text"), nl=False, err=True)
    if outcome.timing:
        click.echo(outcome.timing, nl=False, err=True)


def _finish(listed: list[Job], outcomes: list[Outcome], diagnostics: Form) -> None:
    """The summary of many files, all messages as data, and the exit status."""
    if diagnostics != "text":
        everything = [message for outcome in outcomes for message in outcome.messages]
        click.echo(messages_text(everything, diagnostics), nl=False, err=True)
    failed = sum(outcome.has_failed for outcome in outcomes)
    if len(listed) > 1 and diagnostics == "text":
        done = len(outcomes) - failed
        cached = sum(outcome.is_cached for outcome in outcomes)
        parts = [f"compiled {done} of {len(listed)} files"]
        parts += [f"{cached} of them before"] if cached else []
        parts += [f"{failed} failed"] if failed else []
        skipped = len(listed) - len(outcomes)
        parts += [f"{skipped} not tried (--keep-going tries them)"] if skipped else []
        click.echo(", ".join(parts), err=True)
    if failed:
        sys.exit(1)


def check_target_names(targets: tuple[str, ...]) -> None:
    """Raise `CommandLineError` for a name that is no profile's."""
    from difflib import get_close_matches

    from ingot.targets.profiles import PROFILES

    for target in targets:
        if target not in PROFILES:
            close = get_close_matches(target, PROFILES, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "`ingot targets` lists them"
            raise CommandLineError(f"error: unknown target `{target}`; {hint}")


def chosen_output(output: str | None, emit: str, targets: tuple[str, ...]) -> str:
    """Where a program that `mlir` needs no target for is written; raises `CommandLineError`."""
    if emit != "mlir" and not targets:
        raise CommandLineError(
            "error: no --target given; for example --target metal:apple7, or --emit mlir"
        )
    if output is None and emit == "bundle":
        raise CommandLineError("error: no output given; write -o FILE.ingot")
    check_target_names(targets)
    return "-" if output is None else output


def compile_with_progress(text: str, name: str, options: CompileOptions) -> Compiled:
    numpy_in_one_thread()
    from ingot.compiler.driver.compile import compile_text
    from ingot.tools.progress import progress

    with progress(f"compiling {name}") as step:
        return compile_text(text, name, options, on_stage=step)


def main() -> None:
    """Entry point of `ingot-compile`."""
    lean_process()
    command(prog_name="ingot-compile")


if __name__ == "__main__":
    main()
