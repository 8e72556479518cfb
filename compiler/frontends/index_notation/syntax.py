"""The syntax tree of index notation, with the place in the text of every node."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr


@dataclass(frozen=True)
class Place:
    """A position in the text: line and column start at 1."""

    filename: str
    line: int
    column: int

    @property
    def location(self) -> FileLineColLoc:
        """The position as the location of an op or a `Refusal`."""
        return FileLineColLoc(StringAttr(self.filename), IntAttr(self.line), IntAttr(self.column))


@dataclass(frozen=True)
class Number:
    """A literal; integers take the type of what they are combined with."""

    place: Place = field(compare=False)
    value: int | float


@dataclass(frozen=True)
class Name:
    """An index, or an array without dimensions."""

    place: Place = field(compare=False)
    name: str


@dataclass(frozen=True)
class Blank:
    """`_`: the reduced value in a finisher, the shift in `A[i+_]`."""

    place: Place = field(compare=False)


@dataclass(frozen=True)
class Access:
    """`A[i, j+1]`."""

    place: Place = field(compare=False)
    array: str
    indices: tuple[Expression, ...]


@dataclass(frozen=True)
class Call:
    """`exp(x)`; operators are calls too: `+`, `-`, `*`, `/`, `^`, `<`, `?:` and so on."""

    place: Place = field(compare=False)
    function: str
    operands: tuple[Expression, ...]


Expression = Number | Name | Blank | Access | Call


@dataclass(frozen=True)
class Range:
    """`i in low:high`, both included."""

    place: Place = field(compare=False)
    index: str
    low: int
    high: int


@dataclass(frozen=True)
class Statement:
    """`(reducer) target operator value |> finisher, (ranges)`."""

    place: Place = field(compare=False)
    reducer: str | None
    """`+`, `*`, `max`, `min`, `&` or `|` where one is written."""
    target: Access
    operator: str
    """`:=`, `=`, `+=`, `*=` or one of the other updates."""
    value: Expression
    finisher: Expression | None
    """An expression with `Blank` for the reduced value."""
    ranges: tuple[Range, ...]


@dataclass(frozen=True)
class Declaration:
    """`@arg A: f32[3, 40]` or `@out y: f32[10]`."""

    place: Place = field(compare=False)
    name: str
    element: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A file of index notation."""

    base: int
    """What the first element of a dimension is called: 0 or 1."""
    reorder: bool
    """Whether chains of contractions may be evaluated in another order."""
    arguments: tuple[Declaration, ...]
    outputs: tuple[Declaration, ...]
    returned: tuple[Name, ...]
    """Empty where no `@return` says it."""
    nograd: tuple[Name, ...]
    """Arguments that gradients leave out."""
    statements: tuple[Statement, ...]


def walk(expression: Expression) -> list[Expression]:
    """The expression and all parts of it, outer ones first."""
    found: list[Expression] = [expression]
    match expression:
        case Access(indices=parts) | Call(operands=parts):
            for part in parts:
                found += walk(part)
        case _:
            pass
    return found


def substitute_blank(expression: Expression, value: Expression) -> Expression:
    """The expression with `value` for `_`."""
    match expression:
        case Blank():
            return value
        case Call(place, function, operands):
            return Call(place, function, tuple(substitute_blank(o, value) for o in operands))
        case Access(place, array, indices):
            return Access(place, array, tuple(substitute_blank(i, value) for i in indices))
        case _:
            return expression
