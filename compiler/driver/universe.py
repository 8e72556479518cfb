"""What `xdsl-opt` and the other xDSL tools find under the entry point `xdsl.universe`.

xDSL refuses a name that two universes define, so only what it lacks is offered: dialects that are
Ingot's alone, and all passes under their own names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect
from xdsl.transforms import get_all_passes
from xdsl.universe import Universe

from ingot.compiler.dialects.context import DIALECTS, make_context
from ingot.compiler.driver.registry import get_pass, ingot_passes


def _dialects() -> dict[str, Callable[[], Dialect]]:
    taken = get_all_dialects()
    return {name: partial(_load, name) for name in DIALECTS if name not in taken}


def _load(name: str) -> Dialect:
    context = make_context()
    context.load_registered_dialect(name)
    return context.get_dialect(name)


INGOT_UNIVERSE = Universe(
    all_dialects=_dialects(),
    all_passes={
        name: partial(get_pass, name) for name in ingot_passes() if name not in get_all_passes()
    },
)
