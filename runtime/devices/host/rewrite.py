"""MSL text made into C++ that clang compiles against our headers.

For execution address spaces are erased, so threadgroup variables become references into memory that
the engine owns, and functions that differ only by address space are kept once. For checking the
text stays as it is, apart from attributes and the conditional operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingot.runtime.devices.host.reflection import Reflection, ThreadgroupDeclaration
from ingot.runtime.devices.host.tokens import Edit, EditedText, Token, blank

ADDRESS_SPACES = frozenset({"device", "constant", "threadgroup", "thread"})
THREADGROUP_MEMORY = 32768
"""Bytes of threadgroup memory that every Apple GPU has."""
MEMORY_MESSAGE = "the threadgroup variables of this kernel exceed 32768 bytes"
_OWN_INCLUDE = re.compile(r"#\s*include\s*<(metal_\w+|simd/simd\.h)>")
_METAL_PRAGMA = re.compile(r"#\s*pragma\s+METAL\b")
_BFLOAT_LITERAL = re.compile(r"(?=.*[.eE])[\d.]+([eE][-+]?\d+)?[bB][fF]\Z")
_FUNCTION_CONSTANT = re.compile(r"function_constant\b")


def reaches_others(directive: str) -> bool:
    """Whether a preprocessor line changes what follows the text it is in."""
    changes = re.match(r"#\s*(define|undef|include)", directive) is not None
    return changes and not _OWN_INCLUDE.match(directive)


def for_execution(found: Reflection) -> EditedText:
    """The text for the execution mode."""
    edits = [*_common_edits(found), *_threadgroup_edits(found), *_duplicate_edits(found)]
    return EditedText(found.source, edits)


def for_checking(found: Reflection) -> EditedText:
    """The text for the checking mode."""
    edits = [*_common_edits(found), *_conditional_edits(found), *_memory_limit_edits(found)]
    return EditedText(found.source, edits)


def _common_edits(found: Reflection) -> Iterator[Edit]:
    """Drop attributes and the includes that our one header stands for; spell bfloat literals."""
    for token in found.tokens:
        if token.kind == "directive" and (
            _OWN_INCLUDE.match(token.text) or _METAL_PRAGMA.match(token.text)
        ):
            yield blank(found.source, token.start, token.end)
        elif token.kind == "number" and _BFLOAT_LITERAL.match(token.text):
            yield Edit(token.start, token.end, f"bfloat({token.text[:-2]}f)")
    for attribute in found.attributes:
        start, end = found.tokens[attribute.first].start, found.tokens[attribute.last].end
        if attribute.text == "kernel":
            yield Edit(start, end, "kernel")
        elif _FUNCTION_CONSTANT.match(attribute.text):
            yield Edit(start, end, "= {}")
        else:
            yield blank(found.source, start, end)


def _threadgroup_edits(found: Reflection) -> Iterator[Edit]:
    """`threadgroup T a[4];` to a reference to the engine's storage for it."""
    index = 0
    for declaration in found.declarations:
        parts: list[str] = []
        for variable in declaration.variables:
            alias = f"ingot_variable_{index}"
            parts.append(
                f"using {alias} = {variable.base} {variable.dimensions}; "
                f"{alias}& {variable.name} = *({alias}*)ingot_threadgroup_variable("
                f"{index}, sizeof({alias}), alignof({alias}));"
            )
            index += 1
        start = found.tokens[declaration.first].start
        end = found.tokens[declaration.last].end
        lines = "\n" * found.source.count("\n", start, end)
        yield Edit(start, end, " ".join(parts) + lines)


def _memory_limit_edits(found: Reflection) -> Iterator[Edit]:
    """After the last threadgroup variable of each kernel, an assertion that all fit."""
    for kernel in found.kernels:
        first, last = kernel.body
        inside = [d for d in found.declarations if first <= d.first < last]
        if not inside:
            continue
        final = inside[-1]
        names = [v.name for d in inside if _is_visible(found, d, final) for v in d.variables]
        total = " + ".join(f"sizeof({name})" for name in names)
        end = found.tokens[final.last].end
        text = f' static_assert({total} <= {THREADGROUP_MEMORY}, "{MEMORY_MESSAGE}");'
        yield Edit(end, end, text)


def _is_visible(
    found: Reflection, declared: ThreadgroupDeclaration, place: ThreadgroupDeclaration
) -> bool:
    """Whether the block of `declared` is still open at `place`."""
    tokens = found.tokens[declared.last : place.first]
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if depth < 0:
            return False
    return True


def _conditional_edits(found: Reflection) -> Iterator[Edit]:
    """`c ? a : b` to `c ? ingot_value(a) : ingot_value(b)`.

    clang refuses a conditional of class type whose arms are a prvalue and an lvalue in another
    address space.
    """
    tokens = found.tokens
    for index, token in enumerate(tokens):
        if token.text != "?":
            continue
        colon, end = _arms(tokens, index)
        if colon is not None:
            yield Edit(tokens[index + 1].start, tokens[index + 1].start, "ingot_value(")
            yield Edit(tokens[colon].start, tokens[colon].start, ")")
            yield Edit(tokens[colon + 1].start, tokens[colon + 1].start, "ingot_value(")
            yield Edit(tokens[end - 1].end, tokens[end - 1].end, ")")


def _arms(tokens: list[Token], question: int) -> tuple[int | None, int]:
    """The colon that belongs to a question mark, and the token after its last arm."""
    depth = nested = 0
    colon: int | None = None
    for index in range(question + 1, len(tokens)):
        text = tokens[index].text
        if text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            if depth == 0:
                return colon, index
            depth -= 1
        elif depth == 0:
            if text == "?":
                nested += 1
            elif text == ":" and nested:
                nested -= 1
            elif text == ":" and colon is None:
                colon = index
            elif text in (",", ";", ":", "="):
                return colon, index
    return colon, len(tokens)


def _duplicate_edits(found: Reflection) -> Iterator[Edit]:
    """Drop functions that an earlier one of their scope equals but for address spaces."""
    yield from _duplicates(found, 0, len(found.tokens))


def _duplicates(found: Reflection, first: int, last: int) -> Iterator[Edit]:
    tokens, brackets = found.tokens, found.brackets
    seen: set[tuple[str, bool]] = set()
    cursor = start = first
    while cursor < last:
        text = tokens[cursor].text
        if tokens[cursor].kind == "directive":
            cursor = start = cursor + 1
        elif text in ("public", "private", "protected") and tokens[cursor + 1].text == ":":
            cursor = start = cursor + 2
        elif text in ("(", "[", "[[") and cursor in brackets:
            cursor = brackets[cursor] + 1
        elif text in ("{", ";"):
            end = brackets.get(cursor, last - 1) if text == "{" else cursor
            head = tokens[start:cursor]
            kind = _head_kind(head)
            if text == "{" and kind == "scope":
                yield from _duplicates(found, cursor + 1, end)
            elif kind == "function":
                key = (_function_key(head), text == "{")
                if key in seen:
                    yield blank(found.source, tokens[start].start, tokens[end].end)
                seen.add(key)
            cursor = end + 1
            if text == "{" and cursor < last and tokens[cursor].text == ";":
                cursor += 1
            start = cursor
        else:
            cursor += 1


def _head_kind(head: list[Token]) -> str:
    """What the tokens before a brace or semicolon begin: a `scope`, a `function` or `other`."""
    words = [t.text for t in head]
    if words[:1] == ["template"]:
        words = words[_after_template_parameters(words) :]
    if not words:
        return "other"
    if words[0] in ("struct", "class", "union", "namespace") or words[:2] == [
        "inline",
        "namespace",
    ]:
        return "scope"
    if "(" not in words or words[0] in ("typedef", "using", "enum", "extern", "return"):
        return "other"
    return "function"


def _after_template_parameters(words: list[str]) -> int:
    depth = 0
    for index, word in enumerate(words[1:], 1):
        if word == "<":
            depth += 1
        elif word == ">":
            depth -= 1
        if depth <= 0:
            return index + 1
    return len(words)


def _function_key(head: list[Token]) -> str:
    """A function's declaration without address spaces, specifiers and member initializers."""
    noise = ADDRESS_SPACES | {"constexpr", "inline", "static"}
    words = [t.text for t in head if t.text not in noise]
    key = " ".join(words)
    key = re.sub(r"\[\[ .*? \]\] ", "", key)
    key = re.sub(r"__attribute__ \( \( [\w_]+ \) \) ", "", key)
    key = re.sub(r" = default$", "", key)
    return re.sub(r"\) (const )?: .*$", r") \1", key).strip()
