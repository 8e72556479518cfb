"""A click command that takes its flags as MLIR's tools do.

`-split-input-file` and `--split-input-file` are the same, and a pass may be named as a flag:
`--canonicalize` adds the pass to the pipeline.
"""

from __future__ import annotations

import click


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
    """The opt tool: passes may be flags."""

    passes_as_flags = True


def _pass_flag(arg: str) -> str | None:
    """`--my-pass` or `--my-pass=a=1 b=2` as an entry of a pipeline, None when it is no pass."""
    from ingot.compiler.driver.registry import pass_names

    name, equals, options = arg.lstrip("-").partition("=")
    if name not in pass_names():
        return None
    return f"{name}{{{options}}}" if equals else name
