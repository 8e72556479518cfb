"""The `ingot` command: a group whose subcommands are imported when they are called."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import click

from ingot.tools.report import shipped_folder, version_option
from ingot.tools.startup import lean_process

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: dict[str, str] = {
    "compile": "Compile a program into a bundle.",
    "einsum": "Compile a line of index notation.",
    "grad": "Compile the gradient of a program.",
    "run": "Run a function of a bundle or of a program.",
    "tune": "Search for faster schedules on a device.",
    "inspect": "Show what a bundle holds.",
    "opt": "Run passes on a program.",
    "reduce": "Make a failing program small.",
    "translate": "Convert between IR, SPIR-V, MSL and text.",
    "cache": "Show or clear what was compiled before.",
    "targets": "List the target profiles.",
    "devices": "List the devices of this machine.",
    "doctor": "Say what is installed, and what to do about what is not.",
    "completion": "Print a script that completes commands in a shell.",
}
"""Subcommand to the sentence that `ingot --help` shows; the module has the command's name."""


class LazyGroup(click.Group):
    """A group that imports a subcommand's module only when that subcommand runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"ingot.tools.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        if ctx.resilient_parsing:
            from ingot.tools.choices import offer

            offer(command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Offer the commands without importing any."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(n, help=h) for n, h in COMMANDS.items() if n.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _print_folder(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(shipped_folder("cmake" if param.name == "cmake_dir" else "embed"))
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@version_option
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_folder,
    help="Show where IngotConfig.cmake is, for -DIngot_DIR.",
)
@click.option(
    "--embed-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_folder,
    help="Show where the sources of the C library are.",
)
def command() -> None:
    """Compile tensor programs ahead of time into Metal shader bundles.

    \b
    Example:
      ingot compile model.mlir -o model.ingot --target metal:apple7
      ingot run model.ingot --input 4xf32=1,2,3,4 --device host
    """


def main() -> None:
    """Entry point of `ingot`."""
    lean_process()
    if "_INGOT_COMPLETE" in os.environ:
        import_module("ingot.tools.completion")  # which knows how Bash splits words
    command(prog_name="ingot")


if __name__ == "__main__":
    main()
