"""The compile cache: headers, their precompiled form, the engine and kernels, by content hash.

Safe for processes that run at the same time: everything is made under a temporary name and renamed.
A damaged or deleted cache is made anew; nothing in it is needed to be kept.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ingot.runtime.devices.cache import cache_folder, digest, forget_oldest, publish
from ingot.runtime.devices.host.vector_types import vector_types_header

_PACKAGE = Path(__file__).parent
_DAY = 24 * 60 * 60
MOST_KERNELS = 8192
"""Compiled and checked kernels that the cache keeps; about 20 kB each."""


def cache_directory() -> Path:
    """The folder of the cache, made when missing."""
    return cache_folder("host")


def build_once(path: Path, build: Callable[[Path], object]) -> Path:
    """Return `path`; when it is missing, `build` makes it under the name that it is given."""
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".build-") as scratch:
        made = Path(scratch) / path.name
        build(made)
        publish(made, path)
    return path


def link(existing: Path, path: Path) -> None:
    """Give a file of the cache a second name."""
    scratch = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        os.link(existing, scratch)
    except OSError:  # a file system without hard links
        shutil.copyfile(existing, scratch)
    try:
        os.replace(scratch, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            scratch.unlink()


def prune() -> None:
    """Forget the kernels that were not used for longest, when there are very many."""
    files = os.scandir(cache_directory())
    forget_oldest((e for e in files if e.name.startswith(("kernel-", "check-"))), MOST_KERNELS)
    _forget_interrupted()


def _forget_interrupted() -> None:
    """Remove what processes left that were killed while they made something, a day later."""
    for entry in os.scandir(cache_directory()):
        with contextlib.suppress(OSError):
            if not entry.name.startswith(".") or time.time() - entry.stat().st_mtime < _DAY:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


@cache
def header_files() -> dict[str, str]:
    """The header set by relative path, the generated one included."""
    root = _PACKAGE / "include"
    files = {
        str(path.relative_to(root)): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    files["metal/vector_types.h"] = vector_types_header()
    return files


@cache
def engine_files() -> dict[str, str]:
    """The sources of the engine by file name."""
    root = _PACKAGE / "engine"
    return {path.name: path.read_text("utf-8") for path in sorted(root.iterdir())}


@cache
def headers_digest() -> str:
    """A hash of the header set, and of what generates the rest of it."""
    root = _PACKAGE / "include"
    files = [*(p for p in sorted(root.rglob("*")) if p.is_file()), _PACKAGE / "vector_types.py"]
    return digest(*(part for p in files for part in (p.name, p.read_bytes())))


@cache
def header_names() -> frozenset[str]:
    """Every word of the header set: a superset of the names that it declares."""
    return frozenset(re.findall(r"\w+", " ".join(header_files().values())))


def include_directory() -> Path:
    """A folder in the cache that holds the header set."""

    def write(folder: Path) -> None:
        for name, text in header_files().items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")

    return build_once(cache_directory() / f"include-{headers_digest()}", write)
