"""What the commands are, read from their click definitions; and the page of the commands."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import click

from ingot.tools import main
from reference.text import code, prose, table


@dataclass(frozen=True)
class Option:
    """An option of a command."""

    spellings: tuple[str, ...]
    metavar: str
    """What stands for its value; "" for a flag."""
    help: str
    default: str
    """"" where there is none, or it says nothing."""


@dataclass(frozen=True)
class Command:
    """A command as its help shows it."""

    name: str
    """As it is typed: `ingot compile`."""
    usage: str
    paragraphs: tuple[str, ...]
    examples: tuple[str, ...]
    """Lines that work as they stand."""
    options: tuple[Option, ...]


def _metavar(option: click.Option, context: click.Context) -> str:
    if option.is_flag or option.count:
        return ""
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return option.metavar or option.make_metavar(context)


def _option(option: click.Option, context: click.Context) -> Option:
    default = ""
    if option.show_default and not option.is_flag and option.default is not None:
        default = str(option.default)
    return Option(
        (*option.opts, *option.secondary_opts),
        _metavar(option, context),
        " ".join((option.help or "").split()),
        default,
    )


def _command(command: click.Command, name: str) -> Command:
    """Read a command; click marks what must keep its lines with a line `\\b`."""
    context = click.Context(command, info_name=name)
    paragraphs: list[str] = []
    examples: list[str] = []
    for block in inspect.cleandoc(command.help or "").split("\n\n"):
        lines = block.splitlines()
        if lines[0].strip() == "\b":
            text = "\n".join(line.strip() for line in lines[1:] if not line.startswith("Example"))
            examples += text.replace("\\\n", "").splitlines()
        else:
            paragraphs.append(" ".join(block.split()))
    options = [
        _option(parameter, context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    return Command(name, usage, tuple(paragraphs), tuple(examples), tuple(options))


def commands() -> list[Command]:
    """`ingot` itself, then each of its commands in the order of its help."""
    context = click.Context(main.command, info_name="ingot")
    found = [_command(main.command, "ingot")]
    for name in main.command.list_commands(context):
        command = main.command.get_command(context, name)
        assert command is not None, name
        found.append(_command(command, f"ingot {name}"))
    return found


def _row(option: Option) -> tuple[str, str]:
    spelled = ", ".join(map(code, option.spellings))
    if option.metavar:
        spelled += f" {code(option.metavar)}"
    text = prose(option.help)
    return spelled, f"{text} Default: {code(option.default)}." if option.default else text


def _section(command: Command) -> str:
    parts = [f"## `{command.name}`\n", f"```text\n{command.usage}\n```\n"]
    parts += [f"{prose(paragraph)}\n" for paragraph in command.paragraphs]
    if command.examples:
        parts.append("```sh\n" + "".join(f"{line}\n" for line in command.examples) + "```\n")
    parts.append(table(("option", "what it does"), map(_row, command.options)))
    return "\n".join(parts)


def reference() -> str:
    """A section for each command."""
    return "\n".join(map(_section, commands()))
