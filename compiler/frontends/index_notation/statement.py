"""What one statement asks for, checked: its indices and their ranges, its target, its reducer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.frontends.index_notation.affine import Affine, affine
from ingot.compiler.frontends.index_notation.parser import UPDATES
from ingot.compiler.frontends.index_notation.ranges import Bound, infer_ranges
from ingot.compiler.frontends.index_notation.scalars import Array, Scope, wrapper_of
from ingot.compiler.frontends.index_notation.syntax import (
    Access,
    Blank,
    Call,
    Declaration,
    Expression,
    Name,
    Number,
    Place,
    Statement,
    walk,
)
from ingot.compiler.frontends.index_notation.types import (
    ELEMENT_TYPES,
    concrete,
    is_float,
    number_of,
)


@dataclass(frozen=True)
class TargetDimension:
    """One index of the target: affine where it can be, with the shift of `+_` worked in."""

    written: Expression
    affine: Affine | None

    @property
    def inner(self) -> Expression:
        """The index without `+_`."""
        if _is_shifted(self.written) and isinstance(self.written, Call):
            return self.written.operands[0]
        return self.written


@dataclass(frozen=True)
class Checked:
    """A statement and what its names mean."""

    statement: Statement
    scope: Scope
    left: tuple[str, ...]
    """The indices of the target, in order: parallel loops."""
    summed: tuple[str, ...]
    """The others: reduced."""
    reducer: str
    dimensions: tuple[TargetDimension, ...]
    shape: tuple[int, ...]
    """Of the target."""
    element: Attribute
    """Of the target."""
    base: int
    """What the first element of an array is called."""

    @property
    def is_new(self) -> bool:
        """Whether the target begins here."""
        return self.statement.operator == ":="

    def extent(self, index: str) -> int:
        """How many values an index has."""
        low, high = self.scope.ranges[index]
        return high - low + 1


def check_statement(
    statement: Statement,
    arrays: Mapping[str, Array],
    base: int,
    declared: Declaration | None,
) -> Checked:
    """The statement with its ranges and types; raises `Refusal` for whatever is wrong with it.

    `declared` is the `@out` of a new target.
    """
    scope = Scope(arrays)
    parts = [statement.value, *([statement.finisher] if statement.finisher else [])]
    target = statement.target
    reducer = _reducer(statement)
    left = _indices(target.indices, scope)
    everything = left | {k: v for k, v in _indices(parts, scope).items() if k not in left}
    if statement.finisher is not None:
        for name, place in _indices([statement.finisher], scope).items():
            if name not in left:
                raise Refusal(f"{name} is reduced before the finisher", place.location)
    bounds = [
        bound
        for part in (*parts, *target.indices)
        for inner in walk(part)
        for bound in (_bounds(inner, scope) if isinstance(inner, Access | Name) else ())
    ]
    known = _target_array(statement, arrays, declared, base)
    dimensions = [_dimension(written, scope) for written in target.indices]
    if known is not None:
        shape, firsts = known
        if len(shape) != len(dimensions):
            raise Refusal(
                f"{target.array} has {_dimensions(len(shape))}, not {len(dimensions)}",
                target.place.location,
            )
        for position, (dimension, size) in enumerate(zip(dimensions, shape, strict=True)):
            if dimension.affine is not None and not _is_shifted(dimension.written):
                what = f"dimension {position + 1} of {target.array}"
                first = firsts[position]
                place = dimension.written.place
                bounds.append(Bound(place, what, dimension.affine, first, first + size - 1))
    ranges = infer_ranges(everything, bounds, statement.ranges)
    scope = Scope(arrays, ranges)
    dimensions = [_shifted(dimension, scope, base) for dimension in dimensions]
    if known is None:
        shape = tuple(_size(d, target.array, scope, base) for d in dimensions)
    else:
        shape = known[0]
    summed = tuple(name for name in everything if name not in left)
    element = _element(statement, scope, arrays, declared, bool(summed), reducer)
    checked = Checked(
        statement, scope, tuple(left), summed, reducer, tuple(dimensions), shape, element, base
    )
    return checked


def _reducer(statement: Statement) -> str:
    implied = UPDATES.get(statement.operator)
    if statement.reducer and implied and statement.reducer != implied:
        raise Refusal(
            f"`{statement.operator}` combines by {implied}, not by {statement.reducer}",
            statement.place.location,
        )
    return statement.reducer or implied or "+"


def _indices(parts: list[Expression] | tuple[Expression, ...], scope: Scope) -> dict[str, Place]:
    """The indices in the order in which they are met, each with its first place."""
    found: dict[str, Place] = {}
    for part in parts:
        for inner in walk(part):
            if isinstance(inner, Name) and scope.is_index(inner.name):
                found.setdefault(inner.name, inner.place)
    return found


def _bounds(access: Access | Name, scope: Scope) -> list[Bound]:
    """Where the indices of an access must lie."""
    if isinstance(access, Name):
        array = scope.arrays.get(access.name)
        if array is not None and array.shape:
            raise Refusal(
                f"{access.name} has {_dimensions(len(array.shape))}",
                access.place.location,
                f"index it: {access.name}[i]",
            )
        return []
    array = scope.arrays.get(access.array)
    if array is None:
        raise Refusal(
            f"there is no array {access.array}",
            access.place.location,
            f"declare it: @arg {access.array}: f32[10], or --arg {access.array}:f32[10]",
        )
    if len(access.indices) != len(array.shape):
        raise Refusal(
            f"{access.array} has {_dimensions(len(array.shape))}, not {len(access.indices)}",
            access.place.location,
        )
    found: list[Bound] = []
    for position, written in enumerate(access.indices):
        what = f"dimension {position + 1} of {access.array}"
        first, size = array.firsts[position], array.shape[position]
        wrapper = wrapper_of(written)
        inner = written.operands[0] if wrapper and isinstance(written, Call) else written
        if wrapper in ("mod", "clamp") and size == 0:
            raise Refusal(
                f"{what} is empty, and {wrapper} finds no element", written.place.location
            )
        expression = affine(inner, scope.is_index)
        if expression is None:
            if is_float(scope.type_of(inner)):
                raise Refusal("an index is an integer", inner.place.location)
            continue
        before, after = _padding(written) if wrapper == "pad" else (0, 0)
        if wrapper in (None, "pad"):
            low, high = first - before, first + size - 1 + after
            found.append(Bound(written.place, what, expression, low, high))
    return found


def _padding(written: Expression) -> tuple[int, int]:
    """`pad(i, 2)` goes 2 past both ends, `pad(i, 2, 3)` 2 before and 3 after, `pad(i)` is refused
    a range of its own."""
    assert isinstance(written, Call)
    amounts: list[int] = []
    for operand in written.operands[1:]:
        if (
            not isinstance(operand, Number)
            or not isinstance(operand.value, int)
            or operand.value < 0
        ):
            raise Refusal("the padding of an index is a number", operand.place.location)
        amounts.append(operand.value)
    if not amounts:
        raise Refusal(
            "pad needs how far the index goes past the ends",
            written.place.location,
            "write pad(i, 2)",
        )
    return amounts[0], amounts[-1]


def _target_array(
    statement: Statement,
    arrays: Mapping[str, Array],
    declared: Declaration | None,
    base: int,
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Shape and first indices of the target where they are known before the statement."""
    name = statement.target.array
    if statement.operator == ":=":
        if declared is None:
            return None
        return declared.shape, (base,) * len(declared.shape)
    if name not in arrays:
        raise Refusal(
            f"there is no array {name} to write to",
            statement.target.place.location,
            f"write `:=` to make it, or declare it: @arg {name}: f32[10]",
        )
    return arrays[name].shape, arrays[name].firsts


def _is_shifted(written: Expression) -> bool:
    return (
        isinstance(written, Call)
        and written.function == "+"
        and isinstance(written.operands[1], Blank)
    )


def _dimension(written: Expression, scope: Scope) -> TargetDimension:
    for inner in walk(written):
        if isinstance(inner, Access) and inner.array not in scope.arrays:
            _bounds(inner, scope)
    inner = written.operands[0] if _is_shifted(written) and isinstance(written, Call) else written
    expression = affine(inner, scope.is_index)
    if expression is None and is_float(scope.type_of(inner)):
        raise Refusal("an index is an integer", inner.place.location)
    return TargetDimension(written, expression)


def _shifted(dimension: TargetDimension, scope: Scope, base: int) -> TargetDimension:
    """`i+_` as the sum that begins at the base."""
    if not _is_shifted(dimension.written):
        return dimension
    if dimension.affine is None:
        raise Refusal("`_` shifts sums of indices", dimension.written.place.location)
    low, _ = dimension.affine.bounds(scope.ranges)
    moved = replace(dimension.affine, constant=dimension.affine.constant + base - low)
    return TargetDimension(dimension.written, moved)


def _size(dimension: TargetDimension, name: str, scope: Scope, base: int) -> int:
    """The size of a dimension of a new array."""
    place = dimension.written.place
    if dimension.affine is None:
        raise Refusal(
            f"the size of {name} does not follow from computed indices",
            place.location,
            f"declare it: @out {name}: f32[10]",
        )
    low, high = dimension.affine.bounds(scope.ranges)
    if low != base:
        raise Refusal(
            f"the first index of {name} here is {low}, and arrays begin at {base}",
            place.location,
            "shift it: write `+_` behind the index",
        )
    return max(high - base + 1, 0)


def _element(
    statement: Statement,
    scope: Scope,
    arrays: Mapping[str, Array],
    declared: Declaration | None,
    reduces: bool,
    reducer: str,
) -> Attribute:
    """The element type of the target, which must hold the value."""
    value = scope.type_of(statement.value)
    if reduces and reducer not in ("&", "|"):
        value = number_of(value)
    if reducer in ("&", "|") and is_float(value):
        raise Refusal(f"`{reducer}` combines booleans or integers", statement.value.place.location)
    if statement.finisher is not None:
        value = replace(scope, blank=value).type_of(statement.finisher)
    if statement.operator != ":=":
        element = arrays[statement.target.array].element
    elif declared is not None:
        element = element_type(declared)
    else:
        return concrete(value)
    if is_float(value) and not is_float(element):
        raise Refusal(
            f"the value is a float, and {statement.target.array} holds integers",
            statement.value.place.location,
            f"compare it, or make {statement.target.array} an array of floats",
        )
    if element == i1 and value != i1:
        raise Refusal(
            f"the value is no condition, and {statement.target.array} holds booleans",
            statement.value.place.location,
            "write `!= 0`",
        )
    return element


def element_type(declaration: Declaration) -> Attribute:
    """The element type that a declaration names; raises `Refusal`."""
    if (element := ELEMENT_TYPES.get(declaration.element)) is None:
        raise Refusal(
            f"there is no element type {declaration.element}",
            declaration.place.location,
            f"there are {', '.join(ELEMENT_TYPES)}",
        )
    return element


def _dimensions(count: int) -> str:
    return {0: "no dimensions", 1: "1 dimension"}.get(count, f"{count} dimensions")
