"""Metal libraries: a kernel's MSL, compiled ahead of time by Apple's tools.

The tools are `metal` and `metallib`, found by `xcrun`, which only macOS has. A library is made for
one SDK and serves its platform alone: a Mac, a device with iOS, or the simulator. Metal Shading
Language Specification, section 1.6, describes the options.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ingot.targets.bundle.errors import IngotError

Sdk = Literal["macosx", "iphoneos", "iphonesimulator"]
SDKS: Final[tuple[Sdk, ...]] = ("macosx", "iphoneos", "iphonesimulator")

_OLDEST: Final[dict[tuple[int, int], tuple[int, int]]] = {
    (2, 3): (11, 14),
    (2, 4): (12, 15),
    (3, 0): (13, 16),
    (3, 1): (14, 17),
    (3, 2): (15, 18),
    (4, 0): (26, 26),
}
"""The first macOS and iOS that know a version of the language."""


class MetallibError(IngotError):
    """Apple's tools are not here, or refuse a kernel; the text says what to do."""


@dataclass(frozen=True)
class MetalTools:
    """Apple's Metal compiler for one SDK, as `xcrun` finds it."""

    xcrun: str
    sdk: Sdk
    version: str
    """What the compiler and the SDK say of themselves: a part of the keys of caches."""

    @classmethod
    def find(cls, sdk: Sdk) -> MetalTools:
        """Find the tools; raises `MetallibError` where they are not."""
        xcrun = shutil.which("xcrun")
        if xcrun is None:
            raise MetallibError(
                "--metallib needs Apple's Metal compiler, which comes with Xcode for macOS (no "
                "`xcrun` was found): compile on a Mac, or without --metallib, and devices compile "
                "the bundle's MSL when they load it"
            )
        compiler = _run([xcrun, "-sdk", sdk, "metal", "--version"])
        library = _run([xcrun, "-sdk", sdk, "--show-sdk-version"])
        for done in (compiler, library):
            if done.returncode:
                raise MetallibError(
                    f"--metallib {sdk}: xcrun finds no Metal compiler: {_reason(done)}; install "
                    "Xcode, then run `xcodebuild -downloadComponent MetalToolchain`"
                )
        return cls(xcrun, sdk, f"{compiler.stdout.strip()}\nSDK {library.stdout.strip()}")

    def compile(self, name: str, msl: str, math: str, language: tuple[int, int]) -> bytes:
        """The library of one kernel; `name` is for people, `language` the version of MSL.

        Raises `MetallibError` with the compiler's first complaint.
        """
        with tempfile.TemporaryDirectory(prefix="ingot-metallib-") as folder:
            source, air, library = (Path(folder, f"kernel.{x}") for x in ("metal", "air", "lib"))
            source.write_text(msl, encoding="utf-8")
            options = compiler_options(self.sdk, math, language)
            for words in (
                ["metal", *options, "-c", str(source), "-o", str(air)],
                ["metallib", str(air), "-o", str(library)],
            ):
                done = _run([self.xcrun, "-sdk", self.sdk, *words])
                if done.returncode:
                    reason = _reason(done).replace(str(source), f"{name}.metal")
                    raise MetallibError(
                        f"kernel '{name}' does not compile for {self.sdk}: {reason}"
                    )
            return library.read_bytes()


def compiler_options(sdk: Sdk, math: str, language: tuple[int, int]) -> list[str]:
    """What `metal` is told beside the files.

    `-fno-fast-math` is understood by every version of the compiler; those that have
    `-fmetal-math-mode` take it for the safe mode with precise functions, and `-ffast-math` for the
    fast ones. That `strict` contracts nothing is also said by pragmas in the text.
    """
    if language not in _OLDEST:
        raise MetallibError(f"--metallib knows no Metal {language[0]}.{language[1]}")
    mac, phone = _OLDEST[language]
    target = f"macos{mac}.0" if sdk == "macosx" else f"ios{phone}.0"
    target += "-simulator" if sdk == "iphonesimulator" else ""
    major, minor = language
    # The two platforms had languages of their own before version 3.
    dialect = "" if major >= 3 else "macos-" if sdk == "macosx" else "ios-"
    contract = ["-ffp-contract=off"] if math == "strict" else []
    return [
        "-target",
        f"air64-apple-{target}",
        f"-std={dialect}metal{major}.{minor}",
        "-ffast-math" if math == "fast" else "-fno-fast-math",
        *contract,
    ]


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The first line that says error, or else the first line."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return [*errors, *lines, f"exit status {done.returncode}"][0]
