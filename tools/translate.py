"""`ingot translate`: between IR, SPIR-V, MSL and text, as `mlir-translate` does."""

from __future__ import annotations

from collections.abc import Callable

import click

from ingot.tools.mlir_command import MlirCommand
from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    read_bytes,
    read_text,
    reported,
    write_output,
)
from ingot.tools.startup import lean_process


def _serialize_spirv(file: str, sources: Sources, target: str) -> bytes:
    from ingot.compiler.driver.translate import serialize_text

    return serialize_text(*read_text(file, sources))


def _tin_to_mlir(file: str, sources: Sources, target: str) -> bytes:
    from ingot.compiler.driver.translate import program_text

    return program_text(*read_text(file, sources)).encode()


def _deserialize_spirv(file: str, sources: Sources, target: str) -> bytes:
    from ingot.compiler.driver.translate import deserialize_to_text

    return deserialize_to_text(read_bytes(file)).encode()


def _disassemble_spirv(file: str, sources: Sources, target: str) -> bytes:
    from ingot.targets.spirv import disassemble

    return disassemble(read_bytes(file)).encode()


def _spirv_to_msl(file: str, sources: Sources, target: str) -> bytes:
    from ingot.compiler.driver.translate import msl_of

    return msl_of(read_bytes(file), target).encode()


def _bundle_to_text(file: str, sources: Sources, target: str) -> bytes:
    from ingot.targets.bundle.reader import read_bundle
    from ingot.tools.bundle_text import bundle_text

    return bundle_text(read_bundle(read_bytes(file), file)).encode()


TRANSLATIONS: dict[str, tuple[Callable[[str, Sources, str], bytes], str]] = {
    "tin-to-mlir": (_tin_to_mlir, "Index notation to a program on tensors."),
    "serialize-spirv": (_serialize_spirv, "A `spirv.module` to a SPIR-V binary."),
    "deserialize-spirv": (_deserialize_spirv, "A SPIR-V binary to a `spirv.module`."),
    "disassemble-spirv": (_disassemble_spirv, "A SPIR-V binary to assembly text."),
    "spirv-to-msl": (_spirv_to_msl, "A SPIR-V binary to MSL."),
    "bundle-to-text": (_bundle_to_text, "A bundle to readable text."),
}
ALIASES = {"mlir-to-spirv": "serialize-spirv", "spirv-to-mlir": "deserialize-spirv"}


def _translation_options(function: Callable[..., None]) -> Callable[..., None]:
    for name, (_, text) in reversed(TRANSLATIONS.items()):
        other = [f"--{alias}" for alias, meant in ALIASES.items() if meant == name]
        option = click.option(f"--{name}", *other, "chosen", flag_value=name, help=text)
        function = option(function)
    return function


@click.command(
    "translate", cls=MlirCommand, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("file", default="-")
@_translation_options
@click.option("-o", "--output", default="-", metavar="FILE", help="Write here (default: stdout).")
@click.option(
    "--target",
    default="metal:apple7",
    show_default=True,
    metavar="TARGET",
    help="For --spirv-to-msl: the profile that decides the MSL version.",
)
@debug_option
def command(file: str, chosen: str | None, output: str, target: str, debug: bool) -> None:
    """Translate FILE (standard input by default) from one form to another.

    \b
    Example:
      ingot translate kernel.mlir --serialize-spirv -o kernel.spv
      ingot translate kernel.spv --spirv-to-msl
      ingot translate softmax.ingot --bundle-to-text
    """
    if chosen is None:
        names = ", ".join(f"--{name}" for name in TRANSLATIONS)
        raise CommandLineError(f"error: no translation given; one of {names}")
    from ingot.tools.compile import check_target_names

    check_target_names((target,))
    sources = Sources()
    with reported(debug, sources):
        write_output(output, TRANSLATIONS[chosen][0](file, sources, target))


def main() -> None:
    """Entry point of `ingot-translate`."""
    lean_process()
    command(prog_name="ingot-translate")


if __name__ == "__main__":
    main()
