"""What a shell offers for a word of the command line: targets, devices, passes, kernels, files.

None of this imports the compiler, and all offer nothing where they know nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ingot.targets.bundle.model import Bundle

    Choice = Callable[[click.Context, str], list[CompletionItem[str]]]


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem[str]]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def targets(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """The names of the target profiles."""
    from ingot.targets.profiles import PROFILES

    return _beginning(PROFILES, incomplete)


def devices(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """The names of the back ends; which devices there are would take long to find out."""
    from ingot.runtime.devices import BACKENDS

    return _beginning([*BACKENDS, "host:random", "vulkan:0"], incomplete)


def passes(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """A pass as the last name of a pipeline: `canonicalize-tensor,dispatch-f`."""
    from ingot.compiler.driver.registry import ingot_passes

    before = re.match(r".*[,(]\s*|", incomplete, re.S)
    assert before is not None
    return _beginning((before[0] + name for name in ingot_passes()), incomplete)


def kernels(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """The kernels of the bundle that the command line names before."""
    bundle = _bundle(context)
    if bundle is None:
        return []
    wanted = context.params.get("target")
    variants = [v for v in bundle.variants if wanted in (None, v.target)]
    return _beginning(
        dict.fromkeys(kernel.name for variant in variants for kernel in variant.kernels),
        incomplete,
    )


def functions(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """The functions of the bundle that the command line names before."""
    bundle = _bundle(context)
    return _beginning((f.name for f in bundle.functions), incomplete) if bundle else []


def _bundle(context: click.Context) -> Bundle | None:
    from ingot.targets.bundle.errors import IngotError
    from ingot.targets.bundle.reader import read_bundle

    # While an option has no value yet, click leaves the arguments where they were.
    path = context.params.get("file") or next(iter(context.args), "")
    try:
        with open(path, "rb") as file:
            return read_bundle(file.read(), path)
    except (OSError, IngotError):
        return None


def files(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """Whatever the shell knows of files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def folders(context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    """Whatever the shell knows of folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


CHOICES: dict[str, Choice] = {
    "DEVICE": devices,
    "DIR": folders,
    "FILE": files,
    "FUNCTION": functions,
    "KERNEL": kernels,
    "PASS": passes,
    "PIPELINE": passes,
    "TARGET": targets,
}
"""By what stands for a value in the help of every command."""


def offer(command: click.Command) -> None:
    """Let the parameters of a command complete their values, by their metavars or names."""
    for parameter in command.params:
        known = (parameter.metavar or "").removesuffix("..."), (parameter.name or "").upper()
        choice = next((CHOICES[name] for name in known if name in CHOICES), None)
        if choice is not None:
            _complete_with(parameter, choice)


def _complete_with(parameter: click.Parameter, choice: Choice) -> None:
    def shell_complete(ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        return choice(ctx, incomplete)

    parameter.shell_complete = shell_complete
