"""Dependency files, as Make and Ninja read them."""

from __future__ import annotations

from collections.abc import Sequence


def depfile_text(output: str, inputs: Sequence[str]) -> str:
    """The rule that `output` is made from `inputs`, and an empty one for each input.

    The empty rules (`-MP` of compilers) keep Make going when an input is removed.
    """
    names = [_escaped(name) for name in dict.fromkeys(inputs)]
    lines = [f"{_escaped(output)}: {' '.join(names)}", *(f"{name}:" for name in names)]
    return "\n".join(lines) + "\n"


def _escaped(name: str) -> str:
    """Spaces and hashes with a backslash, dollars twice: what Make and Ninja agree on."""
    return name.replace("\\ ", "\\\\ ").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")
