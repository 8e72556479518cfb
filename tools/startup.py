"""What a command may do to its own process for a quick start, and a library may not."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module

from ingot.tools import quick_dataclasses


def lean_process() -> None:
    """Collect garbage rarely, and keep NumPy out of a process that has no use for it.

    A command makes a hundred thousand objects that live until it ends, and the collector would
    look at them over and over: a tenth of a compilation. FlatBuffers imports NumPy only to write
    arrays of it, which bundles do not: another tenth. At the end nothing is collected any more: the
    system takes the memory back at once, and the collector would take a fifth of the time.
    """
    gc.set_threshold(400_000, 20, 20)
    atexit.register(gc.freeze)
    quick_dataclasses.install()
    if "flatbuffers" not in sys.modules:
        sys.meta_path.insert(0, _FlatbuffersWithoutNumpy())


def numpy_in_one_thread() -> None:
    """Let NumPy, if it is still to be imported, start no threads: compiling multiplies nothing.

    OpenBLAS starts one for each core when it is loaded, a tenth of a second of CPU time.
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _FlatbuffersWithoutNumpy:
    """Takes the place of FlatBuffers' look-up of NumPy, which has no switch of its own."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Find nothing; before `flatbuffers.number_types`, answer its question for it."""
        if name == "flatbuffers.number_types":
            sys.meta_path.remove(self)
            compat = import_module("flatbuffers.compat")
            compat.__dict__["import_numpy"] = lambda: None
