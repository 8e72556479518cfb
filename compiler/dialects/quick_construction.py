"""Make ops with fewer steps where their definition has no more than plain operands and results.

xDSL's constructor sorts operands, results, regions and successors into those of variadic
definitions and writes segment sizes; most ops have none of that, and a kernel is thousands of ops.
It also looks at every property of a definition for a default whenever an op is made; here once for
each class. `docs/upstream` says more; importing `ingot.compiler.dialects` puts the change in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import IRDLOperation, OpDef, OptionalDef, VariadicDef, operations

_general = operations.irdl_op_init


class _Plan(NamedTuple):
    """What the constructor wants to know of a definition."""

    operands: int
    """How many; -1 where the general constructor has to be asked."""
    results: int
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
        defs = [d for group in (op_def.operands, op_def.results, op_def.regions) for _, d in group]
        plain = not op_def.options and not op_def.successors
        plain = plain and not any(isinstance(d, VariadicDef) for d in defs)
        plan = _PLANS[op_type] = _Plan(
            len(op_def.operands) if plain else -1,
            len(op_def.results),
            len(op_def.regions),
            _defaults(op_def.properties),
            _defaults(op_def.attributes),
        )
    return plan


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
    values = _values(operands)
    if (
        values is not None
        and len(values) == plan.operands
        and len(result_types) == plan.results
        and len(regions) == plan.regions
        and not successors
        and not any(type_ is None or isinstance(type_, list | tuple) for type_ in result_types)
        and all(type(region) is Region for region in regions)
    ):
        Operation.__init__(
            op,
            operands=values,
            result_types=result_types,
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


def _values(operands: Sequence[Any]) -> list[SSAValue] | None:
    """The operands as values; None where one is not a value or an op with one result."""
    values: list[SSAValue] = []
    for operand in operands:
        if type(operand) in _VALUES:
            values.append(operand)
        elif isinstance(operand, Operation) and len(operand.results) == 1:
            values.append(operand.results[0])
        else:
            return None
    return values
