"""Commands over byte ranges with control flow, while their memory is planned.

Ranges of the transient arena name an intermediate here, all of it; `resolved` gives them their
offsets, and the plan dialect its ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntAttr, LocationAttr
from xdsl.ir import Operation

from ingot.compiler.analysis.liveness import live_ranges
from ingot.compiler.dialects import plan

Simple = plan.DispatchOp | plan.FillOp | plan.CopyOp | plan.StoreOp


@dataclass(frozen=True)
class Loop:
    """`body` as often as `times` says; `carried` are the ranges that pass its end."""

    times: int | plan.RangeAttr
    body: Sequence[Command]
    carried: Sequence[plan.RangeAttr]
    location: LocationAttr


@dataclass(frozen=True)
class While:
    """`body` as long as `condition` leaves something else than zero in `proceed`."""

    condition: Sequence[Command]
    proceed: plan.RangeAttr
    body: Sequence[Command]
    carried: Sequence[plan.RangeAttr]
    location: LocationAttr


@dataclass(frozen=True)
class If:
    """One of two lists."""

    condition: plan.RangeAttr
    then: Sequence[Command]
    otherwise: Sequence[Command]
    location: LocationAttr


Command = Simple | Loop | While | If


def lifetimes(commands: Sequence[Command]) -> dict[int, tuple[int, int]]:
    """The first and last step at which each intermediate is needed, all lists on one line.

    What a loop gets from above or keeps for its next turn is needed in all of it.
    """
    touched: list[list[int]] = []
    loops: list[tuple[int, int]] = []
    _number(commands, touched, loops)
    ranges = live_ranges(touched)
    changed = True
    while changed:
        changed = False
        for start, end in loops:
            for intermediate, (first, last) in ranges.items():
                reaches_out = first <= end and start <= last and (first <= start or last >= end)
                wide = (min(first, start), max(last, end))
                if reaches_out and wide != (first, last):
                    ranges[intermediate] = wide
                    changed = True
    return ranges


def _number(
    commands: Sequence[Command], touched: list[list[int]], loops: list[tuple[int, int]]
) -> None:
    def touch(*ranges: plan.RangeAttr) -> None:
        touched.append([r.index.data for r in ranges if r.storage.data == "transient"])

    for command in commands:
        match command:
            case Loop():
                start = len(touched)
                count = () if isinstance(command.times, int) else (command.times,)
                touch(*count, *command.carried)
                _number(command.body, touched, loops)
                touch(*command.carried)
                loops.append((start, len(touched) - 1))
            case While():
                start = len(touched)
                touch(*command.carried)
                _number(command.condition, touched, loops)
                touch(command.proceed)
                _number(command.body, touched, loops)
                touch(*command.carried)
                loops.append((start, len(touched) - 1))
            case If():
                touch(command.condition)
                _number(command.then, touched, loops)
                _number(command.otherwise, touched, loops)
            case _:
                touch(*command.reads(), *command.writes())


def resolved(
    commands: Iterable[Command], offsets: Mapping[int, int | plan.RegisterAttr]
) -> list[Operation]:
    """The ops of a plan, with barriers, for intermediates at the given offsets of the arena."""
    return with_barriers(list(_resolve(commands, offsets)))


def _resolve(
    commands: Iterable[Command], offsets: Mapping[int, int | plan.RegisterAttr]
) -> Iterator[Simple | plan.LoopOp | plan.WhileOp | plan.IfOp]:
    def moved(range_: plan.RangeAttr) -> plan.RangeAttr:
        if range_.storage.data != "transient":
            return range_
        offset = offsets[range_.index.data]
        if isinstance(offset, int) and isinstance(range_.offset, IntAttr):
            offset += range_.offset.data
        return plan.RangeAttr(range_.storage, IntAttr(0), plan.number(offset), range_.length)

    for command in commands:
        match command:
            case plan.DispatchOp():
                reads, writes = map(moved, command.reads()), map(moved, command.writes())
                new = plan.DispatchOp(command.kernel, list(reads), list(writes), command.groups)
            case plan.FillOp():
                new = plan.FillOp(moved(command.target), command.pattern.data)
            case plan.CopyOp():
                new = plan.CopyOp(moved(command.source), moved(command.target))
            case plan.StoreOp():
                new = plan.StoreOp(command.value, moved(command.target))
            case Loop():
                times = command.times
                count = times if isinstance(times, int) else moved(times)
                new = plan.LoopOp(count, resolved(command.body, offsets))
            case While():
                new = plan.WhileOp(
                    moved(command.proceed),
                    resolved(command.condition, offsets),
                    resolved(command.body, offsets),
                )
            case If():
                new = plan.IfOp(
                    moved(command.condition),
                    resolved(command.then, offsets),
                    resolved(command.otherwise, offsets),
                )
        new.location = command.location
        yield new


def with_barriers(
    commands: Sequence[Simple | plan.LoopOp | plan.WhileOp | plan.IfOp],
) -> list[Operation]:
    """Put a barrier before each command that depends on one since the last barrier: it reads what
    that one writes, or writes what that one reads or writes. Control flow is a barrier itself."""
    result: list[Operation] = []
    read: list[plan.RangeAttr] = []
    written: list[plan.RangeAttr] = []
    for command in commands:
        if isinstance(command, plan.LoopOp | plan.WhileOp | plan.IfOp):
            result.append(command)
            read, written = [], []
            continue
        reads, writes = command.reads(), command.writes()
        if any(r.overlaps(w) for r in (*reads, *writes) for w in written) or any(
            w.overlaps(r) for w in writes for r in read
        ):
            barrier = plan.BarrierOp()
            barrier.location = command.location
            result.append(barrier)
            read, written = [], []
        result.append(command)
        read.extend(reads)
        written.extend(writes)
    return result
