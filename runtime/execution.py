"""The command list of a function as recorded command buffers, and what the host decides between.

A list without control flow is one command buffer. A loop whose count is known is recorded into it,
as often as it runs, up to `MOST_UNROLLED` commands; a longer one is a command buffer of its own
with as many iterations as fit, submitted again and again. Only a `Load` makes the host wait: a
`While` therefore takes one submission for each iteration, its body followed by its condition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ingot.runtime.errors import DeviceError
from ingot.runtime.hal import Buffer, BufferRange, CommandBuffer, Device, Executable, Memory, Timing
from ingot.runtime.setup import value_of
from ingot.targets.bundle.model import (
    Barrier,
    BufferRef,
    Command,
    Copy,
    Dispatch,
    Fill,
    If,
    Load,
    Loop,
    Operand,
    Register,
    Store,
    While,
    loaded_registers,
    walk,
)

MOST_UNROLLED: Final = 2048
"""Commands of one command buffer that a loop may fill."""
_MOST_IN_ALL: Final = 1 << 16
"""Commands that all loops of a function may fill; those behind fill `_FEWEST` each."""
_FEWEST: Final = 64
_GUESS: Final = 16
"""Iterations that are recorded together where the count is not known yet."""


@dataclass(frozen=True)
class Submit:
    """Run a command buffer."""

    commands: CommandBuffer


@dataclass(frozen=True)
class Read:
    """Wait, then read a number of `size` bytes."""

    target: Register
    buffer: Buffer
    offset: int
    size: int


@dataclass(frozen=True)
class Repeat:
    """Run `batch`, which is `iterations` iterations, as often as it fits, then `single`."""

    count: Operand
    iterations: int
    batch: Sequence[Step]
    single: Sequence[Step]


@dataclass(frozen=True)
class Branch:
    """Run one of two lists."""

    condition: Operand
    then: Sequence[Step]
    otherwise: Sequence[Step]


@dataclass(frozen=True)
class Again:
    """Run `steps` as long as `proceed` is not 0."""

    proceed: Operand
    steps: Sequence[Step]


Step = Submit | Read | Repeat | Branch | Again


class Recorder:
    """Turns commands into steps."""

    def __init__(
        self,
        device: Device,
        executable: Executable,
        resolve: Callable[[BufferRef], BufferRange],
        registers: Sequence[int],
        profiling: bool,
    ) -> None:
        """`registers` are as the function's setup leaves them."""
        self._device = device
        self._executable = executable
        self._resolve = resolve
        self._registers = registers
        self._profiling = profiling
        self._open: CommandBuffer | None = None
        self._loaded: frozenset[int] = frozenset()
        self._steps: list[Step] = []
        self._left = _MOST_IN_ALL

    def record(
        self,
        commands: Sequence[Command],
        before: Sequence[tuple[Buffer, Buffer]] = (),
        after: Sequence[tuple[Buffer, Buffer]] = (),
    ) -> list[Step]:
        """The steps of a whole function, between copies of whole buffers."""
        self._loaded = loaded_registers(commands)
        self._copy_all(before)
        if before:
            self._buffer().barrier()
        self._list(commands)
        if after:
            self._buffer().barrier()
        self._copy_all(after)
        self._buffer()
        self._close()
        return self._steps

    def _copy_all(self, pairs: Sequence[tuple[Buffer, Buffer]]) -> None:
        for source, target in pairs:
            self._buffer().copy(source.whole, target.whole)

    def _buffer(self) -> CommandBuffer:
        """The command buffer that is being recorded."""
        if self._open is None:
            self._open = self._device.create_command_buffer(self._profiling)
            self._open.begin()
        return self._open

    def _close(self) -> None:
        """End the command buffer, if one is being recorded; the next step waits for it."""
        if self._open is not None:
            self._open.end()
            self._steps.append(Submit(self._open))
            self._open = None

    def _barrier(self) -> None:
        """What control flow implies; submissions are ordered anyway."""
        if self._open is not None:
            self._open.barrier()

    def _list(self, commands: Sequence[Command]) -> None:
        for command in commands:
            self._command(command)

    def _nested(self, *lists: Sequence[Command]) -> list[Step]:
        """The steps of lists that run by themselves, one after the other."""
        outer, self._steps = self._steps, []
        for commands in lists:
            self._barrier()
            self._list(commands)
        self._close()
        inner, self._steps = self._steps, outer
        return inner

    def _command(self, command: Command) -> None:
        match command:
            case Dispatch():
                x, y, z = map(self._value, command.groups)
                self._buffer().dispatch(
                    self._executable.pipelines[command.kernel],
                    (x, y, z),
                    [self._resolve(ref) for ref in command.bindings],
                    command.push_constants,
                )
            case Fill():
                self._buffer().fill(self._resolve(command.target), command.pattern)
            case Copy():
                self._buffer().copy(self._resolve(command.source), self._resolve(command.target))
            case Barrier():
                self._buffer().barrier()
            case Store():
                word = (self._value(command.value) & 0xFFFFFFFF).to_bytes(4, "little")
                self._buffer().fill(self._resolve(command.target), word)
            case Load():
                self._load(command)
            case Loop():
                self._loop(command)
            case While():
                self._while(command)
            case If():
                self._if(command)

    def _value(self, operand: Operand) -> int:
        return value_of(operand, self._registers)

    def _is_known(self, operand: Operand) -> bool:
        return not (isinstance(operand, Register) and operand.index in self._loaded)

    def _load(self, command: Load) -> None:
        source = self._resolve(command.source)
        if not self._device.unified_memory:
            self._barrier()
            staging = self._device.allocate(source.length, Memory.HOST)
            self._buffer().copy(source, BufferRange(staging, 0, source.length))
            source = BufferRange(staging, 0, source.length)
        self._close()
        self._steps.append(Read(command.target, source.buffer, source.offset, source.length))

    def _if(self, command: If) -> None:
        if self._is_known(command.condition):
            self._barrier()
            self._list(command.then if self._value(command.condition) else command.otherwise)
            self._barrier()
            return
        self._close()
        then, otherwise = self._nested(command.then), self._nested(command.otherwise)
        self._steps.append(Branch(command.condition, then, otherwise))

    def _while(self, command: While) -> None:
        """The condition, and again behind the body, where both are one submission.

        A condition that has a while loop itself is recorded once: copies within copies would grow
        without bounds.
        """
        if any(isinstance(inner, While) for inner in walk(command.condition)):
            self._close()
            condition = self._nested(command.condition)
            self._steps.extend(condition)
            steps = [*self._nested(command.body), *condition]
        else:
            self._barrier()
            self._list(command.condition)
            self._close()
            steps = self._nested(command.body, command.condition)
        self._steps.append(Again(command.proceed, steps))

    def _loop(self, command: Loop) -> None:
        cost = self._cost(command.body)
        most = max(_FEWEST, min(MOST_UNROLLED, self._left))
        known = self._is_known(command.count)
        count = max(0, self._value(command.count)) if known else _GUESS
        if cost is not None and known and count * cost <= most:
            self._left -= count * cost
            for _ in range(count):
                self._barrier()
                self._list(command.body)
            self._barrier()
            return
        self._close()
        batch = 1 if cost is None else max(1, min(count, most // cost))
        self._left -= batch * (cost or 0)
        repeated = self._nested(*[command.body] * batch)
        rest = count % batch if known else 1
        single: Sequence[Step] = ()
        if batch > 1 and rest:
            single = self._nested(*[command.body] * rest)
        if known:
            # What is left over is one step, run once.
            self._steps.append(Repeat(count // batch * batch, batch, repeated, ()))
            self._steps.extend(single)
        else:
            self._steps.append(Repeat(command.count, batch, repeated, single))

    def _cost(self, commands: Sequence[Command]) -> int | None:
        """How many commands a list records, at least 1; None where the host has to decide."""
        total = 1
        for command in commands:
            match command:
                case Loop():
                    inner = self._cost(command.body)
                    if inner is None or not self._is_known(command.count):
                        return None
                    total += inner * max(0, self._value(command.count))
                case If():
                    if not self._is_known(command.condition):
                        return None
                    taken = self._value(command.condition)
                    inner = self._cost(command.then if taken else command.otherwise)
                    if inner is None:
                        return None
                    total += inner
                case While() | Load():
                    return None
                case _:
                    total += 1
        return total


class Execution:
    """Runs steps, each submission after the one before."""

    def __init__(self, device: Device, registers: Sequence[int], profiling: bool) -> None:
        self._device: Final = device
        self._initial: Final = registers
        self._profiling: Final = profiling
        self._registers: list[int] = []
        self._done = device.create_semaphore()
        self._count = 0
        self._is_running = False
        self.timings: list[Timing] = []
        """When each command of the last run ran, with `profiling`."""

    def run(self, steps: Sequence[Step]) -> None:
        """Run all steps and wait; raises `DeviceError`."""
        self._registers = list(self._initial)
        self.timings = []
        self._run(steps)
        self.finish()

    def finish(self) -> None:
        """Wait for the last submission, if one is still running."""
        if not self._is_running:
            return
        try:
            self._done.wait(self._count)
        except DeviceError:
            self._forget()
            raise
        self._is_running = False

    def _run(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Submit():
                    self._submit(step.commands)
                case Read():
                    self.finish()
                    number = step.buffer.read(step.offset, step.size)
                    self._registers[step.target.index] = int.from_bytes(number, "little")
                case Repeat():
                    batches, rest = divmod(max(0, self._value(step.count)), step.iterations)
                    for _ in range(batches):
                        self._run(step.batch)
                    for _ in range(rest):
                        self._run(step.single)
                case Branch():
                    self._run(step.then if self._value(step.condition) else step.otherwise)
                case Again():
                    while self._value(step.proceed):
                        self._run(step.steps)

    def _value(self, operand: Operand) -> int:
        return value_of(operand, self._registers)

    def _submit(self, commands: CommandBuffer) -> None:
        wait = [(self._done, self._count)] if self._is_running else []
        self._count += 1
        self._is_running = True
        try:
            self._device.queue.submit([commands], wait, [(self._done, self._count)])
        except DeviceError:
            self._forget()
            raise
        if self._profiling:
            self.finish()
            self.timings.extend(commands.timings())

    def _forget(self) -> None:
        """A failed semaphore stays failed; the next call starts with a new one."""
        self._done, self._count, self._is_running = self._device.create_semaphore(), 0, False
