"""The plan dialect, and barriers between commands."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr
from xdsl.parser import Parser

from ingot.compiler.analysis.command_tree import with_barriers
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.plan import (
    BarrierOp,
    CopyOp,
    DispatchOp,
    FillOp,
    ProgramOp,
    RangeAttr,
    programs,
)

ARGUMENT = RangeAttr.of("argument", 0, 0, 16)
RESULT = RangeAttr.of("result", 0, 0, 16)
KERNEL = SymbolRefAttr("k")


def transient(offset: int, length: int = 16) -> RangeAttr:
    return RangeAttr.of("transient", 0, offset, length)


def kinds(commands: list[object]) -> str:
    return "".join("|" if isinstance(c, BarrierOp) else "x" for c in commands)


def test_a_program_prints_and_parses_back() -> None:
    program = ProgramOp(
        "main",
        FunctionType.from_lists([], []),
        [
            FillOp(RESULT, bytes(4)),
            BarrierOp(),
            DispatchOp(KERNEL, [ARGUMENT], [RESULT]),
            CopyOp(ARGUMENT, RESULT),
        ],
        256,
        128,
        ["x"],
        ["y"],
    )
    text = str(ModuleOp([program]))
    module = Parser(make_context(), text).parse_module()
    module.verify()
    assert str(module) == text
    assert [type(c) for c in programs(module)[0].commands()] == [
        FillOp,
        BarrierOp,
        DispatchOp,
        CopyOp,
    ]


def test_a_program_without_commands_parses_back() -> None:
    text = str(ModuleOp([ProgramOp("main", FunctionType.from_lists([], []), [], 0, 0, [], [])]))
    module = Parser(make_context(), text).parse_module()
    module.verify()
    assert list(programs(module)[0].commands()) == []


def test_reading_what_was_written_needs_a_barrier() -> None:
    commands = with_barriers(
        [
            DispatchOp(KERNEL, [ARGUMENT], [transient(0)]),
            DispatchOp(KERNEL, [transient(0)], [RESULT]),
        ]
    )
    assert kinds(list(commands)) == "x|x"


def test_writing_what_is_read_or_written_needs_a_barrier() -> None:
    read = DispatchOp(KERNEL, [transient(0)], [RESULT])
    write = FillOp(transient(8, 4), bytes(4))
    again = FillOp(transient(0, 16), bytes(4))
    assert kinds(list(with_barriers([read, write, again]))) == "x|x|x"


def test_disjoint_ranges_need_none() -> None:
    commands = with_barriers(
        [
            DispatchOp(KERNEL, [ARGUMENT], [transient(0)]),
            DispatchOp(KERNEL, [ARGUMENT], [transient(16)]),
        ]
    )
    assert kinds(list(commands)) == "xx"


def test_one_barrier_serves_all_earlier_commands() -> None:
    commands = with_barriers(
        [
            DispatchOp(KERNEL, [ARGUMENT], [transient(0)]),
            DispatchOp(KERNEL, [ARGUMENT], [transient(16)]),
            DispatchOp(KERNEL, [transient(0)], [transient(32)]),
            DispatchOp(KERNEL, [transient(16)], [RESULT]),
        ]
    )
    assert kinds(list(commands)) == "xx|xx"
