"""Which MSL text of a bundle is handed to clang: a list of what is allowed.

The host device compiles the text of whoever made the bundle as C++. What `ingot compile` writes
uses very little of that language, and nothing else may reach the compiler: no file is included, no
assembly written, no symbol of the process named, no macro hides one of these. This protects the
compiler and what is linked; what a kernel does when it runs is another matter (`sandbox`).
"""

from __future__ import annotations

import re

from ingot.runtime.devices.host.tokens import line_and_column

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CHARACTER = re.compile(r"[\r\v\f\0\\]")
"""What could make clang see other lines than we do, in comments too."""
_OUTSIDE_COMMENTS = re.compile(r"[^\t\n\x20-\x7e]|\?\?[=/'()!<>-]|%:")
"""And other spellings of `#` and of names."""
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_ALLOWED_DIRECTIVE = re.compile(
    r"#include <(metal_stdlib|simd/simd\.h)>"
    r"|#pragma METAL fp (contract\((off|on|fast)\)|math_mode\((safe|relaxed|fast)\))"
    r"|#pragma clang fp contract\((off|on|fast)\)"
    r'|#pragma clang diagnostic ignored "-W[\w-]+"'
)
_ALLOWED_ATTRIBUTE = re.compile(r"__attribute__\(\(always_inline\)\)")
_FORBIDDEN = re.compile(
    r"[#\"']"
    r"|\b(__\w+|_[A-Z]\w*|asm|extern|export|new|delete|throw|try|catch|goto|typeid|virtual"
    r"|dynamic_cast|thread_local|friend|ingot_barrier|ingot_simd_exchange|ingot_lane_index"
    r"|ingot_threadgroup_variable)\b"
)
"""Strings, names that are reserved for the compiler, words of C++ that reach beyond the text, and
what our own headers are made of."""
_MOST_NESTED = 128


def objection(msl: str) -> str:
    """Why the text is not compiled, with its line; "" if there is no reason."""
    text = _COMMENT.sub(_blank, msl)
    found = _CHARACTER.search(msl) or _OUTSIDE_COMMENTS.search(text)
    if found is None:
        for directive in _DIRECTIVE.finditer(text):
            if not _ALLOWED_DIRECTIVE.fullmatch(directive.group().strip()):
                found = directive
                break
        else:
            rest = _ALLOWED_ATTRIBUTE.sub(_blank, _DIRECTIVE.sub(_blank, text))
            found = _FORBIDDEN.search(rest) or _unbalanced(rest)
    if found is None:
        return ""
    line, _ = line_and_column(msl, found.start())
    shown = found.group().strip(" ")[:60]
    return f"line {line} has {shown!r}, which no bundle of Ingot's compiler has"


def _unbalanced(text: str) -> re.Match[str] | None:
    """A brace that is too deep, or closes what the text did not open: a text stays in its scope."""
    depth = 0
    for brace in re.finditer(r"[{}]", text):
        depth += 1 if brace.group() == "{" else -1
        if not 0 <= depth <= _MOST_NESTED:
            return brace
    return None


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())
