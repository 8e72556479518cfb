"""Reference pages of the dialects, from their IRDL definitions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast

from xdsl.dialects.builtin import ArrayOfConstraint, UnregisteredAttr, UnregisteredOp
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    MessageConstraint,
    OpDef,
    OptionalDef,
    ParamAttrConstraint,
    RangeLengthConstraint,
    RangeOf,
    VarConstraint,
    VariadicDef,
)

from ingot.compiler.dialects.context import DIALECTS
from ingot.compiler.dialects.linalg.named import NamedOp
from ingot.compiler.dialects.tosa.base import TosaOp
from reference.text import code, docstring, prose, summary, table

HIDDEN = (UnregisteredOp, UnregisteredAttr)
"""What stands for an op or attribute that nobody defined, and so is none of the dialect."""

_WORDS: dict[str, str] = {
    "integer_type": "integer",
    "affine_map": "affine map",
    "symbol_ref": "symbol",
    "fun": "function type",
    "dense": "dense elements",
    "array": "array",
    "integer": "integer attribute",
}
"""What people call xDSL's names of builtin attributes."""


@cache
def dialect(name: str) -> Dialect:
    """The dialect `name`, imported."""
    module, attribute = DIALECTS[name]
    return cast("Dialect", getattr(import_module(module), attribute))


def operations(name: str) -> list[type[IRDLOperation]]:
    """The ops of a dialect by name."""
    found = [op for op in dialect(name).operations if op not in HIDDEN]
    return sorted(cast("list[type[IRDLOperation]]", found), key=lambda op: op.name)


def attributes(name: str) -> list[type[Attribute]]:
    """The attributes and types of a dialect by name."""
    found = [attribute for attribute in dialect(name).attributes if attribute not in HIDDEN]
    return sorted(found, key=lambda attribute: attribute.name)


def _word(attribute: type[Attribute]) -> str:
    name = getattr(attribute, "name", "")
    if not name:  # a base class of attributes: ShapedType
        return " ".join(re.findall(r"[A-Z][a-z0-9]*", attribute.__name__)).lower()
    if "." in name:
        return code(("!" if issubclass(attribute, TypeAttribute) else "#") + name)
    return _WORDS.get(name, name.replace("_", " "))


def constraint(found: object) -> str:
    """A constraint in words: `tensor`, `i32 or index`, `array of string`, `any`."""
    match found:
        case RangeLengthConstraint() | MessageConstraint() | VarConstraint():
            inner: Any = found
            return constraint(
                getattr(inner, "constr", None) or inner.constraint  # by the kind of constraint
            )
        case RangeOf():
            return constraint(cast("Any", found).constr)
        case AnyOf():
            return " or ".join(dict.fromkeys(map(constraint, cast("Any", found).attr_constrs)))
        case EqAttrConstraint():
            return code(str(cast("Any", found).attr))
        case ArrayOfConstraint():
            return f"array of {constraint(cast('Any', found).elem_range_constraint)}"
        case BaseAttr():
            return _word(cast("Any", found).attr)
        case ParamAttrConstraint():
            parametrized: Any = found
            word = _word(parametrized.base_attr)
            exact = [c for c in parametrized.param_constrs if isinstance(c, EqAttrConstraint)]
            if word in ("integer attribute", "array") and exact:
                return f"{code(str(cast('Any', exact[0]).attr))} {word.split()[0]}"
            return word
        case AttrConstraint():
            return "any"
        case _:
            return type(found).__name__


def _count(definition: object) -> str:
    match definition:
        case OptionalDef():
            return "optional"
        case VariadicDef():
            return "any number"
        case _:
            return ""


def _rows(op: type[IRDLOperation], definition: OpDef) -> Iterator[tuple[str, str, str]]:
    """What an op is made of: role, name, what it may be."""

    def described(kind: str, definition: object, count: str) -> str:
        return ", ".join(filter(None, (kind, count)))

    if issubclass(op, TosaOp):
        spec = op.SPEC
        words = {"?": "optional", "*": "any number"}
        for name in spec.operands.split():
            yield (
                "operand",
                name.rstrip("?*"),
                ", ".join(filter(None, ["tensor", words.get(name[-1])])),
            )
        for name in spec.properties.split():
            yield "attribute", name.rstrip("?"), "optional" if name.endswith("?") else ""
        if spec.results != 0:
            yield (
                "result",
                "",
                "tensor" if spec.results == 1 else f"tensor, {spec.results or 'any number'}",
            )
        return
    for name, operand in definition.operands:
        yield "operand", name, described(constraint(operand.constr), operand, _count(operand))
    named: Mapping[str, Any] = {**definition.properties, **definition.attributes}
    for name, attribute in named.items():
        if name.endswith("SegmentSizes") or name.endswith("_segment_sizes"):
            continue
        yield (
            "attribute",
            name,
            described(constraint(attribute.constr), attribute, _count(attribute)),
        )
    for name, region in definition.regions:
        yield "region", name, _count(region)
    for name, successor in definition.successors:
        yield "successor", name, _count(successor)
    for name, result in definition.results:
        yield "result", name, described(constraint(result.constr), result, _count(result))


def _own_doc(op: type[object]) -> str | None:
    """The class's docstring, or that of the class of ours that it shares its syntax with."""
    for kind in op.__mro__:
        doc = kind.__dict__.get("__doc__")
        if kind is op and doc:
            return cast("str", doc)
        if kind.__module__.startswith("ingot.") and kind is not op and doc:
            return cast("str", doc)
    return None


def _loops(op: type[NamedOp]) -> str:
    spec = op.SPEC
    if spec.elementwise:
        return "Elementwise, of any rank: all loops are parallel."
    maps = [f"`[{text}]`" for text in spec.maps]
    return f"Loops `{', '.join(spec.loops)}`: {', '.join(maps[:-1])} to {maps[-1]}."


def _traits(definition: OpDef) -> str:
    names = sorted({type(trait).__name__ for trait in definition.traits.traits})
    return f"Traits: {', '.join(map(code, names))}.\n" if names else ""


def _operation(op: type[IRDLOperation]) -> str:
    definition = op.get_irdl_definition()
    parts = [f"### `{op.name}`\n"]
    if issubclass(op, NamedOp):
        parts.append(_loops(op) + "\n")
    elif doc := _own_doc(op):
        parts.append(docstring(doc))
    if definition.assembly_format:
        form = " ".join(inspect.cleandoc(definition.assembly_format).split())
        parts.append(f"```text\n{op.name} {form}\n```\n")
    rows = [(role, code(name) if name else "", what) for role, name, what in _rows(op, definition)]
    if rows:
        parts.append(table(("", "name", "what it is"), rows))
    parts.append(_traits(definition))
    return "\n".join(filter(None, parts))


def _attribute(attribute: type[Attribute]) -> str:
    sign = "!" if issubclass(attribute, TypeAttribute) else "#"
    name = attribute.name
    parts = [f"### `{sign if '.' in name else ''}{name}`\n"]
    doc = attribute.__doc__ or ""
    if doc and not doc.startswith(f"{attribute.__name__}("):
        parts.append(docstring(doc))
    if issubclass(attribute, ParametrizedAttribute):
        parameters = attribute.get_irdl_definition().parameters
        rows = [(code(name), constraint(p.constr)) for name, p in parameters]
        if rows:
            parts.append(table(("parameter", "what it is"), rows))
    return "\n".join(parts)


def _module_doc(name: str) -> str:
    return import_module(DIALECTS[name][0]).__doc__ or ""


def is_ours(name: str) -> bool:
    """Whether Ingot defines the dialect or completes it; the others are xDSL's as they are."""
    return DIALECTS[name][0].startswith("ingot.")


def page(name: str) -> str:
    """The page of one dialect."""
    module = DIALECTS[name][0]
    parts = [f"# The `{name}` dialect\n"]
    if is_ours(name):
        parts.append(docstring(_module_doc(name)))
        parts.append(f"Defined in `{module.removeprefix('ingot.').replace('.', '/')}`.\n")
    else:
        parts.append(f"As `{module}` of xDSL defines it.\n")
    if ops := operations(name):
        parts.append("## Ops\n")
        parts += map(_operation, ops)
    if found := attributes(name):
        parts.append("## Attributes and types\n")
        parts += map(_attribute, found)
    return "\n".join(parts)


def overview(folder: str) -> str:
    """The table of all dialects; their pages lie in `folder`."""
    rows = [
        (
            f"[`{name}`]({folder}/{name}.md)",
            str(len(operations(name))),
            str(len(attributes(name))),
            summary(_module_doc(name)) if is_ours(name) else prose("as in xDSL"),
        )
        for name in DIALECTS
    ]
    return table(("dialect", "ops", "attributes and types", ""), rows)
