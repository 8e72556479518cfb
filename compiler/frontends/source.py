"""The text of a program with its large hexadecimal literals taken out.

A model's weights are most of its text: a gigabyte of digits in a few hundred kilobytes of program.
They are found and decoded in one pass, so that neither the lexer nor a regular expression ever sees
them:

    stablehlo.constant dense<"0x771CB73C..."> : tensor<50257x768xf32>
    stablehlo.constant dense<"0x"> : tensor<50257x768xf32>          and the bytes beside it
"""

from __future__ import annotations

from binascii import Error, unhexlify
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Thread
from typing import Final, Self

_LARGE: Final = 4096
"""Digits from which a literal is taken out."""
_WORTH_A_THREAD: Final = 1 << 20
"""Characters from which hashing takes longer than starting a thread."""
_BEFORE: Final = ("<", ": ")
"""What stands before a literal: `dense<"0x..."` and `key: "0x..."` of a resource."""


class _Digest:
    """SHA-256 of a text that comes in pieces; large ones are hashed on another core meanwhile."""

    def __init__(self) -> None:
        self._hash = sha256()
        self._running: Thread | None = None

    def update(self, piece: str) -> None:
        """Add a piece."""
        self._wait()
        if len(piece) < _WORTH_A_THREAD:
            self._hash.update(piece.encode())
            return
        self._running = Thread(target=lambda: self._hash.update(piece.encode()))
        self._running.start()

    def hexdigest(self) -> str:
        """The hash of all pieces."""
        self._wait()
        return self._hash.hexdigest()

    def _wait(self) -> None:
        if self._running is not None:
            self._running.join()
            self._running = None


@dataclass(frozen=True)
class SourceText:
    """A program without its large literals; offsets count in `text`."""

    text: str
    blobs: Mapping[int, bytes]
    """The bytes of each literal that was taken out, by the offset after its `0x`."""
    _digest: _Digest
    _cuts: tuple[int, ...]
    """Offsets of `blobs`, ascending."""
    _line_starts: tuple[int, ...]

    @classmethod
    def of(cls, whole: str) -> Self:
        """Take the literals out of a program's text."""
        digest = _Digest()
        parts: list[str] = []
        blobs: dict[int, bytes] = {}
        length = done = 0
        for start, digits, data in _large_literals(whole):
            parts.append(whole[done:start])
            length += start - done
            blobs[length] = data
            digest.update(parts[-1])
            digest.update(digits)
            done = start + len(digits)
        parts.append(whole[done:])
        digest.update(parts[-1])
        text = "".join(parts)
        return cls(text, blobs, digest, tuple(blobs), tuple(_line_starts(text)))

    @property
    def digest(self) -> str:
        """SHA-256 of the whole text in UTF-8, hexadecimal."""
        return self._digest.hexdigest()

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset in the file that was read."""
        line = bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        column = offset - start + 1
        if self._cuts:
            on_line = self._cuts[bisect_left(self._cuts, start) : bisect_right(self._cuts, offset)]
            column += sum(2 * len(self.blobs[cut]) for cut in on_line)
        return line, column


def _large_literals(whole: str) -> Iterator[tuple[int, str, bytes]]:
    """Where the digits of each large literal begin, the digits, and the bytes that they mean."""
    position = 0
    while (quote := whole.find('"0x', position)) >= 0:
        start = position = quote + 3
        end = whole.find('"', start)
        if end - start < _LARGE or not whole[max(quote - 2, 0) : quote].endswith(_BEFORE):
            continue
        digits = whole[start:end]
        try:
            data = unhexlify(digits)
        except (Error, ValueError):
            continue  # the parser says what is wrong with it
        yield start, digits, data
        position = end


def _line_starts(text: str) -> Iterator[int]:
    start = 0
    while start >= 0:
        yield start
        start = text.find("\n", start) + 1 or -1
