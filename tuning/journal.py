"""What a search has found out so far, written as it goes: a search that was killed continues there.

A file of JSON lines beside the output. The first line says what the search is about; a file about
something else is no journal of this search and is begun anew. A line that was cut off by the end of
the process counts as not written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TextIO, cast

Record = Mapping[str, Any]


class Journal:
    """Records by a key of their own; one that is there need not be found out again."""

    def __init__(self, path: Path, about: str) -> None:
        """Read the journal, or begin one; raises OSError where it cannot be written."""
        self.path: Final = path
        self._records: dict[str, Record] = {}
        head, *lines = _lines(path) or [{}]
        self.is_resumed: Final = head.get("about") == about
        """Whether it was begun by an earlier run."""
        if self.is_resumed:
            self._records = {line["key"]: line for line in lines}
        lines = (json.dumps(line) + "\n" for line in ({"about": about}, *self._records.values()))
        whole = path.with_name(f"{path.name}.new")
        whole.write_text("".join(lines), encoding="utf-8")
        whole.replace(path)
        self._file: Final[TextIO] = path.open("a", encoding="utf-8")

    def get(self, *key: str) -> Record | None:
        """What was written under a key."""
        return self._records.get(_key(key))

    def put(self, *key: str, **values: Any) -> None:
        """Write a record; it is in the file when this returns."""
        record = {"key": _key(key), **values}
        self._records[record["key"]] = record
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    @property
    def spent(self) -> float:
        """Seconds that were spent until the last record."""
        return max((record.get("spent", 0.0) for record in self._records.values()), default=0.0)

    def close(self) -> None:
        """Let go of the file, which stays if anything was found out."""
        self._file.close()
        if not self._records:
            self.remove()

    def remove(self) -> None:
        """Remove the file: the search has ended."""
        self.path.unlink(missing_ok=True)


def _key(parts: tuple[str, ...]) -> str:
    return "\t".join(parts)


def _lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file, as far as they are whole."""
    found: list[dict[str, Any]] = []
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            break
        if not isinstance(record, dict) or (found and "key" not in record):
            break
        found.append(cast("dict[str, Any]", record))
    return found
