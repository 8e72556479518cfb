"""Reference pages of the dialects, from their IRDL definitions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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

SHARED = 3
"""From how many ops of one form on they share a section."""

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
        case RangeLengthConstraint() | VarConstraint():
            return constraint(cast("Any", found).constraint)
        case RangeOf() | MessageConstraint():
            return constraint(cast("Any", found).constr)
        case AnyOf():
            return _either([constraint(one) for one in cast("Any", found).attr_constrs])
        case EqAttrConstraint():
            return code(str(cast("Any", found).attr))
        case ArrayOfConstraint():
            return f"array of {constraint(cast('Any', found).elem_range_constraint)}"
        case BaseAttr():
            return _word(cast("Any", found).attr)
        case ParamAttrConstraint():
            parametrized: Any = found
            word = _word(parametrized.base_attr)
            exact = [
                str(cast("Any", parameter).attr)
                for parameter in parametrized.param_constrs
                if isinstance(parameter, EqAttrConstraint)
            ]
            if word in ("integer attribute", "array") and exact:
                return f"{code(exact[-1])} {word.split()[0]}"
            return word
        case AttrConstraint():
            return "any"
        case _:
            return type(found).__name__


def _either(words: list[str]) -> str:
    """Alternatives in words; MLIR's float types, all together, are `float`."""
    floats = [word for word in words if re.fullmatch(r"[bt]?f\d+\w*", word)]
    if len(floats) > 6:
        words = ["float" if word in floats else word for word in words]
    return " or ".join(dict.fromkeys(words))


def _count(definition: object) -> str:
    match definition:
        case OptionalDef():
            return "optional"
        case VariadicDef():
            return "any number"
        case _:
            return ""


def _rows(definition: OpDef) -> Iterator[tuple[str, str, str]]:
    """What an op is made of: role, name, what it may be."""
    for name, operand in definition.operands:
        yield "operand", name, _join(constraint(operand.constr), _count(operand))
    named: Mapping[str, Any] = {**definition.properties, **definition.attributes}
    for name, attribute in named.items():
        if not name.lower().replace("_", "").endswith("segmentsizes"):
            yield "attribute", name, _join(constraint(attribute.constr), _count(attribute))
    for name, region in definition.regions:
        yield "region", name, _count(region)
    for name, successor in definition.successors:
        yield "successor", name, _count(successor)
    for name, result in definition.results:
        yield "result", name, _join(constraint(result.constr), _count(result))


def _join(*words: str) -> str:
    return ", ".join(filter(None, words))


def _columns(op: type[IRDLOperation]) -> dict[str, str]:
    """What an op of a dialect's table has of its own, by heading."""
    if issubclass(op, NamedOp):
        spec = op.SPEC
        maps = [code(f"[{text}]") for text in spec.maps]
        return {
            "loops": code(", ".join(spec.loops)) if spec.loops else "all of the output",
            "reads": ", ".join(maps[:-1]),
            "writes": "".join(maps[-1:]),
        }
    if issubclass(op, TosaOp):
        ends = {"?": " (optional)", "*": " (any number)"}

        def listed(names: str) -> str:
            return ", ".join(code(n.rstrip("?*")) + ends.get(n[-1], "") for n in names.split())

        return {"operands": listed(op.SPEC.operands), "attributes": listed(op.SPEC.properties)}
    return {}


@dataclass(frozen=True)
class Form:
    """What ops that one class stands behind have in common."""

    doc: str
    syntax: str
    """The assembly format, or ""."""
    rows: tuple[tuple[str, str, str], ...]
    traits: tuple[str, ...]

    @staticmethod
    def of(op: type[IRDLOperation]) -> Form:
        """The form of an op."""
        definition = op.get_irdl_definition()
        return Form(
            _doc(op),
            " ".join(inspect.cleandoc(definition.assembly_format or "").split()),
            tuple(_rows(definition)) if not issubclass(op, TosaOp) else (),
            tuple(
                sorted(filter(_is_meaning, {type(t).__name__ for t in definition.traits.traits}))
            ),
        )

    def text(self) -> str:
        """The form as Markdown."""
        parts = [docstring(self.doc) if self.doc else ""]
        if self.syntax:
            parts.append(f"```text\n{self.syntax}\n```\n")
        if self.rows:
            rows = [(role, code(name), what) for role, name, what in self.rows]
            parts.append(table(("", "name", "what it is"), rows))
        if self.traits:
            parts.append(f"Traits: {', '.join(map(code, self.traits))}.\n")
        return "\n".join(filter(None, parts))


def _is_meaning(trait: str) -> bool:
    """Whether a trait says what an op does, rather than what rewrites it."""
    return not (trait.startswith("_") or "Canonicalization" in trait)


def _doc(op: type[object]) -> str:
    """The class's docstring, or that of the class of ours that it shares its syntax with."""
    for kind in op.__mro__:
        doc = kind.__dict__.get("__doc__")
        if doc and (kind is op or kind.__module__.startswith("ingot.")):
            return cast("str", doc)
    return ""


def _sections(ops: list[type[IRDLOperation]]) -> Iterator[str]:
    """A section for each op; ops of one form that say no more of themselves share one."""
    alike: dict[Form, list[type[IRDLOperation]]] = {}
    for op in ops:
        alike.setdefault(Form.of(op), []).append(op)
    few = {op: [op] for members in alike.values() if len(members) < SHARED for op in members}
    many = {members[0]: members for members in alike.values() if len(members) >= SHARED}
    for first, members in sorted({**few, **many}.items(), key=lambda item: item[0].name):
        form = Form.of(first)
        if len(members) == 1:
            columns = _columns(first)
            own = "".join(f"- {name}: {text}\n" for name, text in columns.items() if text)
            yield "\n".join(filter(None, (f"### `{first.name}`\n", own, form.text())))
            continue
        rest = len(members) - 1
        headings = list(dict.fromkeys(h for op in members for h in _columns(op)))
        rows = [(code(op.name), *map(_columns(op).__getitem__, headings)) for op in members]
        if headings:
            listed = table(("op", *headings), rows)
        else:
            listed = ", ".join(code(op.name) for op in members) + ".\n"
        yield f"### `{members[0].name}` and {rest} more\n\n{form.text()}\n{listed}"


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
        parts += _sections(ops)
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
