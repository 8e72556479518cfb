"""The fiber engine: built from C++ on first use, kept in the cache, called through ctypes."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ingot.runtime.devices.cache import digest
from ingot.runtime.devices.host.cache import (
    build_once,
    cache_directory,
    engine_files,
    header_files,
)
from ingot.runtime.devices.host.toolchain import Clang, cpu_identity, find_clang
from ingot.runtime.errors import DeviceError

_FLAGS = (
    "-x",
    "c++",
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-Wall",
    "-Wextra",
    "-pthread",
)
MAX_THREADS = 1024
"""Threads of a threadgroup; as in worker.h."""


class Region(ctypes.Structure):
    """`ingot_region` of memory.h."""

    mapping: int
    mapping_size: int
    data: int
    size: int
    _fields_ = (
        ("mapping", ctypes.c_void_p),
        ("mapping_size", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
    )


class Fault(ctypes.Structure):
    """`ingot_fault` of dispatch.h."""

    kind: int
    write: int
    address: int
    thread: ctypes.Array[ctypes.c_uint32]
    thread_known: int
    threadgroup: ctypes.Array[ctypes.c_uint32]
    variable: int
    offset: int
    size: int
    other_thread: ctypes.Array[ctypes.c_uint32]
    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("write", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("thread", ctypes.c_uint32 * 3),
        ("thread_known", ctypes.c_uint32),
        ("threadgroup", ctypes.c_uint32 * 3),
        ("variable", ctypes.c_int32),
        ("offset", ctypes.c_int64),
        ("size", ctypes.c_uint64),
        ("other_thread", ctypes.c_uint32 * 3),
    )


class Dispatch(ctypes.Structure):
    """`ingot_dispatch` of dispatch.h."""

    _fields_ = (
        ("thread_entry", ctypes.c_void_p),
        ("group_entry", ctypes.c_void_p),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("threadgroup_lengths", ctypes.POINTER(ctypes.c_uint64)),
        ("threadgroup_buffers", ctypes.c_uint32),
        ("groups", ctypes.c_uint32 * 3),
        ("threadgroup_size", ctypes.c_uint32 * 3),
        ("order", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("workers", ctypes.c_uint32),
        ("poison", ctypes.c_uint32),
    )


@dataclass(frozen=True)
class Engine:
    """The loaded library."""

    library: ctypes.CDLL
    path: Path


@cache
def engine() -> Engine:
    """Build the engine when the cache lacks it, and load it."""
    return load_engine(build_engine(find_clang()))


def load_engine(path: Path) -> Engine:
    """Load the library; its symbols serve the kernels that are loaded later."""
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise DeviceError(f"the host device's engine cannot be loaded: {error}") from error
    library.ingot_region_allocate.argtypes = (
        ctypes.c_size_t,
        ctypes.c_size_t,
        ctypes.c_size_t,
        ctypes.POINTER(Region),
    )
    library.ingot_region_allocate.restype = ctypes.c_int
    library.ingot_region_free.argtypes = (ctypes.POINTER(Region),)
    library.ingot_region_free.restype = None
    library.ingot_run.argtypes = (ctypes.POINTER(Dispatch), ctypes.POINTER(Fault))
    library.ingot_run.restype = ctypes.c_int
    return Engine(library, path)


def build_engine(clang: Clang, extra_flags: tuple[str, ...] = ()) -> Path:
    """Return the engine's library, compiled with `clang` and kept in the cache."""
    flags = (*_FLAGS, *extra_flags)
    sources = engine_files()
    key = digest(
        clang.identity,
        cpu_identity(),
        *flags,
        header_files()["metal/abi.h"],
        *(part for item in sources.items() for part in item),
    )
    suffix = "dylib" if sys.platform == "darwin" else "so"

    def build(made: Path) -> None:
        folder = made.parent / "engine"
        folder.mkdir()
        (made.parent / "include/metal").mkdir(parents=True)
        (made.parent / "include/metal/abi.h").write_text(header_files()["metal/abi.h"], "utf-8")
        for name, text in sources.items():
            (folder / name).write_text(text, "utf-8")
        files = [str(folder / name) for name in sources if name.endswith(".cpp")]
        command = [*clang.command, *flags, "-shared", *files, "-o", str(made), "-lm"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            raise DeviceError(f"the host device's engine does not compile:\n{run.stderr}")

    return build_once(cache_directory() / f"engine-{key}.{suffix}", build)
