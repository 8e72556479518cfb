"""Messages of a command as data: for people, and as JSON or SARIF for tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Form = Literal["text", "json", "sarif"]


@dataclass(frozen=True)
class Message:
    """One diagnostic; `line` and `column` start at 1 and are 0 where the place is unknown."""

    severity: Literal["error", "warning"]
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    help: str | None = None
    rendered: str = ""
    """What a person reads, with the source line; made from the rest where it is empty."""

    @property
    def text(self) -> str:
        """What a person reads."""
        if self.rendered:
            return self.rendered
        where = f"{self.file}: " if self.file else ""
        hint = f"\nhelp: {self.help}" if self.help else ""
        return f"{where}{self.severity}: {self.message}{hint}"


def messages_text(messages: Sequence[Message], form: Form) -> str:
    """All messages of a command in one form, ended by a newline; empty text for none."""
    if form == "json":
        return json.dumps([_entry(message) for message in messages], indent=2) + "\n"
    if form == "sarif":
        return json.dumps(_sarif(messages), indent=2) + "\n"
    return "".join(f"{message.text}\n" for message in messages)


def _entry(message: Message) -> dict[str, object]:
    entry = asdict(message)
    del entry["rendered"]
    return entry


def _sarif(messages: Sequence[Message]) -> dict[str, object]:
    """A log of SARIF 2.1.0, as GitHub and editors read it."""
    from ingot.targets import VERSION

    driver = {"name": "ingot", "version": VERSION, "rules": [{"id": "ingot"}]}
    results = [_sarif_result(message) for message in messages]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _sarif_result(message: Message) -> dict[str, object]:
    text = f"{message.message}; {message.help}" if message.help else message.message
    result: dict[str, object] = {
        "ruleId": "ingot",
        "level": message.severity,
        "message": {"text": text},
    }
    if message.file:
        place: dict[str, object] = {"artifactLocation": {"uri": message.file}}
        if message.line:
            place["region"] = {"startLine": message.line, "startColumn": max(message.column, 1)}
        result["locations"] = [{"physicalLocation": place}]
    return result
