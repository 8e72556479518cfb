"""Finding and loading the shared library of SPIRV-Cross."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from ctypes import byref, c_uint
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .abi import OPTIONAL, REQUIRED
from .errors import LibraryNotFound, UnsupportedVersion

ENVIRONMENT_VARIABLE = "INGOT_SPIRV_CROSS"
"""Path of the shared library to load instead of looking for one."""

INSTALL_HINT = (
    "install SPIRV-Cross (Debian and Ubuntu: apt install libspirv-cross-c-shared0; "
    "macOS: brew install spirv-cross; elsewhere: the Vulkan SDK), "
    f"or set {ENVIRONMENT_VARIABLE} to the path of libspirv-cross-c-shared"
)

_ABI_MAJOR = 0
"""The API's major version counts breaks of the ABI; there has been none since it exists."""


@dataclass(frozen=True)
class Version:
    """Version of the C API (0.54.0 for SPIRV-Cross 1.3.239) and the build's own description."""

    major: int
    minor: int
    patch: int
    revision: str
    """Commit and time of the build, or what a distribution put there instead."""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def candidates(environment: dict[str, str] | None = None) -> Iterator[str]:
    """Paths and loader names in the order in which they are tried.

    INGOT_SPIRV_CROSS, when set, is the only candidate: a wrong path there must not be papered over.
    """
    env = dict(os.environ) if environment is None else environment
    if chosen := env.get(ENVIRONMENT_VARIABLE):
        yield chosen
        return
    stem = "libspirv-cross-c-shared"
    if sys.platform == "darwin":
        names = (f"{stem}.dylib", f"{stem}.0.dylib")
    elif sys.platform == "win32":
        names = ("spirv-cross-c-shared.dll",)
    else:
        names = (f"{stem}.so.0", f"{stem}.so")
    if sdk := env.get("VULKAN_SDK"):
        for folder in ("lib", "Bin"):
            yield from (str(Path(sdk, folder, name)) for name in names)
    yield from names
    if sys.platform == "darwin":
        for prefix in (env.get("HOMEBREW_PREFIX"), "/opt/homebrew", "/usr/local"):
            if prefix:
                yield from (str(Path(prefix, "lib", name)) for name in names)


class Library:
    """A loaded SPIRV-Cross: its functions as attributes, typed, and its version.

    `path` is what the dynamic loader was given.
    """

    def __init__(self, path: str) -> None:
        """Load `path`; raises `OSError` when it cannot be loaded, `UnsupportedVersion` when it
        is something else."""
        self.path = path
        self._dll = ctypes.CDLL(path)
        self._functions: dict[str, Any] = {}
        missing = [name for name, prototype in REQUIRED.items() if not self._bind(name, prototype)]
        if missing:
            raise UnsupportedVersion(
                f"{path} lacks {missing[0]}: SPIRV-Cross 1.3.239 or later is needed"
            )
        for name, prototype in OPTIONAL.items():
            self._bind(name, prototype)
        self.version = self._read_version()
        if self.version.major != _ABI_MAJOR:
            raise UnsupportedVersion(
                f"{path} has version {self.version} of SPIRV-Cross's C API; "
                f"only {_ABI_MAJOR}.x is known"
            )

    def _bind(self, name: str, prototype: tuple[Any, tuple[Any, ...]]) -> bool:
        function = getattr(self._dll, name, None)
        if function is None:
            return False
        function.restype, function.argtypes = prototype[0], prototype[1]
        self._functions[name] = function
        return True

    def _read_version(self) -> Version:
        major, minor, patch = c_uint(), c_uint(), c_uint()
        self.call("spvc_get_version", byref(major), byref(minor), byref(patch))
        revision: bytes = self.call("spvc_get_commit_revision_and_timestamp") or b""
        return Version(major.value, minor.value, patch.value, revision.decode(errors="replace"))

    def has(self, name: str) -> bool:
        """Whether this version exports the function `name`."""
        return name in self._functions

    def call(self, name: str, *arguments: Any) -> Any:
        """Call the C function `name` and return what it returns, unchecked."""
        return self._functions[name](*arguments)


@lru_cache(maxsize=8)
def _load_cached(path: str) -> Library:
    return Library(path)


def load(path: str | os.PathLike[str] | None = None) -> Library:
    """The library at `path`, or the first candidate that loads.

    Raises `LibraryNotFound` when there is none, with one line on how to get it, and
    `UnsupportedVersion` when what was found is not a C API of a known version.
    """
    paths = list(candidates()) if path is None else [os.fspath(path)]
    reason = ""
    for candidate in paths:
        try:
            return _load_cached(candidate)
        except OSError as error:
            # The loader's reason matters only for a file that exists or that the user named.
            if len(paths) == 1 or os.path.exists(candidate):
                reason = f" ({error})"
    raise LibraryNotFound(f"SPIRV-Cross was not found{reason}: {INSTALL_HINT}")
