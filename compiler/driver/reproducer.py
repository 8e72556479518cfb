"""Files that show an internal error again: the program, and the command to run on it.

    // KeyError: 'linalg.index'
    // RUN: ingot opt %s -p 'linalg-fuse-elementwise,cse'
    builtin.module { ... }

`ingot reduce --crash FILE` reads the command from there.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

_RUN = re.compile(r"^// RUN: ingot (?P<words>.*)$", re.M)


def write_reproducer(text: str, command: Sequence[str], error: BaseException) -> Path:
    """Leave a file that `command` (without `ingot`, `%s` for the file) fails on; its path."""
    words = " ".join(word if word in ("%s", "%t") else shlex.quote(word) for word in command)
    digest = hashlib.sha256(f"{words}\n{text}".encode()).hexdigest()[:12]
    path = Path(tempfile.gettempdir()) / f"ingot-reproducer-{digest}.mlir"
    first = str(error).strip().splitlines()[0] if str(error).strip() else ""
    run = f"// RUN: ingot {words}\n" if words else ""
    path.write_text(f"// {type(error).__name__}: {first}\n{run}{text}\n", encoding="utf-8")
    return path


def split_head(text: str) -> tuple[str, str]:
    """The comments at the start of a program, and the rest."""
    lines = text.splitlines(keepends=True)
    count = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return "".join(lines[:count]), "".join(lines[count:])


def command_of(text: str) -> list[str] | None:
    """The words after `ingot` in the first RUN line at the start of a program, if there is one."""
    found = _RUN.search(split_head(text)[0])
    return shlex.split(found["words"]) if found is not None else None
