"""A click command that takes its flags as MLIR's tools do.

`-split-input-file` and `--split-input-file` are the same, and a pass may be named as a flag:
`--canonicalize` adds the pass to the pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ingot.tools.report import CommandLineError, Sources, fail, write_output

if TYPE_CHECKING:
    from ingot.compiler.driver.split_input import PartsResult


_WITHOUT_EFFECT = frozenset(
    [
        "--mlir-disable-threading",
        "--mlir-print-ir-module-scope",
        "--mlir-print-local-scope",
        "--no-implicit-module",
    ]
)
"""Flags of MLIR's tools that RUN lines have, and that ask for what is the case here anyway: passes
run one after another on the whole module, and its text has no aliases."""


class MlirCommand(click.Command):
    """Rewrites MLIR's spellings into click's before parsing."""

    passes_as_flags = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {
            opt for param in self.get_params(ctx) for opt in (*param.opts, *param.secondary_opts)
        }
        rewritten: list[str] = []
        passes: list[str] = []
        for position, arg in enumerate(args):
            if arg == "--":
                rewritten += args[position:]
                break
            name, _, _ = arg.partition("=")
            long = "--" + name.lstrip("-")
            if name.startswith("-") and len(name) > 2 and name not in known:
                if long in _WITHOUT_EFFECT:
                    continue
                if long in known:
                    rewritten.append(long + arg[len(name) :])
                    continue
                if self.passes_as_flags and (spec := _pass_flag(arg)) is not None:
                    passes.append(spec)
                    continue
            rewritten.append(arg)
        if passes:
            rewritten += ["--passes", ",".join(passes)]
        return super().parse_args(ctx, rewritten)


class OptCommand(MlirCommand):
    """The opt tool: passes may be flags, and come from plugins."""

    passes_as_flags = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Before the rest: a plugin's passes may be flags, too.
        if not ctx.resilient_parsing:  # else a shell asks for completions
            load_plugins(_values_of(args, _PLUGIN_FLAGS))
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ingot.compiler.plugins import pass_origins

        if origins := pass_origins():
            with formatter.section("Passes of plugins"):
                formatter.write_dl(list(origins.items()))


_PLUGIN_FLAGS = ("--load-pass-plugin", "--load-dialect-plugin")
plugin_option = click.option(
    *_PLUGIN_FLAGS,
    "plugin_files",
    multiple=True,
    expose_value=False,
    metavar="FILE.py",
    help="Know the passes and dialects that this Python file defines.",
)
"""For commands that an `OptCommand` parses."""


def finish(result: PartsResult[Any], output: bytes, path: str, sources: Sources) -> None:
    """Write what became of a file's parts; status 1 where one was refused, or differs from the
    comments.

    A file is written whole or not at all; on standard output the parts that went well are shown.
    """
    from ingot.compiler.driver.diagnostics import render

    problems = [render(found, sources.texts) for found in result.refused]
    problems += result.problems
    if path == "-" or not problems:
        write_output(path, output)
    if problems:
        fail("\n".join(problems))


def load_plugins(files: Sequence[str]) -> None:
    """Make the passes and dialects of files known; raises `CommandLineError` for a broken one."""
    if not files:
        return
    from ingot.compiler.plugins import PluginError, load_file

    for file in files:
        try:
            load_file(file)
        except PluginError as error:
            raise CommandLineError(f"error: {error}") from error


def _values_of(args: Sequence[str], flags: Sequence[str]) -> list[str]:
    """The values of flags, as `--flag=value` or `--flag value`, with one dash or two."""
    values: list[str] = []
    for position, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if f"--{name.lstrip('-')}" in flags and name.startswith("-"):
            values += [value] if equals else args[position + 1 : position + 2]
    return values


def _pass_flag(arg: str) -> str | None:
    """`--my-pass` or `--my-pass=a=1 b=2` as an entry of a pipeline, None when it is no pass."""
    from ingot.compiler.driver.registry import is_pass

    name, equals, options = arg.lstrip("-").partition("=")
    if not is_pass(name):
        return None
    return f"{name}{{{options}}}" if equals else name
