"""What an MSL text says about its kernels: parameters, attributes, threadgroup memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingot.runtime.devices.host.tokens import Token, matching_brackets, tokenize

_INDEXED = re.compile(r"(buffer|threadgroup|texture|sampler|id)\s*\(\s*(\w+)\s*\)\Z")


@dataclass(frozen=True, slots=True)
class Attribute:
    """`[[text]]`, from token `first` to token `last` (both brackets included)."""

    text: str
    first: int
    last: int

    @property
    def indexed(self) -> tuple[str, str] | None:
        """(`buffer`, `3`) for `buffer(3)`; None for attributes without an index."""
        match = _INDEXED.match(self.text)
        return (match.group(1), match.group(2)) if match else None


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel."""

    type: str
    """As written, without the name and the attributes: `const device A &`."""
    name: str
    attributes: tuple[Attribute, ...]
    token: Token
    """The token of the name."""
    buffer: int | None = None
    """Index of a buffer argument."""
    threadgroup: int | None = None
    """Index of a threadgroup memory argument."""
    builtin: str | None = None
    """Name of the attribute that gives an id: `thread_position_in_grid`."""

    @property
    def is_reference(self) -> bool:
        """Whether the parameter is a pointer or a reference to memory."""
        return self.type.endswith(("*", "&", "restrict"))


@dataclass(frozen=True)
class KernelSignature:
    """A kernel function; `body` is the token range between its braces."""

    name: str
    return_type: str
    parameters: tuple[Parameter, ...]
    token: Token
    body: tuple[int, int]


@dataclass(frozen=True)
class ThreadgroupVariable:
    """One declarator of a `threadgroup` variable inside a function."""

    name: str
    base: str
    """The type as written: `float`, `spvUnsafeArray<float, 4>`."""
    dimensions: str
    """`[4][8]`, or nothing."""
    token: Token


@dataclass(frozen=True)
class ThreadgroupDeclaration:
    """A declaration statement of threadgroup variables, from token `first` to its semicolon."""

    variables: tuple[ThreadgroupVariable, ...]
    first: int
    last: int


@dataclass
class Reflection:
    """The tokens of an MSL file and what was found in them."""

    source: str
    tokens: list[Token]
    brackets: dict[int, int]
    attributes: list[Attribute] = field(default_factory=list[Attribute])
    kernels: list[KernelSignature] = field(default_factory=list[KernelSignature])
    declarations: list[ThreadgroupDeclaration] = field(default_factory=list[ThreadgroupDeclaration])

    def slice(self, first: int, last: int) -> str:
        """The source from token `first` up to, not including, token `last`."""
        if first >= last:
            return ""
        return self.source[self.tokens[first].start : self.tokens[last - 1].end]

    def kernel(self, name: str) -> KernelSignature | None:
        """The kernel of that name."""
        return next((k for k in self.kernels if k.name == name), None)

    @property
    def threadgroup_variables(self) -> list[ThreadgroupVariable]:
        """All threadgroup variables, in the order of the text."""
        return [v for d in self.declarations for v in d.variables]


def reflect(source: str) -> Reflection:
    """Find attributes, kernels and threadgroup variables in MSL text; never fails."""
    tokens = tokenize(source)
    found = Reflection(source, tokens, matching_brackets(tokens))
    found.attributes = list(_attributes(found))
    found.kernels = list(_kernels(found))
    found.declarations = list(_threadgroup_declarations(found))
    return found


def program_scope_functions(found: Reflection) -> set[str]:
    """Names of the functions that the text declares outside of classes."""
    tokens, names = found.tokens, set[str]()
    cursor = 0
    while cursor < len(tokens) - 1:
        text = tokens[cursor].text
        if text in ("{", "(", "[", "[[") and cursor in found.brackets:
            cursor = found.brackets[cursor]
        elif tokens[cursor].kind == "name" and tokens[cursor + 1].text == "(" and cursor:
            before = tokens[cursor - 1]
            if before.kind == "name" or before.text in (">", "*", "&", ")", "]]"):
                names.add(text)
        cursor += 1
    return names - {"__attribute__"}


def _attributes(found: Reflection) -> Iterator[Attribute]:
    for first, last in sorted(found.brackets.items()):
        if found.tokens[first].text == "[[":
            yield Attribute(found.slice(first + 1, last).strip(), first, last)


def _kernels(found: Reflection) -> Iterator[KernelSignature]:
    tokens = found.tokens
    by_first = {a.first: a for a in found.attributes}
    for index, token in enumerate(tokens):
        marked = index in by_first and by_first[index].text == "kernel"
        if index and tokens[index - 1].text == "[[":
            continue
        if not marked and not (token.kind == "name" and token.text == "kernel"):
            continue
        cursor = by_first[index].last + 1 if marked else index + 1
        words: list[int] = []
        while cursor < len(tokens) and tokens[cursor].text not in ("(", ";", "{"):
            if cursor in by_first:
                cursor = by_first[cursor].last + 1
                continue
            words.append(cursor)
            cursor += 1
        if not words or cursor not in found.brackets or tokens[cursor].text != "(":
            continue
        close = found.brackets[cursor]
        body = close + 1
        while body < len(tokens) and tokens[body].text not in ("{", ";"):
            body += 1
        if body not in found.brackets:
            continue
        yield KernelSignature(
            name=tokens[words[-1]].text,
            return_type=found.slice(words[0], words[-1]).strip(),
            parameters=_with_implicit_buffers(_parameters(found, cursor + 1, close)),
            token=tokens[words[-1]],
            body=(body + 1, found.brackets[body]),
        )


def _parameters(found: Reflection, first: int, last: int) -> list[Parameter]:
    by_first = {a.first: a for a in found.attributes}
    parameters: list[Parameter] = []
    words: list[Token] = []
    attributes: list[Attribute] = []
    depth, cursor = 0, first
    while cursor <= last:
        if cursor in by_first:
            attributes.append(by_first[cursor])
            cursor = by_first[cursor].last + 1
            continue
        token = found.tokens[cursor]
        if cursor == last or (depth == 0 and token.text == ","):
            if words:
                parameters.append(_parameter(words, attributes))
            words, attributes = [], []
        else:
            depth += token.text in ("(", "[", "{", "<")
            depth -= token.text in (")", "]", "}", ">")
            words.append(token)
        cursor += 1
    return parameters


def _parameter(words: list[Token], attributes: list[Attribute]) -> Parameter:
    buffer = threadgroup = None
    builtin = None
    for attribute in attributes:
        match attribute.indexed:
            case ("buffer", index) if index.isdigit():
                buffer = int(index)
            case ("threadgroup", index) if index.isdigit():
                threadgroup = int(index)
            case None if not attribute.text.startswith(("maybe_unused", "clang::")):
                builtin = attribute.text
            case _:
                pass
    return Parameter(
        type=" ".join(w.text for w in words[:-1]),
        name=words[-1].text,
        attributes=tuple(attributes),
        token=words[-1],
        buffer=buffer,
        threadgroup=threadgroup,
        builtin=builtin,
    )


def _with_implicit_buffers(parameters: list[Parameter]) -> tuple[Parameter, ...]:
    """Pointers and references without an attribute take the lowest free buffer index."""
    used = {p.buffer for p in parameters if p.buffer is not None}
    result: list[Parameter] = []
    for p in parameters:
        explicit = (p.buffer, p.threadgroup, p.builtin) != (None, None, None)
        if not explicit and p.is_reference:
            free = next(i for i in range(len(used) + 1) if i not in used)
            used.add(free)
            p = Parameter(p.type, p.name, p.attributes, p.token, buffer=free)
        result.append(p)
    return tuple(result)


def _threadgroup_declarations(found: Reflection) -> Iterator[ThreadgroupDeclaration]:
    """Statements `threadgroup T a[N], b;` in function bodies: no pointer, reference or initializer.

    Classes and namespaces are left out: a member or a function's return type is no variable.
    """
    tokens = found.tokens
    scopes: list[str] = []
    parentheses = 0
    for index, token in enumerate(tokens):
        text = token.text
        if text == "(":
            parentheses += 1
        elif text == ")":
            parentheses -= 1
        elif text == "{":
            scopes.append(_scope_kind(tokens, index))
        elif text == "}" and scopes:
            scopes.pop()
        elif text == "threadgroup" and not parentheses and scopes and scopes[-1] == "function":
            first = index
            if index and tokens[index - 1].text in ("const", "volatile"):
                first = index - 1
            if first and tokens[first - 1].text in ("{", "}", ";", ":", ")"):
                declaration = _declaration(found, first, index + 1)
                if declaration is not None:
                    yield declaration


def _scope_kind(tokens: list[Token], brace: int) -> str:
    """`class`, `namespace` or `function`: what the words before an opening brace say."""
    cursor = brace - 1
    while cursor >= 0 and tokens[cursor].text not in (";", "{", "}", "(", ")"):
        if tokens[cursor].text in ("struct", "class", "union"):
            return "class"
        if tokens[cursor].text == "namespace":
            return "namespace"
        cursor -= 1
    return "function"


def _declaration(found: Reflection, first: int, start: int) -> ThreadgroupDeclaration | None:
    tokens = found.tokens
    ranges: list[tuple[int, int]] = []
    angles, cursor, begin = 0, start, start
    while cursor < len(tokens):
        text = tokens[cursor].text
        if text == "<":
            angles += 1
        elif text == ">":
            angles -= 1
        elif text == "[" and cursor in found.brackets:
            cursor = found.brackets[cursor]
        elif angles <= 0:
            if text in ("*", "&", "&&", "(", ")", "{", "="):
                return None
            if text in (",", ";"):
                ranges.append((begin, cursor))
                begin = cursor + 1
                if text == ";":
                    break
        cursor += 1
    else:
        return None
    variables: list[ThreadgroupVariable] = []
    base = ""
    for begin, end in ranges:
        name = _declared_name(tokens, begin, end)
        if name < begin:
            return None
        base = base or _one_line(found.slice(begin, name))
        variables.append(
            ThreadgroupVariable(
                tokens[name].text, base, _one_line(found.slice(name + 1, end)), tokens[name]
            )
        )
    return ThreadgroupDeclaration(tuple(variables), first, cursor)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _declared_name(tokens: list[Token], begin: int, end: int) -> int:
    """Index of the declarator's name: the last word before the first `[` outside of `<...>`."""
    angles = 0
    for index in range(begin, end):
        text = tokens[index].text
        if text == "<":
            angles += 1
        elif text == ">":
            angles -= 1
        elif text == "[" and angles <= 0:
            return index - 1
    return end - 1
