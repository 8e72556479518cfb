"""Files that devices keep for the next process: where they lie, and how they get there."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from ingot.runtime.errors import DeviceError


def digest(*parts: str | bytes) -> str:
    """A hash of all parts, as hexadecimal digits."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:32]


def cache_folder(room: str) -> Path:
    """A device's folder of the cache, made when missing; `INGOT_CACHE_DIR` overrides the user's."""
    override = os.environ.get("INGOT_CACHE_DIR")
    root = Path(override) if override else Path(platformdirs.user_cache_dir("ingot", False))
    path = root / room
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DeviceError(
            f"the compile cache '{path}' cannot be made ({error.strerror}); set INGOT_CACHE_DIR"
        ) from error
    return path


def publish(made: Path, path: Path) -> None:
    """Move a finished file or folder to its place, unless another process was faster."""
    try:
        os.replace(made, path)
    except OSError:
        if not path.exists():
            raise


def forget_oldest(files: Iterable[os.DirEntry[str]], most: int) -> None:
    """When there are more than `most` files, remove those that were not used for longest."""
    listed = list(files)
    if len(listed) <= most:
        return
    ages: list[tuple[float, str]] = []
    for entry in listed:
        with contextlib.suppress(FileNotFoundError):
            ages.append((entry.stat().st_mtime, entry.path))
    for _, path in sorted(ages)[: most // 2]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
