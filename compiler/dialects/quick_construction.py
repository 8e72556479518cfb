"""Make ops with fewer steps where their definition has no segment sizes and no successors.

xDSL's constructor sorts operands, results, regions and successors into those of variadic
definitions and writes segment sizes; most ops have few of that, and a kernel is thousands of ops.
It also looks at every property of a definition for a default whenever an op is made; here once for
each class. `docs/upstream` says more; importing `ingot.compiler.dialects` puts the change in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeVar, cast

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AttrSizedSegments,
    IRDLOperation,
    OpDef,
    OptionalDef,
    VariadicDef,
    operations,
)

_general = operations.irdl_op_init

_Most = float | None
"""How many values or types a definition takes at most; None for one that takes just one."""


class _Plan(NamedTuple):
    """What the constructor wants to know of a definition."""

    general: bool
    """Whether the general constructor has to be asked."""
    operands: tuple[_Most, ...]
    results: tuple[_Most, ...]
    regions: int
    properties: tuple[tuple[str, Attribute], ...]
    """The defaults."""
    attributes: tuple[tuple[str, Attribute], ...]


def install() -> None:
    """Make xDSL construct ops so; doing it twice does no more."""
    operations.irdl_op_init = _construct
    IRDLOperation.__post_init__ = _fill_in


_PLANS: dict[type[Operation], _Plan] = {}


def _plan(op_type: type[IRDLOperation]) -> _Plan:
    plan = _PLANS.get(op_type)
    if plan is None:
        op_def = op_type.get_irdl_definition()
        general = bool(op_def.successors)
        general |= any(isinstance(option, AttrSizedSegments) for option in op_def.options)
        general |= any(isinstance(region, VariadicDef) for _, region in op_def.regions)
        plan = _PLANS[op_type] = _Plan(
            general,
            tuple(_most(operand) for _, operand in op_def.operands),
            tuple(_most(result) for _, result in op_def.results),
            len(op_def.regions),
            _defaults(op_def.properties),
            _defaults(op_def.attributes),
        )
    return plan


def _most(definition: object) -> _Most:
    if isinstance(definition, OptionalDef):
        return 1
    return inf if isinstance(definition, VariadicDef) else None


def _defaults(defs: Mapping[str, Any]) -> tuple[tuple[str, Attribute], ...]:
    return tuple(
        (name, definition.default_value)
        for name, definition in defs.items()
        if not isinstance(definition, OptionalDef) and definition.default_value is not None
    )


def _fill_in(self: IRDLOperation) -> None:
    """Give an op the default properties and attributes that it has not."""
    plan = _plan(type(self))
    for name, value in plan.properties:
        self.properties.setdefault(name, value)
    for name, value in plan.attributes:
        self.attributes.setdefault(name, value)
    Operation.__post_init__(self)


_VALUES = (OpResult, BlockArgument)


def _construct(
    op: IRDLOperation,
    op_def: OpDef,
    *,
    operands: Sequence[Any],
    result_types: Sequence[Any],
    properties: Mapping[str, Attribute | None],
    attributes: Mapping[str, Attribute | None],
    successors: Sequence[Any],
    regions: Sequence[Any],
) -> None:
    """What `irdl_op_init` does, which is asked where an argument is not what is expected."""
    plan = _plan(type(op))
    values = types = None
    if (
        not plan.general
        and len(regions) == plan.regions
        and not successors
        and all(type(region) is Region for region in regions)
    ):
        values = _parts(operands, plan.operands, _value)
        types = _parts(result_types, plan.results, _type)
    if values is not None and types is not None:
        Operation.__init__(
            op,
            operands=values,
            result_types=types,
            properties=_without_none(properties),
            attributes=_without_none(attributes),
            regions=regions,
        )
    else:
        _general(
            op,
            op_def,
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            successors=successors,
            regions=regions,
        )


def _without_none(named: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {name: value for name, value in named.items() if value is not None} if named else {}


_Part = TypeVar("_Part")


def _parts(
    given: Sequence[Any], limits: Sequence[_Most], one: Callable[[object], _Part | None]
) -> list[_Part] | None:
    """What is given for each definition, in a row; None where it is not what is expected."""
    if len(given) != len(limits):
        return None
    parts: list[_Part] = []
    for argument, most in zip(given, limits, strict=True):
        if most is None:
            items = (argument,)
        elif isinstance(argument, list | tuple):
            items = cast(Sequence[object], argument)
        else:
            items = () if argument is None else (argument,)
        if most is not None and len(items) > most:
            return None
        for item in items:
            part = one(item)
            if part is None:
                return None
            parts.append(part)
    return parts


def _value(operand: object) -> SSAValue | None:
    """A value, or the only result of an op."""
    if type(operand) in _VALUES:
        return cast(SSAValue, operand)
    if isinstance(operand, Operation) and len(operand.results) == 1:
        return operand.results[0]
    return None


def _type(given: object) -> Attribute | None:
    return given if isinstance(given, Attribute) else None
