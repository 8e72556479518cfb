"""Every pass by its name: Ingot's own, then xDSL's, then those of plugins.

Nothing is imported before it is asked for: a level's `PASSES` lists names only, and the module of
a pass is found by the name (`linalg-fuse-elementwise` lives in `linalg_fuse_elementwise.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from ingot.compiler.plugins import find_pass, pass_origins

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from ingot.compiler.driver.contents import Contents

LEVELS: tuple[str, ...] = (
    "stablehlo",
    "tosa",
    "tensor",
    "dispatch",
    "kernel",
    "lowering",
    "cleanup",
)
"""The folders of `passes/`, in the order of the road; the last is for all levels."""


class UnknownPass(ValueError):
    """A pipeline names a pass that nobody defined; the message offers the closest names."""


@cache
def ingot_passes() -> dict[str, str]:
    """Ingot's passes: name to level, in the order of the levels' lists."""
    return {
        name: level for level in LEVELS for name in import_module(f"ingot.passes.{level}").PASSES
    }


def pass_names() -> tuple[str, ...]:
    """Every name that a pipeline may use, sorted."""
    return tuple(sorted({*ingot_passes(), *_xdsl_passes(), *pass_origins()}))


def is_own_pass(name: str) -> bool:
    """Whether the pass is Ingot's or xDSL's, rather than a plugin's."""
    return name in ingot_passes() or name in _xdsl_passes()


def is_pass(name: str) -> bool:
    """Whether a pipeline may use the name; plugins are looked for last."""
    return is_own_pass(name) or name in pass_origins()


@cache
def _consumed() -> dict[str, tuple[str, ...]]:
    """The passes that act only on some ops or types, from the levels that list any."""
    levels = [import_module(f"ingot.passes.{level}") for level in LEVELS]
    return {name: ops for level in levels for name, ops in getattr(level, "CONSUMES", {}).items()}


def has_work(name: str, contents: Contents) -> bool:
    """Whether the pass `name` may change a module with these contents."""
    consumed = _consumed().get(name)
    return consumed is None or contents.has_any(consumed)


@cache
def get_pass(name: str) -> type[ModulePass]:
    """The class of the pass `name`; raises `UnknownPass`, and `PluginError` for a broken plugin."""
    if (level := ingot_passes().get(name)) is not None:
        return _load(name, level)
    if (factory := _xdsl_passes().get(name)) is not None:
        return factory()
    if (plugin := find_pass(name)) is not None:
        return plugin
    from difflib import get_close_matches

    close = get_close_matches(name, pass_names(), n=3)
    suggestion = f"; did you mean {' or '.join(f'`{c}`' for c in close)}?" if close else ""
    raise UnknownPass(f"there is no pass named `{name}`{suggestion}")


def _load(name: str, level: str) -> type[ModulePass]:
    from xdsl.passes import ModulePass

    module = import_module(f"ingot.passes.{level}.{name.replace('-', '_')}")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, ModulePass)
        and value.__module__ == module.__name__
    ]
    if len(found) != 1 or found[0].name != name:
        raise ImportError(f"{module.__name__} must define exactly one pass, named `{name}`")
    return found[0]


@cache
def _xdsl_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    from xdsl.transforms import get_all_passes

    return get_all_passes()
