"""`make fuzz-bundles`: libFuzzer on the C library, then atheris on the Python runtime.

Both begin with real bundles, and go on with what earlier runs found (build/fuzz-bundles). What
fails is left there; `test_bundles.py` is the place for its kind.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from support.bundles import small_bundles
from support.harness import ROOT

from fuzz.bundles.exercise import joined

EMBED, TESTS = ROOT / "runtime" / "embed", ROOT / "test" / "embed"
SOURCES = ("checking_device.c", "exercise.c", "fuzz_bundle.c")
WORDS = ("INGT", "metal", "vulkan", "safe", "dtype", "shape", "data_offsets", "I8", "__metadata__")
"""What a mutation does not guess."""


def main() -> int:
    """Fuzz; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each of the two")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz-bundles")
    options = parser.parse_args()
    folder: Path = options.folder
    seeds, dictionary = folder / "seeds", folder / "words.txt"
    seeds.mkdir(parents=True, exist_ok=True)
    for name, bundle, weights in small_bundles():
        (seeds / name).write_bytes(joined(bundle, weights))
    dictionary.write_text("".join(f'"{word}"\n' for word in WORDS))
    failed = False
    for name, command in (("c", _c_target(folder)), ("python", _python_target())):
        corpus = folder / f"corpus-{name}"
        corpus.mkdir(exist_ok=True)
        limits = (
            f"-max_total_time={int(60 * options.minutes)}",
            "-max_len=16384",
            "-timeout=20",
            "-rss_limit_mb=1024",
            f"-dict={dictionary}",
            f"-artifact_prefix={folder}/{name}-",
            "-print_final_stats=1",
        )
        print(f"{name}: {options.minutes:g} minutes", flush=True)
        path = os.pathsep.join([str(ROOT / "test"), os.environ.get("PYTHONPATH", "")])
        failed |= bool(
            subprocess.call(
                [*command, *limits, str(corpus), str(seeds)], env=os.environ | {"PYTHONPATH": path}
            )
        )
    return int(failed)


def _c_target(folder: Path) -> list[str]:
    """Build the target of libFuzzer; needs clang's runtime (`apt install libclang-rt-19-dev`)."""
    clang = next((c for v in (19, 20, 21, 22) if (c := shutil.which(f"clang-{v}"))), "clang")
    output = folder / "fuzz_bundle"
    command = [clang, "-std=c11", "-g", "-O1", "-fsanitize=fuzzer,address,undefined"]
    command += ["-fno-sanitize-recover=all", *(f"-I{p}" for p in (EMBED / "include", EMBED, TESTS))]
    sources = [*EMBED.glob("*.c"), *(TESTS / name for name in SOURCES)]
    subprocess.run([*command, *map(str, sources), "-o", str(output)], check=True)
    return [str(output)]


def _python_target() -> list[str]:
    if find_spec("atheris") is None:
        sys.exit("atheris is missing: pip install -e '.[fuzz]'")
    return [sys.executable, "-m", "fuzz.bundles.python_target"]


if __name__ == "__main__":
    sys.exit(main())
