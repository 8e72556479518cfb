"""What was compiled before, by everything that its bytes depend on.

An entry is a file named by the hash of its key, in a folder that may be shared by processes and
machines: it is written beside its place and moved there, so that a reader sees all of it or
nothing, and it begins with the hash of its content, so that a damaged one is found and made again.
Nothing here imports the compiler: a hit costs little more than reading the file.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"INGOTCACHE1\n"
_DIGEST = 32
_SUFFIX = ".entry"
_DEFAULT_LIMIT = 1 << 30
_PRUNED_TO = 0.75
"""How full the cache is after it was cleared of its oldest entries."""


@dataclass(frozen=True)
class Entry:
    """What a compilation gave: the bytes to write, and the warnings to repeat."""

    data: bytes
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Statistics:
    """What a cache holds."""

    folder: Path
    entries: int
    size: int
    """Bytes."""
    limit: int
    """Bytes."""


class Cache:
    """A folder of entries, of `limit` bytes at most."""

    def __init__(self, folder: Path, limit: int = _DEFAULT_LIMIT) -> None:
        self.folder = folder
        self.limit = limit

    @classmethod
    def default(cls) -> Cache:
        """The user's: INGOT_CACHE_DIR or the platform's folder, of INGOT_CACHE_SIZE bytes."""
        from platformdirs import user_cache_path

        folder = os.environ.get("INGOT_CACHE_DIR")
        size = os.environ.get("INGOT_CACHE_SIZE", "")
        limit = int(size) if size.isdecimal() else _DEFAULT_LIMIT
        return cls(Path(folder) if folder else user_cache_path("ingot") / "bundles", limit)

    def get(self, key: str) -> Entry | None:
        """The entry of a key; None where there is none, or what is there is damaged."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        entry = _decode(content)
        with suppress(OSError):
            if entry is None:
                path.unlink()
            else:
                os.utime(path)  # the oldest go first
        return entry

    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry; a cache that cannot be written is left alone."""
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".new")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_encode(entry))
                os.replace(temporary, path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            self._prune()

    def clear(self) -> int:
        """Remove all entries, and what interrupted writers left; returns how many entries."""
        removed = 0
        for path in self._files("*"):
            with suppress(OSError):
                path.unlink()
                removed += path.suffix == _SUFFIX
        return removed

    def statistics(self) -> Statistics:
        """What the folder holds now."""
        sizes = [size for _, size, _ in self._listed()]
        return Statistics(self.folder, len(sizes), sum(sizes), self.limit)

    def _path(self, key: str) -> Path:
        # A folder for each first byte: file systems like small folders.
        return self.folder / key[:2] / f"{key}{_SUFFIX}"

    def _files(self, pattern: str) -> list[Path]:
        return [path for path in self.folder.glob(f"[0-9a-f][0-9a-f]/{pattern}") if path.is_file()]

    def _listed(self) -> list[tuple[float, int, Path]]:
        """Time of the last use, size and path of every entry."""
        found: list[tuple[float, int, Path]] = []
        for path in self._files(f"*{_SUFFIX}"):
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        return found

    def _prune(self) -> None:
        listed = self._listed()
        total = sum(size for _, size, _ in listed)
        if total <= self.limit:
            return
        for _, size, path in sorted(listed):
            with suppress(OSError):
                path.unlink()
                total -= size
            if total <= self.limit * _PRUNED_TO:
                return


def cache_key(parts: Mapping[str, object]) -> str:
    """The key of everything that an output depends on; values are texts, numbers and lists."""
    text = json.dumps({**parts, "code": _code_identity()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _code_identity() -> str:
    """Changes when the compiler does: the content of its sources."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for room in ("compiler", "passes", "targets"):
        for path in sorted((root / room).rglob("*.py")):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _encode(entry: Entry) -> bytes:
    head = json.dumps(list(entry.warnings)).encode()
    body = len(head).to_bytes(8, "little") + head + entry.data
    return _MAGIC + hashlib.sha256(body).digest() + body


def _decode(content: bytes) -> Entry | None:
    body = content[len(_MAGIC) + _DIGEST :]
    digest = content[len(_MAGIC) : len(_MAGIC) + _DIGEST]
    if not content.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        return None
    size = int.from_bytes(body[:8], "little")
    return Entry(body[8 + size :], tuple(json.loads(body[8 : 8 + size])))
