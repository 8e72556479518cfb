"""`ingot run`: call a function of a bundle, or of a program that is compiled first."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ingot.targets.profiles import profile_for
from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    demote_f64_option,
    fail,
    math_option,
    read_bytes,
    reported,
    text_of,
    write_output,
)
from ingot.tools.startup import lean_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingot.compiler.driver.options import MathMode
    from ingot.runtime import LoadedBundle, Signature
    from ingot.runtime.dtypes import Array
    from ingot.runtime.hal import Device, Timing
    from ingot.targets.bundle.model import Bundle


@click.command("run", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file")
@click.option("--function", metavar="NAME", help="Call this function (default: the only one).")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="SPEC",
    help="An argument, in order: SHAPExTYPE=VALUE, @file.npy, random:SEED; or all arguments: "
    "@file.npz (in0, in1, ...).",
)
@click.option(
    "--device",
    "device_name",
    default="host",
    show_default=True,
    metavar="DEVICE",
    help="Run on this device (see `ingot devices`).",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="SPEC",
    help="Write a result to @file.npy, or all to @file.npz (out0, ...) instead of printing.",
)
@click.option(
    "--untrusted",
    is_flag=True,
    help="Keep the kernels of a bundle from a stranger to their buffers; slower.",
)
@click.option("--verify", is_flag=True, help="Compare with the reference evaluator (.mlir only).")
@math_option("How a program is compiled; a bundle has its own.")
@demote_f64_option
@click.option("--profile", is_flag=True, help="Show how long each command ran on the device.")
@click.option(
    "--trace",
    "trace_file",
    metavar="FILE",
    help="Write when each command ran as a trace for chrome://tracing or Perfetto.",
)
@click.option(
    "--capture",
    "capture_file",
    metavar="FILE.gputrace",
    help="Capture what the GPU runs, for Xcode (Metal devices only).",
)
@debug_option
def command(
    file: str,
    function: str | None,
    inputs: tuple[str, ...],
    device_name: str,
    outputs: tuple[str, ...],
    untrusted: bool,
    verify: bool,
    math: str,
    demote_f64: bool,
    profile: bool,
    trace_file: str | None,
    capture_file: str | None,
    debug: bool,
) -> None:
    """Run a function of FILE: a bundle, or a program (.mlir, `-`), compiled for the device.

    \b
    Example:
      ingot run softmax.ingot --input random:0 --device vulkan --output @result.npy
      ingot run softmax.mlir --input @inputs.npz --verify
    """
    sources = Sources()
    with reported(debug, sources):
        from ingot.runtime import load, loads, open_device
        from ingot.runtime.calls import as_list
        from ingot.runtime.io import read_inputs, write_outputs
        from ingot.targets.bundle.layout import IDENTIFIER

        # A file that says by its name that it is a bundle is mapped, and not read here.
        data = b"" if _is_binary(file) else read_bytes(file)
        is_bundle = _is_binary(file) or data[4:8] == IDENTIFIER
        if is_bundle and verify:
            raise CommandLineError(
                f"{file}: error: --verify needs the program: a bundle has no source;"
                " run the .mlir file it was compiled from"
            )
        program_text = "" if is_bundle else text_of(data, file, sources)
        device = open_device(device_name, untrusted)
        if program_text:
            loaded = _load(_compile(program_text, sources.main, device, math, demote_f64), file)
        else:
            loaded = loads(data, file) if file == "-" else load(file)
        signature = _signature(loaded, function, file)
        arguments = read_inputs(inputs, signature)
        program = loaded.bind(device)
        with device.capture(Path(capture_file)) if capture_file else nullcontext():
            if profile or trace_file:
                result, timings = program.profile(signature.name, *arguments)
            else:
                result, timings = program.call(signature.name, *arguments), ()
        if profile or trace_file:
            _report(timings, device, profile, trace_file)
        results = as_list(result)
        if outputs:
            write_outputs(outputs, results)
        else:
            _print_results(results, signature)
        if verify:
            _verify(program_text, sources.main, signature, arguments, results)


def _report(timings: Sequence[Timing], device: Device, show: bool, trace_file: str | None) -> None:
    """Show when commands ran, beside the results, and write it where that was asked for."""
    from ingot.tools.profile_text import chrome_trace, profile_text

    if show:
        click.echo(profile_text(timings), err=True)
    if trace_file:
        write_output(trace_file, chrome_trace(timings, device.name).encode())


def _is_binary(file: str) -> bool:
    """A file that says by its name that it is a bundle gets the bundle reader's errors."""
    return file.endswith(".ingot")


def _load(bundle: Bundle, source: str) -> LoadedBundle:
    from ingot.runtime import LoadedBundle

    return LoadedBundle(bundle, source)


def _compile(text: str, name: str, device: Device, math: str, demote_f64: bool) -> Bundle:
    from ingot.compiler.driver.compile import compile_text
    from ingot.compiler.driver.options import CompileOptions
    from ingot.tools.progress import progress

    options = CompileOptions(
        targets=(target_for(device),), math=cast("MathMode", math), demote_f64=demote_f64
    )
    with progress(f"compiling {name}") as step:
        return compile_text(text, name, options, on_stage=step).bundle


def target_for(device: Device) -> str:
    """The most demanding profile that a device satisfies."""
    return profile_for(device.api, device.family, device.simd_width).name


def _signature(loaded: LoadedBundle, name: str | None, file: str) -> Signature:
    functions = loaded.functions
    if name is None:
        if len(functions) == 1:
            return next(iter(functions.values()))
        name = "main"
    if name not in functions:
        known = ", ".join(functions) or "none"
        raise CommandLineError(f"{file}: error: no function named {name}; it has {known}")
    return functions[name]


def _print_results(results: Sequence[Array], signature: Signature) -> None:
    import numpy as np

    for index, (array, parameter) in enumerate(zip(results, signature.results, strict=True)):
        text = np.array2string(array, threshold=64, edgeitems=3, separator=", ")
        click.echo(f"result {index}: {parameter} =\n{text}")


def _verify(
    text: str,
    name: str,
    signature: Signature,
    arguments: Sequence[Array],
    results: Sequence[Array],
) -> None:
    from ingot.compiler.driver.verify_values import compare, reference_results

    expected = reference_results(text, name, signature.name, arguments)
    problems: list[str] = []
    for index, (got, want) in enumerate(zip(results, expected, strict=True)):
        comparison = compare(got, want)
        click.echo(f"verify: result {index}: {comparison}", err=True)
        if not comparison.is_right:
            problems.append(f"result {index} differs from the reference: {comparison}")
    if problems:
        fail("\n".join(f"{name}: error: {problem}" for problem in problems))


def main() -> None:
    """Entry point of `ingot-run`."""
    lean_process()
    command(prog_name="ingot-run")


if __name__ == "__main__":
    main()
