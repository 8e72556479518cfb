"""Programs that are read, and held to the rules of their dialects."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module


def read_valid(text: str, filename: str, unregistered: bool = False) -> ModuleOp:
    """The module of a text; raises what reading and verifying raise."""
    context = make_context()
    context.allow_unregistered = unregistered
    module = read_module(text, filename, context)
    verify(module, "as it was read")
    return module
