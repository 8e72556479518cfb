"""A bundle for C: a header with typed functions, and the bytes as an array.

Both go with the C library in `runtime/embed`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingot.targets.bundle.model import Bundle, DType, Function, TensorType

_C_TYPES: dict[DType, str] = {
    DType.I1: "uint8_t",
    DType.I4: "uint8_t",
    DType.I8: "int8_t",
    DType.I16: "int16_t",
    DType.I32: "int32_t",
    DType.I64: "int64_t",
    DType.F16: "uint16_t",
    DType.BF16: "uint16_t",
    DType.F32: "float",
    DType.C64: "float",
    DType.UI8: "uint8_t",
    DType.UI16: "uint16_t",
    DType.UI32: "uint32_t",
    DType.UI64: "uint64_t",
}
"""Floats of 16 bits are their bits, complex numbers pairs of floats, i4 two to a byte."""

_KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while program error arguments results""".split()  # noqa: SIM905
)
"""What no name may be: the words of C, and those that the header uses."""

_MOST_DIMENSIONS = 8
"""As `INGOT_MAX_RANK` in ingot.h."""
_BYTES_PER_LINE = 24


def c_identifier(name: str) -> str:
    """`name` in letters, digits and underscores, and no word of C or of the header."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not plain or plain[0].isdigit() or plain in _KEYWORDS:
        plain = f"{plain}_" if plain in _KEYWORDS else f"_{plain}"
    return plain


def c_header(bundle: Bundle, name: str) -> str:
    """The header of a bundle called `name`: its functions by number, and as typed functions.

    Each takes the program, a pointer for each argument and result, and the error. Functions with
    open sizes are only named.
    """
    prefix = c_identifier(name)
    guard = f"{prefix.upper()}_INGOT_H"
    names = _distinct([c_identifier(function.name) for function in bundle.functions])
    numbers = ", ".join(f"{prefix}_function_{each}" for each in names)
    parts = [
        f"/* {name}: made by Ingot. Functions return 0, or another number with a sentence in",
        " * `error`. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "ingot.h"',
        "",
        "/* The bundle, where it was made a part of the program (--embed). */",
        f"extern const unsigned char {prefix}_bundle[];",
        f"extern const size_t {prefix}_bundle_size;",
        "",
        "/* For ingot_call. */",
        f"enum {{ {numbers} }};",
    ]
    for number, (function, each) in enumerate(zip(bundle.functions, names, strict=True)):
        parts += ["", *_typed(function, number, f"{prefix}_{each}")]
    return "\n".join([*parts, "", "#endif", ""])


def c_array(data: bytes, name: str) -> str:
    """C source that defines the array and size which the header of `name` declares."""
    prefix = c_identifier(name)
    lines = [
        ",".join(map(str, data[start : start + _BYTES_PER_LINE]))
        for start in range(0, len(data), _BYTES_PER_LINE)
    ]
    body = ",\n".join(lines)
    return (
        f"/* {name}: a bundle made by Ingot. */\n"
        "#include <stdalign.h>\n#include <stddef.h>\n\n"
        f"extern const unsigned char {prefix}_bundle[];\n"
        f"extern const size_t {prefix}_bundle_size;\n\n"
        f"alignas(64) const unsigned char {prefix}_bundle[{len(data)}] = {{\n{body}\n}};\n"
        f"const size_t {prefix}_bundle_size = {len(data)};\n"
    )


def _typed(function: Function, number: int, name: str) -> list[str]:
    everything = (*function.arguments, *function.results)
    signature = f"{function.name}({_sizes(function.arguments)}) -> ({_sizes(function.results)})"
    comment = f"/* {signature.replace('*/', '* /')} */"
    if not all(t.is_static and len(t.shape) <= _MOST_DIMENSIONS for t in everything):
        return [comment, f"/* Sizes are known when it is called: use ingot_call with {number}. */"]
    names = _distinct(
        [
            c_identifier(given or f"{kind}{position}")
            for kind, types, names in (
                ("argument", function.arguments, function.argument_names),
                ("result", function.results, function.result_names),
            )
            for position, given in enumerate(names or ("",) * len(types))
        ]
    )
    inputs, outputs = names[: len(function.arguments)], names[len(function.arguments) :]
    parameters = ["struct ingot_program *program"]
    parameters += [
        f"const {_C_TYPES[t.dtype]} *{n}" for t, n in zip(function.arguments, inputs, strict=True)
    ]
    parameters += [
        f"{_C_TYPES[t.dtype]} *{n}" for t, n in zip(function.results, outputs, strict=True)
    ]
    parameters.append("struct ingot_error *error")
    given = [_array(f"(void *){n}", t) for n, t in zip(inputs, function.arguments, strict=True)]
    made = [_array(n, t) for n, t in zip(outputs, function.results, strict=True)]
    return [
        comment,
        f"static inline int {name}({', '.join(parameters)}) {{",
        *_list("arguments", given),
        *_list("results", made),
        f"    return ingot_call(program, {number}, {'arguments' if given else 'NULL'},"
        f" {'results' if made else 'NULL'}, error);",
        "}",
    ]


def _list(name: str, entries: Sequence[str]) -> list[str]:
    if not entries:
        return []
    lines = [f"        {entry}," for entry in entries]
    return [f"    struct ingot_array {name}[] = {{", *lines, "    };"]


def _array(pointer: str, tensor: TensorType) -> str:
    shape = ", ".join(map(str, tensor.shape)) or "0"
    kind = f"INGOT_{tensor.dtype.name}"
    return f"{{{pointer}, {tensor.byte_size}, {{{kind}, {len(tensor.shape)}, {{{shape}}}}}}}"


def _sizes(tensors: Sequence[TensorType]) -> str:
    return ", ".join(
        "x".join([*("?" if s < 0 else str(s) for s in t.shape), t.dtype.name.lower()])
        for t in tensors
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, numbered where two are the same."""
    taken: set[str] = set()
    found: list[str] = []
    for name in names:
        each, count = name, 1
        while each in taken:
            count += 1
            each = f"{name}_{count}"
        taken.add(each)
        found.append(each)
    return found
