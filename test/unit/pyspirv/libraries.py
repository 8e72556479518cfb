"""The SPIRV-Cross libraries that the tests run on, each in its own parametrization.

The one that `pyspirv.load` finds, the one that `current_spirv_cross.sh` puts into `build/`, and
those that INGOT_TEST_SPIRV_CROSS lists (paths, separated as PATH is).
"""

from __future__ import annotations

import os
from pathlib import Path

from ingot.targets import pyspirv

_ROOT = Path(__file__).resolve().parents[3]
_BUILT = _ROOT / "build" / "spirv-cross" / "libspirv-cross-c-shared.so"


def spirv_cross_libraries() -> list[pyspirv.Library]:
    """Every library, the default one first, one for each version."""
    found = [pyspirv.load()]
    listed = os.environ.get("INGOT_TEST_SPIRV_CROSS", "").split(os.pathsep)
    paths = [x for x in (*listed, str(_BUILT)) if x and os.path.exists(x)]
    for path in paths:
        library = pyspirv.load(path)
        if all(library.version != other.version for other in found):
            found.append(library)
    return found


LIBRARIES = spirv_cross_libraries()
