"""lit configuration: every `.mlir` file under test/ with a RUN line, against the local build."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parent
bin_dir = Path(sys.executable).parent

config.name = "ingot"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".test", ".tin"]  # noqa: F821
config.excludes = ["unit", "e2e", "embed", "Inputs", "fuzz"]  # noqa: F821
config.test_source_root = str(root)  # noqa: F821
config.test_exec_root = str(root / "build" / "lit")  # noqa: F821

path = [str(bin_dir), *(p for p in ("/usr/lib/llvm-19/bin",) if Path(p).is_dir())]
config.environment["PATH"] = ":".join([*path, config.environment["PATH"]])  # noqa: F821

config.environment["INGOT_CACHE_DIR"] = str(root / "build" / "lit" / "cache")  # noqa: F821

# What test/support/refusals/list_unreached.py asks of every process.
config.environment.update(  # noqa: F821
    {name: os.environ[name] for name in ("PYTHONPATH", "INGOT_REFUSALS_LOG") if name in os.environ}
)

# `ingot` by itself would also match inside `ingot-opt`, so the tools are found by PATH only.
for feature, program in {
    "mlir-opt": ("mlir-opt-19", "mlir-opt"),
    "mlir-translate": ("mlir-translate-19", "mlir-translate"),
    "clang": ("clang-19", "clang"),
}.items():
    found = next((p for name in program if (p := shutil.which(name))), None)
    if found is not None:
        config.available_features.add(feature)  # noqa: F821
        config.substitutions.append((rf"%{feature}\b", found))  # noqa: F821
config.substitutions.append(("%examples", str(root / "examples")))  # noqa: F821
