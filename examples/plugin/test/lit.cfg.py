"""lit configuration: `lit test`, in an environment that the package is installed in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lit.formats

config.name = "ingot-doubling"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_exec_root = str(Path(__file__).parent / "Output")  # noqa: F821

# ingot-opt and filecheck lie beside the Python that runs lit.
config.environment["PATH"] = os.pathsep.join(  # noqa: F821
    [str(Path(sys.executable).parent), os.environ["PATH"]]
)
if "PYTHONPATH" in os.environ:
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]  # noqa: F821
