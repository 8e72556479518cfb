"""The `plan` dialect: a function as a list of commands over byte ranges.

A `plan.program` is what a bundle stores of a function, one to one. Who turns it into a bundle walks
`program.commands()` and matches on the command classes:

- `DispatchOp`: run the kernel `kernel` (a symbol of the module); `bindings` has one range for each
  input of the kernel, then one for each result. Inputs are read, results are written.
- `FillOp`: repeat `pattern` (1, 2 or 4 bytes) over `target`.
- `CopyOp`: copy `source` to `target`, of equal length.
- `StoreOp`: write a number that the host computed.
- `BarrierOp`: all commands before are finished before any after starts.
- `LoopOp`, `WhileOp`, `IfOp`: control flow over further commands, a barrier before, between and
  after its lists. What decides is a range that the host reads when it gets there: a number without
  sign of 1, 4 or 8 bytes.

Where a call decides sizes, `program.setup()` comes first: what the host computes of the sizes of
the arguments, in registers, which then stand for numbers.

A range names its storage by kind and index: argument i and result i of the function, constant i of
the module (the i-th `plan.constant`), or the transient arena (index 0, `transient_size` bytes).
Tensors lie in their ranges row-major, i1 as one byte.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from .commands import BarrierOp, CopyOp, DispatchOp, FillOp, StoreOp
from .control import CommandOp, IfOp, LoopOp, WhileOp, commands_of
from .program import ConstantOp, ProgramOp, constants, programs
from .ranges import Number, RangeAttr, RegisterAttr, Storage, number
from .setup import CheckOp, ComputeOp, SetupOp, SizeOp

__all__ = [
    "BarrierOp",
    "CheckOp",
    "CommandOp",
    "ComputeOp",
    "ConstantOp",
    "CopyOp",
    "DispatchOp",
    "FillOp",
    "IfOp",
    "LoopOp",
    "Number",
    "Plan",
    "ProgramOp",
    "RangeAttr",
    "RegisterAttr",
    "SetupOp",
    "SizeOp",
    "Storage",
    "StoreOp",
    "WhileOp",
    "commands_of",
    "constants",
    "number",
    "programs",
]

Plan = Dialect(
    "plan",
    [
        ProgramOp,
        ConstantOp,
        DispatchOp,
        FillOp,
        CopyOp,
        StoreOp,
        BarrierOp,
        LoopOp,
        WhileOp,
        IfOp,
        SizeOp,
        ComputeOp,
        CheckOp,
    ],
    [RangeAttr, RegisterAttr],
)
