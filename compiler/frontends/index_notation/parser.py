"""Index notation to its syntax tree.

    program     = { declaration | statement }, one to a line or after `;`
    declaration = "@base" (0 | 1) | "@order" ("fixed" | "free")
                | ("@return" | "@nograd") name {"," name}
                | ("@arg" | "@out") array {"," array}
    array       = name ":" type [ "[" [ size {"," size} ] "]" ]
    statement   = [ "(" reducer ")" ] target operator [ finisher "<|" ] value
                  ranges { "|>" finisher } ranges
    ranges      = { [","] "(" range {"," range} ")" }
    range       = index "in" low ":" high

Lines go on inside brackets and after an operator. A number in front of a name or a parenthesis
multiplies it, before `*` and `/` do: `1/2x` is `1/(2*x)`.
"""

from __future__ import annotations

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.frontends.index_notation.lexer import Token, tokens
from ingot.compiler.frontends.index_notation.syntax import (
    Access,
    Blank,
    Call,
    Declaration,
    Expression,
    Name,
    Number,
    Program,
    Range,
    Statement,
    substitute_blank,
    walk,
)

REDUCERS = ("+", "*", "max", "min", "&", "|")
"""What may stand in parentheses before a statement."""

UPDATES: dict[str, str] = {
    "+=": "+",
    "*=": "*",
    "max=": "max",
    "min=": "min",
    "&=": "&",
    "|=": "|",
}
"""Operators that combine with what the target holds, and the reducer that they imply."""

_MOST = 1 << 31
"""Sizes and ends of ranges are below it: no device has as many elements of a dimension."""

_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("+", "-", "|"),
    ("*", "/", "÷", "%", "&"),
)
"""Binary operators from the loosest to the tightest; all of them group to the left."""

_CONTINUES = {op for level in _LEVELS for op in level} | {
    ":=", "=", *UPDATES, "|>", "<|", "?", ":", ",", "^",
}  # fmt: skip


def parse_program(
    text: str,
    filename: str,
    arguments: tuple[Declaration, ...] = (),
    base: int = 1,
    reorder: bool = True,
) -> Program:
    """The program in `text`, with `arguments` before those that it declares itself.

    Raises `Refusal` with the place of the first mistake.
    """
    parser = _Parser(_joined(tokens(text, filename)), base, reorder)
    return parser.program(arguments)


def parse_declaration(text: str, filename: str, line: int = 1) -> Declaration:
    """One array, as in `A: f32[3, 40]`, on this line of what it is from; raises `Refusal`."""
    parser = _Parser(_joined(tokens("\n" * (line - 1) + text, filename)), 1, True)
    while parser.token.kind == "newline":
        parser.skip()
    declaration = parser.array()
    if parser.token.kind != "end":
        raise parser.unexpected("the end of the declaration")
    return declaration


def _joined(found: list[Token]) -> list[Token]:
    """Without the newlines that end no line."""
    kept: list[Token] = []
    depth = 0
    for token in found:
        if token.text in ("(", "["):
            depth += 1
        elif token.text in (")", "]"):
            depth = max(0, depth - 1)
        if token.kind == "newline" and (depth or (kept and kept[-1].text in _CONTINUES)):
            continue
        kept.append(token)
    return kept


class _Parser:
    def __init__(self, found: list[Token], base: int, reorder: bool) -> None:
        self._tokens = found
        self._position = 0
        self._base = base
        self._reorder = reorder

    @property
    def token(self) -> Token:
        return self._tokens[self._position]

    def _ahead(self, count: int) -> str:
        return self._tokens[min(self._position + count, len(self._tokens) - 1)].text

    def _next(self) -> Token:
        token = self.token
        if token.kind != "end":
            self._position += 1
        return token

    def skip(self) -> None:
        """Leave the token out."""
        self._next()

    def _take(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != "end":
            self._position += 1
            return True
        return False

    def _expect(self, text: str) -> Token:
        if self.token.text != text:
            raise self.unexpected(f"`{text}`")
        return self._next()

    def unexpected(self, wanted: str) -> Refusal:
        """What to raise where `wanted` should be."""
        found = {"end": "the end of the text", "newline": "the end of the line"}.get(
            self.token.kind, f"`{self.token.text}`"
        )
        return Refusal(f"expected {wanted}, found {found}", self.token.place.location)

    def _name(self, what: str) -> Token:
        if self.token.kind != "name":
            raise self.unexpected(what)
        return self._next()

    def _integer(self, what: str) -> int:
        negative = self._take("-")
        where = self.token.place
        if self.token.kind != "number" or not self.token.text.isdigit():
            raise self.unexpected(what)
        value = int(self._next().text)
        if value >= _MOST:
            raise Refusal(f"{value} is too large", where.location)
        return -value if negative else value

    # The program

    def program(self, arguments: tuple[Declaration, ...]) -> Program:
        declared = list(arguments)
        outputs: list[Declaration] = []
        names: dict[str, list[Name]] = {"return": [], "nograd": []}
        statements: list[Statement] = []
        while self.token.kind != "end":
            if self.token.kind == "newline":
                self._next()
                continue
            if self.token.text == "@":
                self._pragma(declared, outputs, names)
            else:
                statements.append(self._statement())
            if self.token.kind not in ("newline", "end"):
                raise self.unexpected("the end of the line")
        if not statements:
            raise Refusal("there is no statement", self.token.place.location)
        return Program(
            self._base,
            self._reorder,
            tuple(declared),
            tuple(outputs),
            tuple(names["return"]),
            tuple(names["nograd"]),
            tuple(statements),
        )

    def _pragma(
        self,
        declared: list[Declaration],
        outputs: list[Declaration],
        names: dict[str, list[Name]],
    ) -> None:
        self._expect("@")
        word = self._name("arg, out, return, nograd, base or order after `@`")
        match word.text:
            case "base":
                where = self.token.place
                self._base = self._integer("0 or 1")
                if self._base not in (0, 1):
                    raise Refusal("the base of indices is 0 or 1", where.location)
            case "order":
                choice = self._name("fixed or free")
                if choice.text not in ("fixed", "free"):
                    raise Refusal("the order is fixed or free", choice.place.location)
                self._reorder = choice.text == "free"
            case "arg" | "out":
                into = declared if word.text == "arg" else outputs
                into.append(self.array())
                while self._take(","):
                    into.append(self.array())
            case "return" | "nograd":
                names[word.text].append(self._named())
                while self._take(","):
                    names[word.text].append(self._named())
            case _:
                raise Refusal(
                    f"unknown declaration `@{word.text}`",
                    word.place.location,
                    "write @arg, @out, @return, @nograd, @base or @order",
                )

    def _named(self) -> Name:
        token = self._name("the name of an array")
        return Name(token.place, token.text)

    def array(self) -> Declaration:
        """`A: f32[3, 40]`."""
        name = self._name("the name of an array")
        self._expect(":")
        element = self._name("an element type, as in `A: f32[3, 40]`")
        shape: list[int] = []
        if self._take("[") and not self._take("]"):
            shape.append(self._size())
            while self._take(","):
                shape.append(self._size())
            self._expect("]")
        return Declaration(name.place, name.text, element.text, tuple(shape))

    def _size(self) -> int:
        where = self.token.place
        size = self._integer("a size")
        if size < 0:
            raise Refusal("a size is not negative", where.location)
        return size

    # Statements

    def _statement(self) -> Statement:
        place = self.token.place
        reducer = None
        if self.token.text == "(" and self._ahead(1) in REDUCERS and self._ahead(2) == ")":
            self._next()
            reducer = self._next().text
            self._next()
        target = self._target()
        operator = self.token
        if operator.text not in (":=", "=", *UPDATES):
            raise self.unexpected("`:=`, `=`, `+=`, `*=` or another assignment")
        self._next()
        value = self._ternary()
        finisher: Expression | None = None
        if self._take("<|"):
            finisher, value = self._finisher(value), self._ternary()
        ranges = self._ranges()
        while self._take("|>"):
            step = self._finisher(self._ternary())
            finisher = step if finisher is None else substitute_blank(step, finisher)
        ranges += self._ranges()
        return Statement(place, reducer, target, operator.text, value, finisher, ranges)

    def _target(self) -> Access:
        name = self._name("a statement, as in `C[i] := A[i]`")
        indices: tuple[Expression, ...] = ()
        if self._take("["):
            indices = self._list("]")
        return Access(name.place, name.text, indices)

    def _finisher(self, written: Expression) -> Expression:
        """`sqrt` alone is `sqrt(_)`."""
        if isinstance(written, Name):
            return Call(written.place, written.name, (Blank(written.place),))
        if not any(isinstance(part, Blank) for part in walk(written)):
            raise Refusal(
                "a finisher is a function or an expression of `_`",
                written.place.location,
                "as in `|> sqrt` or `|> _ / 2`",
            )
        return written

    def _ranges(self) -> tuple[Range, ...]:
        found: list[Range] = []
        while self.token.text in (",", "("):
            self._take(",")
            self._expect("(")
            found.append(self._range())
            while self._take(","):
                found.append(self._range())
            self._expect(")")
        return tuple(found)

    def _range(self) -> Range:
        name = self._name("a range, as in `(i in 1:10)`")
        if self.token.text not in ("in", "="):
            raise self.unexpected("`in`")
        self._next()
        low = self._integer("the first index of the range")
        self._expect(":")
        high = self._integer("the last index of the range")
        return Range(name.place, name.text, low, high)

    # Expressions

    def _ternary(self) -> Expression:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        first = self._ternary()
        self._expect(":")
        return Call(condition.place, "?:", (condition, first, self._ternary()))

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.token.kind == "symbol" and self.token.text in _LEVELS[level]:
            operator = self._next()
            left = Call(operator.place, operator.text, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> Expression:
        token = self.token
        if token.kind == "symbol" and token.text in ("-", "+", "!"):
            self._next()
            operand = self._unary()
            if token.text == "+":
                return operand
            if token.text == "-" and isinstance(operand, Number):
                return Number(token.place, -operand.value)
            return Call(token.place, {"-": "neg", "!": "!"}[token.text], (operand,))
        return self._coefficient()

    def _coefficient(self) -> Expression:
        """A number that is written against a name or a parenthesis multiplies it."""
        number = self.token
        factor = self._power()
        after = self.token
        if (
            number.kind == "number"
            and isinstance(factor, Number)
            and after.glued
            and (after.kind == "name" or after.text == "(")
        ):
            return Call(number.place, "*", (factor, self._power()))
        return factor

    def _power(self) -> Expression:
        root = self.token
        if root.text == "√":
            self._next()
            return Call(root.place, "sqrt", (self._power(),))
        base = self._primary()
        operator = self.token
        if self._take("^"):
            return Call(operator.place, "^", (base, self._exponent()))
        return base

    def _exponent(self) -> Expression:
        """Powers group to the right, and an exponent may have a sign: `2^-i`."""
        token = self.token
        if self._take("-"):
            operand = self._exponent()
            if isinstance(operand, Number):
                return Number(token.place, -operand.value)
            return Call(token.place, "neg", (operand,))
        return self._coefficient()

    def _primary(self) -> Expression:
        token = self.token
        if token.kind == "number":
            self._next()
            whole = token.text.isdigit()
            return Number(token.place, int(token.text) if whole else float(token.text))
        if self._take("("):
            inner = self._ternary()
            self._expect(")")
            return inner
        if token.kind != "name":
            raise self.unexpected("an expression")
        self._next()
        if token.text == "_":
            return Blank(token.place)
        if self.token.glued and self._take("["):
            return Access(token.place, token.text, self._list("]"))
        if self.token.glued and self._take("("):
            return Call(token.place, token.text, self._list(")"))
        return Name(token.place, token.text)

    def _list(self, end: str) -> tuple[Expression, ...]:
        found: list[Expression] = []
        if self._take(end):
            return ()
        found.append(self._ternary())
        while self._take(","):
            found.append(self._ternary())
        self._expect(end)
        return tuple(found)
