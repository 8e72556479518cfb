"""The reference of the bundle format, from the FlatBuffers schema and its comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

from reference.text import code, prose, table

_DECLARATION = re.compile(
    r"(?P<comment>(?:^//[^\n]*\n)*)"
    r"^(?P<kind>enum|struct|table|union) (?P<name>\w+)(?: : (?P<base>\w+))? *"
    r"\{(?P<body>[^}]*)\}",
    re.M,
)


@dataclass(frozen=True)
class Declaration:
    """One enum, struct, table or union of the schema."""

    kind: str
    name: str
    base: str
    """The integer type of an enum, else ""."""
    comment: str
    members: tuple[tuple[str, str, str], ...]
    """Name, type and meaning of the fields; values of an enum have a name only."""


def schema() -> str:
    """The text of the schema."""
    return files("ingot.targets.bundle").joinpath("ingot.fbs").read_text("utf-8")


def _members(kind: str, body: str) -> tuple[tuple[str, str, str], ...]:
    if kind in ("enum", "union"):
        return tuple((name.strip(), "", "") for name in body.split(",") if name.strip())
    found = re.findall(r"(\w+):(\[?\w+\]?)\s*(?:\(([^)]*)\))?;[ \t]*(?://(.*))?", body)
    return tuple((name, type_, _meaning(rest, comment)) for name, type_, rest, comment in found)


def _meaning(attributes: str, comment: str) -> str:
    """What a field's comment and its attributes say."""
    words = {"required": "Always there.", "deprecated": "Not written any more."}
    return " ".join(filter(None, (prose(comment.strip()), words.get(attributes, ""))))


def declarations() -> list[Declaration]:
    """What the schema declares, in its order."""
    return [
        Declaration(
            match["kind"],
            match["name"],
            match["base"] or "",
            " ".join(line.removeprefix("//").strip() for line in match["comment"].splitlines()),
            _members(match["kind"], match["body"]),
        )
        for match in _DECLARATION.finditer(schema())
    ]


def _section(found: Declaration) -> str:
    heading = f"### {found.kind} `{found.name}`\n"
    parts = [heading, prose(found.comment) + "\n" if found.comment else ""]
    if found.kind == "enum":
        rows = [(str(number), code(name)) for number, (name, _, _) in enumerate(found.members)]
        parts.append(f"Stored as `{found.base}`.\n")
        parts.append(table(("value", "name"), rows))
    elif found.kind == "union":
        names = (f"[`{name}`](#table-{name.lower()})" for name, _, _ in found.members)
        parts.append(f"One of {', '.join(names)}.\n")
    elif found.members:
        rows = [(code(name), code(type_), meaning) for name, type_, meaning in found.members]
        parts.append(table(("field", "type", ""), rows))
    else:
        parts.append("No fields.\n")
    return "\n".join(filter(None, parts))


def reference() -> str:
    """A section for each declaration of the schema."""
    return "\n".join(map(_section, declarations()))
