"""Passes and dialects of other packages, and of files on the command line.

A package offers a pass under the entry point group `ingot.passes` and a dialect under
`ingot.dialects`, each by its own name:

    [project.entry-points."ingot.passes"]
    count-ops = "my_package.count_ops:CountOpsPass"

Packages are looked through only for names that Ingot and xDSL do not have, and loaded only when
theirs is used. A plugin that is broken ends in a `PluginError`, which names it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass

PASSES = "ingot.passes"
DIALECTS = "ingot.dialects"


class PluginError(Exception):
    """A plugin that cannot be used, in one sentence."""


@dataclass(frozen=True)
class Offer:
    """A name that a package offers, and where it says that it lies."""

    package: str
    entry: EntryPoint

    def load(self) -> object:
        """What the package offers; raises `PluginError`."""
        try:
            return self.entry.load()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise PluginError(f"{self} cannot be loaded: {reason}") from error

    def __str__(self) -> str:
        return f"`{self.entry.name}` of the package {self.package} (`{self.entry.value}`)"


_passes_of_files: dict[str, tuple[type[ModulePass], str]] = {}
_dialects_of_files: dict[str, Dialect] = {}
_files: dict[str, None] = {}


@cache
def offers(group: str) -> dict[str, Offer]:
    """What installed packages offer under an entry point group, by name.

    Of two packages with the same name the alphabetically first is taken.
    """
    from importlib.metadata import entry_points

    found = [Offer(e.dist.name if e.dist else "?", e) for e in entry_points(group=group)]
    return {offer.entry.name: offer for offer in sorted(found, key=str, reverse=True)}


def pass_origins() -> dict[str, str]:
    """The passes of plugins by name, each with its package or file, sorted."""
    names = {name: offer.package for name, offer in offers(PASSES).items()}
    names |= {name: file for name, (_, file) in _passes_of_files.items()}
    return dict(sorted(names.items()))


def loaded_files() -> list[str]:
    """The files that were given to `load_file`, in order."""
    return list(_files)


def forget() -> None:
    """Unload what files brought, and look for packages anew, as a fresh process would."""
    for known in (_passes_of_files, _dialects_of_files, _files):
        known.clear()
    offers.cache_clear()


def find_pass(name: str) -> type[ModulePass] | None:
    """The pass of a plugin; None where no plugin offers the name, `PluginError` where it breaks."""
    from xdsl.passes import ModulePass

    if name in _passes_of_files:
        return _passes_of_files[name][0]
    offer = offers(PASSES).get(name)
    if offer is None:
        return None
    found = offer.load()
    if not (isinstance(found, type) and issubclass(found, ModulePass) and found.name == name):
        raise PluginError(f"{offer} is not a ModulePass of this name")
    return found


def find_dialect(name: str) -> Dialect | None:
    """The dialect of a plugin; None where no plugin offers the name."""
    from xdsl.ir import Dialect

    if name in _dialects_of_files:
        return _dialects_of_files[name]
    offer = offers(DIALECTS).get(name)
    if offer is None:
        return None
    found = offer.load()
    if not (isinstance(found, Dialect) and found.name == name):
        raise PluginError(f"{offer} is not a Dialect of this name")
    return found


def load_file(path: str) -> None:
    """Make the passes and dialects that a Python file defines known; raises `PluginError`."""
    from importlib.util import module_from_spec, spec_from_file_location

    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass

    name = f"ingot_plugin_{Path(path).stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise PluginError(f"the plugin {path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise PluginError(f"the plugin {path} cannot be loaded: {reason}") from error
    values = list(vars(module).values())
    own = [v for v in values if isinstance(v, type) and v.__module__ == name]
    passes = [v for v in own if issubclass(v, ModulePass) and "name" in vars(v)]
    dialects = [v for v in values if isinstance(v, Dialect)]
    if not passes and not dialects:
        raise PluginError(f"the plugin {path} defines no ModulePass and no Dialect")
    _files[path] = None
    _passes_of_files.update({p.name: (p, path) for p in passes})
    _dialects_of_files.update({d.name: d for d in dialects})
