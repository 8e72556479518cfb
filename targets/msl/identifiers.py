"""Names that MSL, its library and SPIRV-Cross accept, made from the names of the source."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from .reserved import RESERVED

_FIRST_DIGIT = re.compile(r"\d")
_OTHER = re.compile(r"[^A-Za-z0-9_]+")
_UNDERSCORES = re.compile(r"_{2,}")
_RESERVED_PREFIXES = ("gl_", "spv", "METAL_", "ingot_")


def msl_identifier(name: str, taken: Collection[str] = ()) -> str:
    """A valid MSL identifier for `name` that is not in `taken`.

    A pure function: letters of other alphabets are spelled by their Unicode names (lambda is
    `lamda`, as Unicode spells it), accents are dropped, everything else becomes one underscore; no
    leading or double underscore remains. A name that MSL or its library reserves gets an
    underscore at its end (`abs_`), a name that is taken gets the first free number (`x_1`).
    """
    base = _clean(name)
    if base in RESERVED or base.startswith(_RESERVED_PREFIXES):
        base = f"{base}_" if base in RESERVED else f"v_{base}"
    if base not in taken:
        return base
    stem = base.rstrip("_")
    number = 1
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


@lru_cache(maxsize=4096)
def _clean(name: str) -> str:
    spelled = name if name.isascii() else "".join(map(_spell, unicodedata.normalize("NFKD", name)))
    plain = _UNDERSCORES.sub("_", _OTHER.sub("_", spelled)).lstrip("_")
    if not plain:
        return "v"
    return f"v{plain}" if _FIRST_DIGIT.match(plain) else plain


def _spell(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.combining(character):
        return ""
    name = unicodedata.name(character, "")
    kind, _, letter = name.partition(" LETTER ")
    if letter:
        # "CYRILLIC SMALL LETTER SHORT I" is "shorti"; capitals keep a capital first letter.
        spelled = "".join(word for word in letter.split() if word != "WITH").lower()
        spelled = re.sub(r"[^a-z0-9]", "", spelled)
        return spelled.capitalize() if "CAPITAL" in kind else spelled
    return f"_u{ord(character):x}_"
