"""What a function computes on the host before a call: sizes, from the shapes of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingot.runtime.dtypes import spell
from ingot.runtime.errors import ArgumentError
from ingot.targets.bundle.model import (
    Check,
    Compute,
    Function,
    FunctionBody,
    Operand,
    Operation,
    Register,
    Size,
    TensorType,
)

_OPERATIONS: dict[Operation, Callable[[int, int], int]] = {
    Operation.ADD: lambda a, b: a + b,
    Operation.SUBTRACT: lambda a, b: a - b,
    Operation.MULTIPLY: lambda a, b: a * b,
    Operation.DIVIDE: lambda a, b: a // b if b else 0,
    Operation.REMAINDER: lambda a, b: a % b if b else 0,
    Operation.MINIMUM: min,
    Operation.MAXIMUM: max,
    Operation.EQUAL: lambda a, b: int(a == b),
    Operation.LESS: lambda a, b: int(a < b),
}


@dataclass(frozen=True)
class CallShapes:
    """What the sizes of one call's arguments decide."""

    registers: tuple[int, ...]
    arguments: tuple[TensorType, ...]
    results: tuple[TensorType, ...]
    """Types without open sizes."""
    transient: int
    """Bytes of the arena."""


def value_of(operand: Operand, registers: Sequence[int]) -> int:
    """The number that an operand stands for."""
    return registers[operand.index] if isinstance(operand, Register) else operand


def call_shapes(
    function: Function, body: FunctionBody, shapes: Sequence[tuple[int, ...]]
) -> CallShapes:
    """Run the setup of `body` for arguments of `shapes`.

    Raises `ArgumentError` where a check of the program fails.
    """
    arguments = tuple(map(_with_shape, function.arguments, shapes))
    registers = [0] * body.registers
    for command in body.setup:
        match command:
            case Size():
                registers[command.target.index] = shapes[command.argument][command.dimension]
            case Compute():
                lhs, rhs = (value_of(o, registers) for o in (command.lhs, command.rhs))
                registers[command.target.index] = _wrap(_OPERATIONS[command.operation](lhs, rhs))
            case Check():
                if not value_of(command.condition, registers):
                    given = ", ".join(map(spell, arguments))
                    raise ArgumentError(
                        f"function '{function.name}': {command.message} (it was given {given})"
                    )
    sizes = iter([value_of(size, registers) for size in body.result_sizes])
    results = tuple(_completed(tensor, sizes) for tensor in function.results)
    for position, tensor in enumerate(results):
        if not tensor.is_static:
            raise ArgumentError(
                f"function '{function.name}': result {position} would have the shape "
                f"{'x'.join(map(str, tensor.shape))}"
            )
    transient = value_of(body.transient, registers) or body.transient_size
    return CallShapes(tuple(registers), arguments, results, transient)


def _wrap(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _with_shape(tensor: TensorType, shape: tuple[int, ...]) -> TensorType:
    return replace(tensor, shape=shape)


def _completed(tensor: TensorType, sizes: Iterator[int]) -> TensorType:
    return replace(tensor, shape=tuple(s if s >= 0 else next(sizes) for s in tensor.shape))
