"""Control flow over commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import (
    IntegerAttr,
    i64,
)
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from .commands import BarrierOp, CopyOp, DispatchOp, FillOp, StoreOp
from .ranges import RangeAttr
from .setup import SetupOp


@irdl_op_definition
class LoopOp(IRDLOperation):
    """Run commands a number of times that is known, or that a range holds."""

    name = "plan.loop"

    times = opt_prop_def(IntegerAttr[i64])
    count = opt_prop_def(RangeAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "(`times` $times^)? (`count` $count^)? attr-dict-with-keyword $body"

    def __init__(self, times: int | RangeAttr, body: Iterable[Operation]):
        static = isinstance(times, int)
        super().__init__(
            properties={
                "times": IntegerAttr(times, i64) if static else None,
                "count": None if static else times,
            },
            regions=[Region(Block(body))],
        )

    def verify_(self) -> None:
        if (self.times is None) == (self.count is None):
            raise VerifyException("plan.loop has either a number of times or a count")


@irdl_op_definition
class WhileOp(IRDLOperation):
    """Run `condition`, stop when `proceed` holds a zero then, run `body`, and again."""

    name = "plan.while"

    proceed = prop_def(RangeAttr)
    condition = region_def("single_block")
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$proceed attr-dict-with-keyword $condition `do` $body"

    def __init__(
        self, proceed: RangeAttr, condition: Iterable[Operation], body: Iterable[Operation]
    ):
        super().__init__(
            properties={"proceed": proceed},
            regions=[Region(Block(condition)), Region(Block(body))],
        )


@irdl_op_definition
class IfOp(IRDLOperation):
    """Run `then`, or `otherwise` when `condition` holds a zero."""

    name = "plan.if"

    condition = prop_def(RangeAttr)
    then = region_def("single_block")
    otherwise = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$condition attr-dict-with-keyword $then `else` $otherwise"

    def __init__(
        self, condition: RangeAttr, then: Iterable[Operation], otherwise: Iterable[Operation]
    ):
        super().__init__(
            properties={"condition": condition},
            regions=[Region(Block(then)), Region(Block(otherwise))],
        )


CommandOp = DispatchOp | FillOp | CopyOp | StoreOp | BarrierOp | LoopOp | WhileOp | IfOp


def commands_of(region: Region) -> Iterator[CommandOp]:
    """The commands of a program's or a control flow op's region, in order."""
    for op in region.block.ops:
        if isinstance(op, SetupOp):
            continue
        assert isinstance(op, CommandOp)
        yield op
