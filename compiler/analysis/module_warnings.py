"""Sentences for the user that passes leave on the module, for the driver to print."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

WARNINGS = "ingot.warnings"
"""Attribute of the module: an array of strings, in the order in which they came up."""


def add_warning(module: ModuleOp, sentence: str) -> None:
    """Append a sentence to the module's warnings, once."""
    sentences = warnings(module)
    if sentence not in sentences:
        module.attributes[WARNINGS] = ArrayAttr([StringAttr(s) for s in (*sentences, sentence)])


def warnings(module: ModuleOp) -> tuple[str, ...]:
    """What passes had to say so far."""
    known = module.attributes.get(WARNINGS)
    if not isinstance(known, ArrayAttr):
        return ()
    attributes = cast("ArrayAttr[Attribute]", known).data
    return tuple(attr.data for attr in attributes if isinstance(attr, StringAttr))
