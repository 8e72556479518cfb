"""`ingot compile`: from a program to a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    fail,
    read_bytes,
    read_text,
    reported,
    text_of,
    write_output,
)
from ingot.tools.startup import lean_process

if TYPE_CHECKING:
    from ingot.compiler.driver.compile import Compiled
    from ingot.compiler.driver.options import CompileOptions, Emit, MathMode
    from ingot.compiler.driver.schedules import ScheduleEntry


@click.command("compile", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file")
@click.option("-o", "--output", metavar="FILE", help="Write here; `-` is standard output.")
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Compile for this target (see `ingot targets`); may be given several times.",
)
@click.option(
    "--emit",
    type=click.Choice(["mlir", "spirv", "msl", "bundle"]),
    default="bundle",
    show_default=True,
    help="What to write: the dispatch-level IR, the kernels' SPIR-V as text, their MSL, a bundle.",
)
@click.option(
    "--math",
    type=click.Choice(["safe", "fast", "strict"]),
    default="safe",
    show_default=True,
    help="safe: IEEE special values; strict: also no contraction to fma; fast: fast math.",
)
@click.option("--demote-f64", is_flag=True, help="Compute f64 in f32 instead of refusing it.")
@click.option("--dump-dir", metavar="DIR", help="Leave every stage and every kernel's files here.")
@click.option(
    "--print-after", multiple=True, metavar="PASS", help="Print the IR after this pass (stderr)."
)
@click.option("--print-after-all", is_flag=True, help="Print the IR after every pass (stderr).")
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
    "--print-schedule",
    is_flag=True,
    help="Print every kernel's schedule as JSON, as --schedule takes it; without -o nothing else.",
)
@click.option(
    "--check-msl", is_flag=True, help="Check the MSL with clang for address space errors."
)
@debug_option
def command(
    file: str,
    output: str | None,
    targets: tuple[str, ...],
    emit: str,
    math: str,
    demote_f64: bool,
    dump_dir: str | None,
    print_after: tuple[str, ...],
    print_after_all: bool,
    weights: str | None,
    schedule_files: tuple[str, ...],
    print_schedule: bool,
    check_msl: bool,
    debug: bool,
) -> None:
    """Compile FILE (`-` is standard input) for one or more targets.

    \b
    Example:
      ingot compile softmax.mlir -o softmax.ingot --target metal:apple7
      ingot compile softmax.mlir -o - --target metal:apple7 --emit msl
    """
    if not targets:
        raise CommandLineError(
            "error: no --target given; for example --target metal:apple7 (see `ingot targets`)"
        )
    if output is None and not print_schedule:
        if emit == "bundle":
            raise CommandLineError("error: no output given; write -o FILE.ingot")
        output = "-"
    if weights is not None and (emit != "bundle" or output in (None, "-")):
        raise CommandLineError("error: --weights needs a bundle: write -o FILE.ingot")
    check_target_names(targets)
    sources = Sources()
    with reported(debug, sources):
        text, name = read_text(file, sources)
        from ingot.compiler.driver.options import CompileOptions

        options = CompileOptions(
            targets=tuple(dict.fromkeys(targets)),
            math=cast("MathMode", math),
            demote_f64=demote_f64,
            dump_dir=Path(dump_dir) if dump_dir else None,
            print_after=frozenset(print_after),
            print_after_all=print_after_all,
            schedules=_read_schedules(schedule_files),
            keep_schedules=print_schedule,
        )
        compiled = compile_with_progress(text, name, options)
        for sentence in compiled.warnings:
            click.echo(f"{name}: warning: {sentence}", err=True)
        if check_msl:
            _check_msl(compiled, name)
        if print_schedule:
            from ingot.compiler.driver.schedules import schedules_text

            entries = [entry for target in compiled.targets for entry in target.schedules]
            click.echo(schedules_text(entries), nl=False)
        if output is None:
            return
        if weights is not None:
            from ingot.targets.bundle.weights import save_bundle

            save_bundle(compiled.bundle, output, weights)
            return
        write_output(output, emitted(compiled, cast("Emit", emit), output))


def _read_schedules(files: tuple[str, ...]) -> tuple[ScheduleEntry, ...]:
    """The entries of all files; of two for the same kernel and target the later one counts."""
    if not files:
        return ()
    from ingot.compiler.driver.schedules import read_schedules

    entries: dict[tuple[str, str], ScheduleEntry] = {}
    for file in files:
        text = text_of(read_bytes(file), file, Sources())
        entries.update({(e.target, e.kernel): e for e in read_schedules(text, file)})
    return tuple(entries.values())


def check_target_names(targets: tuple[str, ...]) -> None:
    """Raise `CommandLineError` for a name that is no profile's."""
    from difflib import get_close_matches

    from ingot.targets.profiles import PROFILES

    for target in targets:
        if target not in PROFILES:
            close = get_close_matches(target, PROFILES, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "`ingot targets` lists them"
            raise CommandLineError(f"error: unknown target `{target}`; {hint}")


def compile_with_progress(text: str, name: str, options: CompileOptions) -> Compiled:
    from ingot.compiler.driver.compile import compile_text
    from ingot.tools.progress import progress

    with progress(f"compiling {name}") as step:
        return compile_text(text, name, options, on_stage=step)


def _check_msl(compiled: Compiled, name: str) -> None:
    """Check every kernel's MSL as Apple's compiler would; ends the program when one is wrong."""
    from ingot.runtime.devices.host.check import check_msl

    problems = [
        f"{name}: error: the MSL of kernel {kernel.name} for {target.profile.name}: {problem}"
        for target in compiled.targets
        for kernel in target.kernels
        if kernel.kernel.msl
        for problem in check_msl(kernel.kernel.msl)
    ]
    if problems:
        fail("\n".join(problems))


def emitted(compiled: Compiled, emit: Emit, output: str) -> bytes:
    """The bytes to write; a `.spv` file takes the words of the only kernel."""
    if emit == "bundle":
        from ingot.targets.bundle.writer import write_bundle

        return write_bundle(compiled.bundle)
    if emit == "spirv" and output.endswith(".spv"):
        kernels = [kernel for target in compiled.targets for kernel in target.kernels]
        if len(kernels) != 1:
            raise CommandLineError(
                f"{output}: error: a .spv file holds one kernel, and there are {len(kernels)};"
                " use --dump-dir, or another suffix for text"
            )
        return kernels[0].kernel.spirv
    from ingot.compiler.driver.compile import emit_text

    return emit_text(compiled, emit).encode()


def main() -> None:
    """Entry point of `ingot-compile`."""
    lean_process()
    command(prog_name="ingot-compile")


if __name__ == "__main__":
    main()
