"""`ingot translate`: between IR, SPIR-V, MSL and text, as `mlir-translate` does."""

from __future__ import annotations

from collections.abc import Callable

import click

from ingot.tools.mlir_command import MlirCommand, finish
from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    read_bytes,
    read_text,
    reported,
    version_option,
    write_output,
)
from ingot.tools.startup import lean_process


def _serialize_spirv(text: str, name: str) -> bytes:
    from ingot.compiler.driver.translate import serialize_text

    return serialize_text(text, name)


def _spirv_roundtrip(text: str, name: str) -> bytes:
    from ingot.compiler.driver.translate import roundtrip_text

    return roundtrip_text(text, name).encode()


def _tin_to_mlir(text: str, name: str) -> bytes:
    from ingot.compiler.driver.translate import program_text

    return program_text(text, name).encode()


def _deserialize_spirv(data: bytes, file: str, target: str) -> bytes:
    from ingot.compiler.driver.translate import deserialize_to_text

    return deserialize_to_text(data).encode()


def _disassemble_spirv(data: bytes, file: str, target: str) -> bytes:
    from ingot.targets.spirv import disassemble

    return disassemble(data).encode()


def _spirv_to_msl(data: bytes, file: str, target: str) -> bytes:
    from ingot.compiler.driver.translate import msl_of

    return msl_of(data, target).encode()


def _bundle_to_text(data: bytes, file: str, target: str) -> bytes:
    from ingot.targets.bundle.reader import read_bundle
    from ingot.tools.bundle_text import bundle_text

    return bundle_text(read_bundle(data, file)).encode()


FROM_TEXT: dict[str, tuple[Callable[[str, str], bytes], str]] = {
    "tin-to-mlir": (_tin_to_mlir, "Index notation to a program on tensors."),
    "serialize-spirv": (_serialize_spirv, "A `spirv.module` to a SPIR-V binary."),
    "test-spirv-roundtrip": (_spirv_roundtrip, "A `spirv.module` to a binary and back."),
}
FROM_BINARY: dict[str, tuple[Callable[[bytes, str, str], bytes], str]] = {
    "deserialize-spirv": (_deserialize_spirv, "A SPIR-V binary to a `spirv.module`."),
    "disassemble-spirv": (_disassemble_spirv, "A SPIR-V binary to assembly text."),
    "spirv-to-msl": (_spirv_to_msl, "A SPIR-V binary to MSL."),
    "bundle-to-text": (_bundle_to_text, "A bundle to readable text."),
}
TRANSLATIONS: dict[str, str] = {
    name: text for group in (FROM_TEXT, FROM_BINARY) for name, (_, text) in group.items()
}
"""Every translation and the sentence of its help."""
ALIASES = {"mlir-to-spirv": "serialize-spirv", "spirv-to-mlir": "deserialize-spirv"}


def _translation_options(function: Callable[..., None]) -> Callable[..., None]:
    for name, text in reversed(TRANSLATIONS.items()):
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
@click.option("--split-input-file", is_flag=True, help="Treat parts between `// -----` apart.")
@click.option(
    "--verify-diagnostics",
    is_flag=True,
    help="Check the errors against `// expected-error@+1 {{text}}` comments.",
)
@version_option
@debug_option
def command(
    file: str,
    chosen: str | None,
    output: str,
    target: str,
    split_input_file: bool,
    verify_diagnostics: bool,
    debug: bool,
) -> None:
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
        if chosen in FROM_BINARY:
            write_output(output, FROM_BINARY[chosen][0](read_bytes(file), file, target))
            return
        from ingot.compiler.driver.split_input import run_parts

        text, name = read_text(file, sources)
        result = run_parts(
            text,
            name,
            lambda part: FROM_TEXT[chosen][0](part, name),
            split=split_input_file,
            verify_diagnostics=verify_diagnostics,
        )
        finish(result, b"".join(result.outputs), output, sources)


def main() -> None:
    """Entry point of `ingot-translate`."""
    lean_process()
    command(prog_name="ingot-translate")


if __name__ == "__main__":
    main()
