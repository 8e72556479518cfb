"""Programs with something wrong in their text: a byte, a word in another place, a number."""

from __future__ import annotations

import re
from random import Random

_WORD = re.compile(rb'"[^"\n]*"|[%@#!^]?[A-Za-z_][\w.$-]*|-?\d+(?:\.\d+)?|->|\S')

_NUMBER = re.compile(rb"(?<![%\w.#@])-?\d+(?![\w.])|(?<=[x<])\d+(?=x)")

STRANGE = (
    b"?", b"-1", b"0", b"1", b"65", b"99999999999999999999", b"f64", b"i1", b"i128", b"index",
    b"none", b"tensor<?xf32>", b"tensor<*xf32>", b"memref<4xf32>", b"vector<4xf32>",
    b"complex<f32>", b"dense<>", b"0xFFFFFFFFFF", b"1e999", b'"', b"'", b"{", b"}", b"<", b">",
    b"(",
    b")", b"[", b"]", b"^bb0", b"%nothing", b"@nothing", b"#nothing", b"!nothing", b"loc(", b"//",
    b"affine_map<(d0) -> (d7)>", b"parallel", b"reduction", b"return", b"func.func", b"module",
    b"linalg.generic", b"arith.addf", b"scf.for", b"\xff", b"\x00", b"\xe2\x82", b"\n",
)  # fmt: skip
"""What people and programs write where it does not belong."""


def mutated(text: bytes, random: Random) -> bytes:
    """The text after one to three mutations."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        text = random.choice((_byte, _word, _word))(text, random)
    return text


def renumbered(text: bytes, random: Random) -> bytes:
    """The text with another integer, two or none in place of one of an op.

    Dimension numbers, windows and sizes are changed most: what does not fit has to be noticed.
    """
    number = random.choice(list(_NUMBER.finditer(text)))
    value = int(number.group())
    near = (b"%d" % random.randrange(6), b"%d" % (value + 1), b"%d" % max(0, value - 1))
    new = random.choice((*near, b"-1", number.group() + b", 1", b""))
    return text[: number.start()] + new + text[number.end() :]


def _byte(text: bytes, random: Random) -> bytes:
    at = random.randrange(len(text) + 1)
    kind = random.random()
    if kind < 0.4:
        flipped = text[at : at + 1]
        return text[:at] + bytes(b ^ (1 << random.randrange(8)) for b in flipped) + text[at + 1 :]
    if kind < 0.7:
        return text[:at] + text[at + random.randint(1, 4) :]
    if kind < 0.9:
        return text[:at] + bytes([random.randrange(256)]) + text[at:]
    return text[:at]


def _word(text: bytes, random: Random) -> bytes:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word, other = random.choice(words), random.choice(words)
    kind = random.random()
    if kind < 0.2:
        new = b""
    elif kind < 0.55:
        new = random.choice(STRANGE)
    elif kind < 0.9:
        new = other.group()
    else:
        new = word.group() + b" " + word.group()
    return text[: word.start()] + new + text[word.end() :]
