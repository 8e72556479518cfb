"""The C library's Metal back end on a stand-in for Metal in Objective-C, in this process.

`test/embed/apple` has the stand-in: objects that keep Metal's rules. Kernels run here, on the
`host` device's engine. Needs clang and GCC's runtime for Objective-C.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ingot.runtime.devices.host.binding import Binding
from ingot.runtime.errors import DeviceError

from .harness import ROOT
from .metal_stand_in.libraries import MTLComputePipelineState, library_of

EMBED = ROOT / "runtime" / "embed"
APPLE = ROOT / "test" / "embed" / "apple"
INCLUDES = [f"-I{EMBED / 'include'}", f"-I{EMBED / 'metal' / 'include'}", f"-I{APPLE / 'include'}"]
API = ("metal", "vulkan")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wundeclared-selector"]

_U32 = ctypes.POINTER(ctypes.c_uint32)
_Message = ctypes.POINTER(ctypes.c_char * 256)
_HOOKS = {
    "compile": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, _Message),
    "find": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p),
    "members": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int),
    "needs": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_uint),
    "run": ctypes.CFUNCTYPE(
        ctypes.c_int,
        ctypes.c_int,
        _U32,
        _U32,
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(ctypes.c_uint64),
        ctypes.c_uint,
        _Message,
    ),
}


def find_clang() -> str:
    """A clang, or the test is skipped."""
    names = ("clang", *(f"clang-{version}" for version in range(22, 15, -1)))
    found = next((name for name in names if shutil.which(name)), None)
    if found is None:
        pytest.skip("no clang")
    return found


MEMORY = {
    "without ARC": ["-fobjc-runtime=gcc"],
    # `arc.m` says how this comes to run on GCC's runtime.
    "with ARC": ["-fobjc-runtime=objfw", "-fobjc-arc"],
}


def build_back_ends(output: Path) -> Path:
    """Compile the back end in each way, its stand-in and a program around them into a library."""
    common = [find_clang(), "-fblocks", "-g", "-fPIC", *WARNINGS, *INCLUDES, f"-I{APPLE}"]
    common.append(f"-I{EMBED / 'vulkan'}")
    parts: list[str] = []
    for number, options in enumerate(MEMORY.values()):
        # The program that calls a bundle opens this device instead of Vulkan's.
        names = {f"ingot_{api}_{do}": f"{do}_{number}" for api in API for do in ("open", "close")}
        names["main"] = f"run_bundle_{number}"
        renamed = [f"-D{old}={new}" for old, new in names.items()]
        for source in (EMBED / "metal" / "ingot_metal.m", ROOT / "test/embed/run_bundle.c"):
            parts.append(str(output.with_name(f"{source.stem}{number}.o")))
            used = options if source.suffix == ".m" else []
            _compile([*common, *renamed, *used, "-c", str(source), "-o", parts[-1]])
    command = [*common, "-fobjc-runtime=gcc", "-shared", *parts, "-o", str(output)]
    command += ["-x", "objective-c", *map(str, APPLE.glob("*.m"))]
    _compile([*command, "-x", "c", *map(str, EMBED.glob("*.c")), "-lobjc"])
    return output


def _compile(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if "cannot find -lobjc" in done.stderr or "unable to find library -lobjc" in done.stderr:
        pytest.skip("no runtime for Objective-C (libobjc-*-dev)")
    assert done.returncode == 0, done.stderr


class BackEnd:
    """One of the back ends of the loaded library, with the engine behind its kernels."""

    def __init__(self, path: Path, memory: str) -> None:
        self._library = ctypes.CDLL(str(path))
        self._program = f"run_bundle_{list(MEMORY).index(memory)}"
        self._kernels: list[tuple[MTLComputePipelineState, int]] = []
        self._libraries: list[tuple[Any, str]] = []
        self.failure = ""
        """What the next kernel fails with, if anything."""
        self.sources: list[tuple[str, bool]] = []
        """What was compiled, and whether with fast math."""
        self._hooks = [kind(getattr(self, f"_{name}")) for name, kind in _HOOKS.items()]

    def run_bundle(self, words: Sequence[str]) -> int:
        """Run `run_bundle.c`; returns its status."""
        hooks = (ctypes.c_void_p * len(_HOOKS)).in_dll(self._library, "stand_in_hooks")
        for position, hook in enumerate(self._hooks):
            hooks[position] = ctypes.cast(hook, ctypes.c_void_p)
        encoded = [word.encode() for word in ("run_bundle", *words)]
        arguments = (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
        return getattr(self._library, self._program)(len(encoded), arguments)

    @property
    def broken_rule(self) -> str | None:
        """The first of Metal's rules that was broken."""
        rule = ctypes.c_char_p.in_dll(self._library, "stand_in_rule").value
        return rule.decode() if rule is not None else None

    @property
    def objects(self) -> int:
        """How many objects nobody has let go."""
        return ctypes.c_long.in_dll(self._library, "stand_in_objects").value

    def _compile(self, source: bytes, is_fast: int, message: Any) -> int:
        text = source.decode()
        self.sources.append((text, bool(is_fast)))
        library, error = library_of(text)
        if library is None:
            assert error is not None
            message.contents.value = error.localizedDescription().encode()[:255]
            return -1
        self._libraries.append((library, text))
        return len(self._libraries) - 1

    def _find(self, library: int, entry: bytes) -> int:
        loaded, text = self._libraries[library]
        function = loaded.newFunctionWithName_(entry.decode())
        if function is None:
            return -1
        state = MTLComputePipelineState(function.kernel)
        self._kernels.append((state, text.count("[[id(")))
        return len(self._kernels) - 1

    def _members(self, kernel: int) -> int:
        return self._kernels[kernel][1]

    def _needs(self, kernel: int, index: int) -> int:
        return index in self._kernels[kernel][0].buffers

    def _run(
        self, kernel: int, groups: Any, threads: Any, at: Any, sizes: Any, count: int, message: Any
    ) -> int:
        state = self._kernels[kernel][0]
        bindings = [
            Binding(state.buffers.get(index, f"buffer {index}"), at[index] or 0, sizes[index])
            for index in range(min(count, max(state.buffers) + 1))
        ]
        failure, self.failure = self.failure, ""
        try:
            if failure:
                raise DeviceError(failure)
            state.kernel.run(bindings, tuple(groups[:3]), tuple(threads[:3]), guard=False)
        except DeviceError as error:
            message.contents.value = str(error).encode()[:255]
            return 1
        return 0
