"""Several programs as one: their functions side by side in one module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation

from ingot.compiler.analysis.diagnostics import refuse


def link_modules(modules: Sequence[ModuleOp]) -> ModuleOp:
    """Move everything into the first module, in order, and return it.

    A private symbol whose name is taken gets another. What the first module does not say of itself
    is taken from the next one that does.

    Raises `Refusal` at the second of two public symbols with one name.
    """
    first, *others = modules
    public: dict[str, Operation] = {}
    for module in modules:
        for op in module.ops:
            name = _symbol(op)
            if name is None or _is_private(op):
                continue
            if name in public:
                raise refuse(
                    op,
                    f"the function {name} is in two files of the bundle",
                    "name one of them otherwise, or make bundles of their own",
                )
            public[name] = op
    taken = set(public)
    for module in modules:
        private = [name for op in module.ops if _is_private(op) and (name := _symbol(op))]
        renamed = {name: _free(name, taken | set(private)) for name in private if name in taken}
        taken |= {renamed.get(name, name) for name in private}
        if renamed:
            _rename(module, renamed)
    for module in others:
        for name, value in module.attributes.items():
            first.attributes.setdefault(name, value)
        for op in list(module.ops):
            op.detach()
            first.body.block.add_op(op)
    return first


def _symbol(op: Operation) -> str | None:
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def _is_private(op: Operation) -> bool:
    visibility = op.properties.get("sym_visibility") or op.attributes.get("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.data != "public"


def _free(name: str, taken: set[str]) -> str:
    """`name` with the first number that makes it unlike all others."""
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _rename(module: ModuleOp, names: Mapping[str, str]) -> None:
    """Give symbols of a module, and what refers to them, other names."""
    for op in module.ops:
        name = _symbol(op)
        if name is not None and name in names:
            where = op.properties if "sym_name" in op.properties else op.attributes
            where["sym_name"] = StringAttr(names[name])
    for op in module.walk():
        for values in (op.properties, op.attributes):
            values.update({key: _renamed(value, names) for key, value in values.items()})


def _renamed(value: Attribute, names: Mapping[str, str]) -> Attribute:
    match value:
        case SymbolRefAttr():
            root = value.root_reference.data
            return SymbolRefAttr(names.get(root, root), value.nested_references)
        case ArrayAttr():
            return ArrayAttr(_renamed(item, names) for item in value)
        case DictionaryAttr():
            return DictionaryAttr({key: _renamed(item, names) for key, item in value.data.items()})
        case _:
            return value
