"""Rules of MSL that are checked on tokens, because clang's C++ for OpenCL has no such rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingot.runtime.devices.host.entry import BUILTINS, POSITION_BUILTINS
from ingot.runtime.devices.host.reflection import KernelSignature, Parameter, Reflection
from ingot.runtime.devices.host.rewrite import ADDRESS_SPACES
from ingot.runtime.devices.host.tokens import Token, line_and_column

MAX_BUFFERS = 31
"""Buffer and threadgroup arguments have indices below this."""


@dataclass(frozen=True)
class Diagnostic:
    """One error; line and column count from 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: error: {self.message}"


_FORBIDDEN = {
    "double": "MSL has no type 'double'",
    "virtual": "MSL has no virtual functions",
    "dynamic_cast": "MSL has no 'dynamic_cast'",
    "typeid": "MSL has no 'typeid'",
    "new": "MSL has no 'new'",
    "delete": "MSL has no 'delete'",
    "goto": "MSL has no 'goto'",
    "thread_local": "MSL has no 'thread_local'",
    "try": "MSL has no exceptions",
    "catch": "MSL has no exceptions",
    "throw": "MSL has no exceptions",
    "asm": "MSL has no 'asm'",
}
_ARITHMETIC = (
    "bool",
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "half",
    "float",
    "bfloat",
)
_SIZED = {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_VECTORS = {
    f"{prefix}{scalar}{size}"
    for scalar in _ARITHMETIC
    for size in (2, 3, 4)
    for prefix in ("", "packed_")
}
_MATRICES = {f"{t}{c}x{r}" for t in ("half", "float") for c in (2, 3, 4) for r in (2, 3, 4)}
_ATOMICS = {f"atomic_{t}" for t in ("int", "uint", "bool", "float", "long", "ulong")}
_TYPES = {
    *_ARITHMETIC,
    *_SIZED,
    *_VECTORS,
    *_MATRICES,
    *_ATOMICS,
    "void",
    "unsigned",
    "size_t",
    "ptrdiff_t",
    "vec",
    "packed_vec",
    "matrix",
}
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "typename", "struct"}
_TYPE_HEADS = {"struct", "class", "union", "enum", "typename", "using"}
_NO_VARIABLE = {
    "typedef",
    "using",
    "enum",
    "struct",
    "class",
    "union",
    "template",
    "extern",
    "namespace",
    "static_assert",
    "friend",
    "inline",
    "kernel",
}


def token_diagnostics(found: Reflection) -> Iterator[Diagnostic]:
    """All errors that the tokens show."""
    yield from _forbidden_words(found)
    yield from _unqualified_pointers(found)
    yield from _program_scope_variables(found)
    for kernel in found.kernels:
        yield from _kernel_parameters(found, kernel)


def _at(found: Reflection, token: Token, message: str) -> Diagnostic:
    line, column = line_and_column(found.source, token.start)
    return Diagnostic(line, column, message)


def _forbidden_words(found: Reflection) -> Iterator[Diagnostic]:
    for index, token in enumerate(found.tokens):
        message = _FORBIDDEN.get(token.text)
        if message is None or token.kind != "name":
            continue
        if token.text == "delete" and index and found.tokens[index - 1].text == "=":
            continue  # a deleted function
        yield _at(found, token, message)


def _declared_types(found: Reflection) -> set[str]:
    """Names of types: MSL's own, and those that the text declares."""
    types = set(_TYPES)
    for before, token, after in zip(
        found.tokens, found.tokens[1:], found.tokens[2:] + found.tokens[-1:], strict=False
    ):
        if token.kind != "name":
            continue
        if before.text in _TYPE_HEADS and token.text not in ("namespace", "class"):
            types.add(token.text)
        if before.kind in ("name", "mark") and after.text == ";" and _is_typedef(found, token):
            types.add(token.text)
    return types


def _is_typedef(found: Reflection, token: Token) -> bool:
    start = max(found.source.rfind(mark, 0, token.start) for mark in ";{}") + 1
    return found.source[start : token.start].lstrip().startswith("typedef ")


def _unqualified_pointers(found: Reflection) -> Iterator[Diagnostic]:
    """Every pointer and reference names an address space."""
    tokens, types = found.tokens, _declared_types(found)
    for index, token in enumerate(tokens):
        if token.kind != "name" or token.text not in types:
            continue
        cursor = _after_arguments(tokens, index + 1)
        qualified = False
        while cursor < len(tokens) and tokens[cursor].text in _QUALIFIERS | ADDRESS_SPACES:
            qualified = qualified or tokens[cursor].text in ADDRESS_SPACES
            cursor += 1
        if cursor >= len(tokens) or tokens[cursor].text not in ("*", "&"):
            continue
        before = index - 1
        while before >= 0 and tokens[before].text in _QUALIFIERS | ADDRESS_SPACES | {"::", "metal"}:
            qualified = qualified or tokens[before].text in ADDRESS_SPACES
            before -= 1
        if not qualified:
            kind = "pointer" if tokens[cursor].text == "*" else "reference"
            yield _at(
                found,
                token,
                f"{kind} type must have an address space: device, constant, threadgroup or thread",
            )


def _after_arguments(tokens: list[Token], cursor: int) -> int:
    """The index after a template argument list at `cursor`, or `cursor` when there is none."""
    if cursor >= len(tokens) or tokens[cursor].text != "<":
        return cursor
    depth = 0
    for index in range(cursor, len(tokens)):
        text = tokens[index].text
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
        elif text in (";", "{"):
            return cursor
        if depth <= 0:
            return index + 1
    return cursor


def _program_scope_variables(found: Reflection) -> Iterator[Diagnostic]:
    """Variables outside of functions lie in the constant address space."""
    tokens = found.tokens
    start = cursor = 0
    while cursor < len(tokens):
        token = tokens[cursor]
        if token.kind == "directive":
            cursor = start = cursor + 1
        elif token.text in ("(", "[", "[[") and cursor in found.brackets:
            cursor = found.brackets[cursor] + 1
        elif token.text == "{" and cursor in found.brackets:
            words = {t.text for t in tokens[start:cursor]}
            if "namespace" in words:
                cursor = start = cursor + 1
                continue
            cursor = found.brackets[cursor] + 1
            if "=" not in words and (cursor >= len(tokens) or tokens[cursor].text != ";"):
                start = cursor
        elif token.text in (";", "}"):
            head = tokens[start:cursor]
            if _is_variable(head) and not any(t.text == "constant" for t in head):
                yield _at(
                    found, head[0], "a program scope variable must be in the constant address space"
                )
            cursor = start = cursor + 1
        else:
            cursor += 1


def _is_variable(head: list[Token]) -> bool:
    words = [t.text for t in head]
    if len(words) < 2 or words[0] in _NO_VARIABLE or words[0] == "[[":
        return False
    declarator = words[: words.index("=")] if "=" in words else words
    return "(" not in declarator and "operator" not in declarator


def _kernel_parameters(found: Reflection, kernel: KernelSignature) -> Iterator[Diagnostic]:
    seen: dict[tuple[str, int], str] = {}
    for parameter in kernel.parameters:
        yield from _indices(found, parameter, seen)
        if parameter.buffer is None and parameter.threadgroup is None:
            yield from _builtin(found, parameter)
        elif not parameter.is_reference:
            yield _at(
                found,
                parameter.token,
                f"parameter '{parameter.name}' is a buffer, so it must be a pointer or a reference",
            )
        else:
            yield from _space(found, parameter)


def _indices(
    found: Reflection, parameter: Parameter, seen: dict[tuple[str, int], str]
) -> Iterator[Diagnostic]:
    for attribute in parameter.attributes:
        if attribute.text.startswith(("buffer", "threadgroup(")) and attribute.indexed is None:
            yield _at(found, found.tokens[attribute.first], f"'{attribute.text}' has no index")
    for kind, index in (("buffer", parameter.buffer), ("threadgroup", parameter.threadgroup)):
        if index is None:
            continue
        if index >= MAX_BUFFERS:
            yield _at(
                found,
                parameter.token,
                f"{kind} index {index} of '{parameter.name}' is out of range: 0 to "
                f"{MAX_BUFFERS - 1}",
            )
        other = seen.setdefault((kind, index), parameter.name)
        if other != parameter.name:
            yield _at(
                found,
                parameter.token,
                f"'{parameter.name}' and '{other}' have the same {kind} index {index}",
            )


def _space(found: Reflection, parameter: Parameter) -> Iterator[Diagnostic]:
    words = parameter.type.split()
    allowed = ("threadgroup",) if parameter.threadgroup is not None else ("device", "constant")
    spaces = [word for word in words if word in ADDRESS_SPACES]
    if spaces and spaces[0] not in allowed:
        yield _at(
            found,
            parameter.token,
            f"parameter '{parameter.name}' is in the {spaces[0]} address space, but its attribute "
            f"asks for {' or '.join(allowed)}",
        )


def _builtin(found: Reflection, parameter: Parameter) -> Iterator[Diagnostic]:
    builtin = parameter.builtin
    if builtin is None:
        yield _at(found, parameter.token, f"parameter '{parameter.name}' has no attribute")
        return
    if builtin not in BUILTINS:
        yield _at(
            found,
            parameter.token,
            f"'{builtin}' is no attribute of a kernel parameter",
        )
        return
    allowed = ["ushort", "uint"]
    if builtin in POSITION_BUILTINS:
        allowed += [f"{scalar}{size}" for scalar in ("ushort", "uint") for size in (2, 3)]
    kind = " ".join(word for word in parameter.type.split() if word != "const")
    if kind.removeprefix("metal :: ") not in allowed:
        yield _at(
            found,
            parameter.token,
            f"'{builtin}' has type '{kind}'; it must be one of {', '.join(allowed)}",
        )
