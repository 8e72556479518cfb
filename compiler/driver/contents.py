"""What a module is made of, coarsely: enough to know that a pass has nothing to do in it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType

from ingot.compiler.analysis.types import as_integer, element_type

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute


class Contents:
    """The names of a module's ops and of its scalar types, counted when first asked for.

    It speaks of the module as it is then; make a new one after a pass.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._module = module

    @cached_property
    def op_names(self) -> frozenset[str]:
        """The name of every op."""
        return frozenset(op.name for op in self._module.walk())

    @cached_property
    def types(self) -> frozenset[Attribute]:
        """The types of all values."""
        values = [result for op in self._module.walk() for result in op.results]
        values += [
            argument
            for op in self._module.walk()
            for region in op.regions
            for block in region.blocks
            for argument in block.args
        ]
        return frozenset(value.type for value in values)

    @cached_property
    def type_names(self) -> frozenset[str]:
        """The names of the types of all values, of the elements where a type has them.

        Integers are named with sign and width (`i4`, `ui8`), other types without their parameters
        (`complex`). A tensor with a size that a call decides adds `?`.
        """
        elements = {element_type(type_) for type_ in self.types}
        names = {e.name if as_integer(e) is None else str(e) for e in elements}
        open_sizes = any(
            isinstance(type_, TensorType) and DYNAMIC_INDEX in type_.get_shape()
            for type_ in self.types
        )
        return frozenset(names | {"?"} if open_sizes else names)

    def has_any(self, consumed: tuple[str, ...]) -> bool:
        """Whether any of these is here: an op by its name, all ops of `dialect.`, a `!type`."""
        for mark in consumed:
            if mark.startswith("!"):
                if mark[1:] in self.type_names:
                    return True
            elif mark.endswith("."):
                if any(name.startswith(mark) for name in self.op_names):
                    return True
            elif mark in self.op_names:
                return True
        return False
