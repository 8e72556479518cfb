"""A plugin with a bug, for tests of what happens then."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class CrashOnExpPass(ModulePass):
    """Break at the first `math.exp`."""

    name = "crash-on-exp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.name == "math.exp":
                raise KeyError(inner.name)
