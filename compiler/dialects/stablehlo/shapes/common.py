"""What the rules share: shapes, lists of dimensions and of numbers, and what regions take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Region, SSAValue

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp

Rule = Callable[["StableHLOOp"], str | None]
"""The sentence for what an op breaks, or None."""


def tensor(type_: Attribute) -> TensorType[Attribute] | None:
    """A type that is a tensor's."""
    return cast("TensorType[Attribute]", type_) if isinstance(type_, TensorType) else None


def shape(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a tensor, `DYNAMIC_INDEX` for those that are open."""
    type_ = tensor(value.type)
    assert type_ is not None
    return type_.get_shape()


def agree(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two shapes may be the same."""
    return len(left) == len(right) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(left, right, strict=True)
    )


def text(sizes: Sequence[int]) -> str:
    """A shape as types print it: `4x?`."""
    return (
        "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in sizes) or "no dimensions"
    )


def first(sentences: Iterable[str | None]) -> str | None:
    """The first rule that is broken."""
    return next((sentence for sentence in sentences if sentence is not None), None)


def different(name: str, numbers: Sequence[int], rank: int) -> str | None:
    """Different dimensions of a tensor."""
    if len(set(numbers)) < len(numbers) or not all(0 <= dim < rank for dim in numbers):
        return f"needs different {name} of 0 to {rank - 1}, but has {list(numbers)}"
    return None


def ordered(name: str, numbers: Sequence[int], rank: int) -> str | None:
    """Different dimensions of a tensor in order."""
    if list(numbers) != sorted(numbers):
        return f"needs {name} in order, but has {list(numbers)}"
    return different(name, numbers, rank)


def one_each(op: StableHLOOp, name: str, rank: int, least: int) -> str | None:
    """A number for each dimension, at least `least`; a property that is left out has them."""
    numbers = op.ints(name)
    if numbers is not None and (len(numbers) != rank or any(n < least for n in numbers)):
        return f"needs {name} of {rank} numbers of at least {least}, but has {list(numbers)}"
    return None


def result_is(op: StableHLOOp, wanted: Sequence[int], index: int = 0) -> str | None:
    """The shape of a result."""
    if not agree(shape(op.outs[index]), wanted):
        which = "its result" if len(op.outs) == 1 else f"its result {index}"
        return f"makes {text(wanted)}, but {which} is {op.outs[index].type}"
    return None


def alike(name: str, values: Sequence[SSAValue]) -> str | None:
    """Tensors of one shape."""
    for value in values[1:]:
        if not agree(shape(value), shape(values[0])):
            return f"needs {name} of one shape, but has {values[0].type} and {value.type}"
    return None


def scalars(name: str, values: Sequence[SSAValue]) -> str | None:
    """Tensors without dimensions."""
    for value in values:
        if shape(value):
            return f"needs {name} without dimensions, but has {value.type}"
    return None


def line(name: str, value: SSAValue, length: int) -> str | None:
    """A tensor of one dimension with as many elements."""
    if not agree(shape(value), [length]):
        return f"needs {name} of {length} elements, but has {value.type}"
    return None


def same_count(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether tensors of two shapes may have as many elements."""
    return DYNAMIC_INDEX in (*left, *right) or prod(left) == prod(right)


def returned(region: Region) -> Sequence[SSAValue] | str:
    """What a region of one block returns, or the sentence for one that is none."""
    last = region.blocks[0].last_op if len(region.blocks) == 1 else None
    if last is None or last.name != "stablehlo.return":
        return "needs regions of one block that ends in stablehlo.return"
    return last.operands


def takes_scalars(op: StableHLOOp, index: int, arguments: int, results: int) -> str | None:
    """What a region takes and returns: so many tensors without dimensions."""
    region = op.bodies[index]
    found = returned(region)
    if isinstance(found, str):
        return found
    for word, values, count in (
        ("takes", region.block.args, arguments),
        ("returns", found, results),
    ):
        if len(values) != count:
            return f"needs a region that {word} {count} values, but its own {word} {len(values)}"
        for value in values:
            type_ = tensor(value.type)
            if type_ is None or type_.get_shape():
                return f"needs a region that {word} tensors without dimensions, not {value.type}"
    return None
