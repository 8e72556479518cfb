"""Finding a clang for the host device.

Kernels need `_Float16` in C++ on x86-64, which clang has since version 15 and does well since 16;
Debian 12's default, version 14, cannot compile them. The checking mode needs C++ for OpenCL, which
zig's clang is built without.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ingot.runtime.devices.cache import digest
from ingot.runtime.devices.host.cache import build_once, cache_directory
from ingot.runtime.devices.host.errors import ClangNotFoundError

OLDEST_CLANG = 16
OLDEST_CHECKER = 17
NEWEST_NAME = 30
"""Names `clang-16` to `clang-30` are looked for, the newest first."""
_INSTALL = "apt install clang-19, or pip install ziglang, or on macOS xcode-select --install"


@dataclass(frozen=True)
class Clang:
    """A compiler command that works."""

    command: tuple[str, ...]
    version: str
    """As it reports it: `19.1.7`."""
    is_zig: bool = False

    @property
    def identity(self) -> str:
        """Changes when the compiler does: its command, version, and the file's size and time."""
        status = os.stat(self.command[0])
        return f"{self.command} {self.version} {status.st_size} {status.st_mtime_ns}"

    @property
    def can_check(self) -> bool:
        """Whether it knows C++ for OpenCL, with arithmetic on bfloat."""
        return not self.is_zig and int(self.version.split(".")[0]) >= OLDEST_CHECKER


@cache
def find_clang() -> Clang:
    """Return the clang that the host device uses: `INGOT_CLANG`, the newest on PATH, Xcode, zig.

    Raises `ClangNotFoundError`, which says what to install.
    """
    if sys.platform == "win32":
        raise ClangNotFoundError("the host device runs on Linux and macOS only")
    override = os.environ.get("INGOT_CLANG")
    if override:
        clang = _probe(shlex.split(override))
        if isinstance(clang, str):
            raise ClangNotFoundError(f"INGOT_CLANG is '{override}', but {clang}")
        return clang
    reasons: list[str] = []
    for command in _candidates():
        clang = _probe(command)
        if isinstance(clang, Clang):
            return clang
        reasons.append(clang)
    why = f" ({reasons[0]})" if reasons else ""
    raise ClangNotFoundError(
        f"the host device needs clang {OLDEST_CLANG} or newer and found none{why}: {_INSTALL}"
    )


@cache
def find_checker() -> Clang:
    """Return the clang of the checking mode: `find_clang`'s, or another one that can check.

    Raises `ClangNotFoundError`, which says what to install.
    """
    clang = find_clang()
    if clang.can_check:
        return clang
    for command in _candidates():
        other = _probe(command)
        if isinstance(other, Clang) and other.can_check:
            return other
    raise ClangNotFoundError(
        f"checking MSL needs a clang {OLDEST_CHECKER} or newer with C++ for OpenCL, which "
        f"'{shlex.join(clang.command)}' is not: apt install clang-19, or on macOS brew install llvm"
    )


def _candidates() -> Iterator[list[str]]:
    for number in range(NEWEST_NAME, OLDEST_CLANG - 1, -1):
        path = shutil.which(f"clang-{number}")
        if path:
            yield [path]
    path = shutil.which("clang")
    # macOS's own is a stub for the one that xcrun finds, and does not change when that one does.
    if path and not (sys.platform == "darwin" and path == "/usr/bin/clang"):
        yield [path]
    if sys.platform == "darwin":
        xcrun = shutil.which("xcrun")
        if xcrun:
            found = subprocess.run([xcrun, "--find", "clang"], capture_output=True, text=True)
            if found.returncode == 0:
                yield [found.stdout.strip()]
        for prefix in ("/opt/homebrew/opt/llvm", "/usr/local/opt/llvm"):
            if Path(prefix, "bin/clang").exists():
                yield [f"{prefix}/bin/clang"]
    zig = importlib.util.find_spec("ziglang")
    if zig is not None and zig.origin is not None:
        yield [str(Path(zig.origin).parent / "zig"), "cc"]


def _probe(command: list[str]) -> Clang | str:
    """The clang behind a command, or why it cannot be used."""
    path = shutil.which(command[0])
    if path is None:
        return f"there is no '{command[0]}'"
    command = [path, *command[1:]]
    report = _version_report(command)
    if isinstance(report, OSError | subprocess.SubprocessError):
        return f"'{shlex.join(command)}' does not run: {report}"
    match = re.search(r"clang version (\d+)[.\d]*", report)
    if match is None:
        return f"'{shlex.join(command)}' is no clang"
    version = match.group().removeprefix("clang version ")
    # Apple numbers its clang on its own; version 15 is based on LLVM 16.
    oldest = 15 if "Apple" in report else OLDEST_CLANG
    if int(match.group(1)) < oldest:
        return f"'{shlex.join(command)}' is version {version}, without _Float16 in C++ on every CPU"
    return Clang(tuple(command), version, is_zig="zig" in Path(path).name)


def _version_report(command: list[str]) -> str | OSError | subprocess.SubprocessError:
    """What `--version` prints, from the cache while the file is the same."""
    file = Path(command[0]).resolve()
    status = file.stat()
    key = digest(*command, str(file), str(status.st_size), str(status.st_mtime_ns))
    remembered = cache_directory() / f"clang-{key}.txt"
    try:
        return remembered.read_text("utf-8")
    except OSError:
        pass
    try:
        run = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        return error
    if run.returncode == 0:
        build_once(remembered, lambda path: path.write_text(run.stdout, "utf-8"))
    return run.stdout


@cache
def cpu_identity() -> str:
    """What `-march=native` depends on: the machine and its instruction set extensions."""
    extensions = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            extensions = next((x for x in lines if x.startswith(("flags", "Features"))), "")
    except OSError:
        extensions = platform.processor()
    return f"{platform.system()} {platform.machine()} {extensions}"
