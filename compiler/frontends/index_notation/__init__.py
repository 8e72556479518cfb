"""Index notation, as Tullio writes it: `C[i,k] := A[i,j] * B[j,k]`.

    text -> tokens -> syntax tree -> ranges and types -> generics on tensors

`docs/index-notation.md` describes the notation.
"""

from __future__ import annotations

from ingot.compiler.frontends.index_notation.lowering import lower_program
from ingot.compiler.frontends.index_notation.parser import parse_declaration, parse_program

__all__ = ["lower_program", "parse_declaration", "parse_program"]
