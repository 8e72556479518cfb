"""What an op does besides giving its results, found by its class where that decides.

xDSL asks the traits of every op anew; passes that look at all ops of a kernel spend most of their
time on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryFreeEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    get_effects,
)
from xdsl.transforms.dead_code_elimination import result_only_effects


class Effect(IntEnum):
    """What an op does to memory; the greater covers the smaller."""

    NONE = 0
    READS = 1
    OTHER = 2
    """It writes, allocates or frees, or nobody knows."""


@dataclass(frozen=True, slots=True)
class ClassEffects:
    """What holds for every op of a class."""

    effect: Effect | None
    """None where it depends on the op."""
    is_recursive: bool
    """The effects are those of the ops inside."""
    is_terminator: bool
    is_symbol: bool
    is_isolated: bool


_CLASSES: dict[type[Operation], ClassEffects] = {}


def class_effects(op_type: type[Operation]) -> ClassEffects:
    """What is known of the ops of a class; of unregistered ops, that anything may be."""
    known = _CLASSES.get(op_type)
    if known is None:
        known = _CLASSES[op_type] = _ask(op_type)
    return known


_PURE = frozenset({"affine.min", "affine.max", "arith.extsi", "linalg.yield"})
"""Ops without effects of which xDSL does not say so."""


def _ask(op_type: type[Operation]) -> ClassEffects:
    if issubclass(op_type, UnregisteredOp):
        return ClassEffects(Effect.OTHER, False, False, False, True)
    traits = op_type.get_traits_of_type(MemoryEffect)
    effects = [_of_trait(trait) for trait in traits] or [Effect.OTHER]
    if op_type.name in _PURE:
        effects = [Effect.NONE]
    return ClassEffects(
        effect=None if None in effects else max(e for e in effects if e is not None),
        is_recursive=[type(trait) for trait in traits] == [RecursiveMemoryEffect],
        is_terminator=op_type.has_trait(IsTerminator),
        is_symbol=op_type.has_trait(SymbolOpInterface),
        is_isolated=op_type.has_trait(IsolatedFromAbove),
    )


def _of_trait(trait: MemoryEffect) -> Effect | None:
    """What a trait says of all ops that have it; None where it looks at the op."""
    asked = type(trait).get_effects.__func__
    return next(
        (effect for known, effect in _SAME_FOR_ALL if known.get_effects.__func__ is asked), None
    )


_SAME_FOR_ALL = (
    (NoMemoryEffect, Effect.NONE),
    (MemoryReadEffect, Effect.READS),
    (MemoryWriteEffect, Effect.OTHER),
    (MemoryFreeEffect, Effect.OTHER),
)


def effect_of(op: Operation) -> Effect:
    """What an op does to memory, with what the ops inside it do."""
    known = class_effects(type(op))
    if known.effect is not None:
        return known.effect
    if known.is_recursive:
        worst = Effect.NONE
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    worst = max(worst, effect_of(inner))
                    if worst is Effect.OTHER:
                        return worst
        return worst
    effects = get_effects(op)
    if effects is None or any(e.kind is not MemoryEffectKind.READ for e in effects):
        return Effect.OTHER
    return Effect.READS if effects else Effect.NONE


def is_dead(op: Operation) -> bool:
    """Whether nothing would be missing without the op."""
    for result in op.results:
        if result.first_use is not None:
            return False
    known = class_effects(type(op))
    if known.is_terminator or known.is_symbol:
        return False
    if known.effect is None:
        return not _holds_other(op) and result_only_effects(op)
    return known.effect is not Effect.OTHER


def _holds_other(op: Operation) -> bool:
    """Whether some op inside is known to do more than give results, whatever its operands are."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if class_effects(type(inner)).effect is Effect.OTHER or _holds_other(inner):
                    return True
    return False
