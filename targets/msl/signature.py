"""The kernel's signature: MSL's names for its builtins, one parameter a line, its launch bound."""

from __future__ import annotations

import re

from .functions import find_function
from .tokens import (
    is_blank,
    is_identifier,
    previous_index,
    rename,
    tokenize,
)

_WORKGROUP_SIZE = re.compile(
    r"^constant uint3 gl_WorkGroupSize \[\[maybe_unused\]\] = uint3\([^;]*\);\n\n?", re.MULTILINE
)


def tidy_signature(text: str, kernel: str, threads: int) -> str:
    """Rewrite the signature of `kernel`, which runs with `threads` threads in a threadgroup.

    - `uint3 gl_GlobalInvocationID [[thread_position_in_grid]]` is named after its attribute;
    - every parameter has its line;
    - `[[max_total_threads_per_threadgroup(n)]]` tells Metal how many threads share the registers:
      without it a pipeline may refuse the threadgroup size that the kernel was compiled for.
    """
    text = _drop_unused_workgroup_size(text)
    tokens = tokenize(text)
    function = find_function(tokens, kernel)
    names: dict[str, str] = {}
    present = frozenset(tokens)
    for declaration in function.declarations:
        name, attribute = _builtin(declaration)
        if name.startswith("gl_") and _free(tokens, present, attribute):
            names[name] = attribute
    tokens = rename(tokens, names)
    function = find_function(tokens, kernel)
    index = tokens.index(kernel, _kernel_keyword(tokens, kernel))
    opening = tokens.index("(", index)
    lines = ",\n".join(f"    {declaration}" for declaration in function.declarations)
    parameters = ["(", f"\n{lines}" if lines else "", ")"]
    brace = function.body[0]
    keyword = _kernel_keyword(tokens, kernel)
    bound = f"[[max_total_threads_per_threadgroup({threads})]]\n"
    return "".join([*tokens[:keyword], bound, *tokens[keyword:opening], *parameters, "\n"]) + (
        "".join(tokens[brace:])
    )


def _drop_unused_workgroup_size(text: str) -> str:
    if text.count("gl_WorkGroupSize") == 1:
        return _WORKGROUP_SIZE.sub("", text)
    return text


def _kernel_keyword(tokens: list[str], kernel: str) -> int:
    for index, token in enumerate(tokens):
        if token == kernel:
            keyword = previous_index(tokens, previous_index(tokens, index))
            if keyword >= 0 and tokens[keyword] == "kernel":
                return keyword
    raise ValueError(f"the MSL text has no kernel {kernel!r}")


def _builtin(declaration: str) -> tuple[str, str]:
    """Name and attribute of `uint3 name [[attribute]]`; empty for other parameters."""
    tokens = [x for x in tokenize(declaration) if not is_blank(x)]
    if len(tokens) < 4 or tokens[-1] != "]]" or tokens[-3] != "[[" or not is_identifier(tokens[-4]):
        return "", ""
    return tokens[-4], tokens[-2]


def _free(tokens: list[str], present: frozenset[str], name: str) -> bool:
    """Whether `name` occurs only inside `[[ ]]`."""
    if name not in present:
        return True
    return all(
        tokens[previous_index(tokens, index)] == "[["
        for index, token in enumerate(tokens)
        if token == name
    )
