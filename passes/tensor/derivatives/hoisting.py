"""What a backward kernel would compute over and over inside its sums, as small tensors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr, TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.generics import Body, Emitter, elementwise
from ingot.compiler.analysis.saving import is_hoisted
from ingot.compiler.analysis.scalar_folding import constant_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IndexOp

from .activity import is_float
from .drafts import Draft, cost_of


def hoist(emit: Emitter, draft: Draft, kept: Collection[int]) -> None:
    """Compute ahead what depends on few loops, one of which is summed over (`saving.py`).

    What depends on `kept` loops alone, the dimensions of the result, is computed once by each
    thread anyway.
    """
    iterations = prod(draft.extents)
    values = {r: draft.loops_of(r) for op in draft.block.ops for r in op.results}

    def is_small(value: SSAValue) -> bool:
        found = draft.loops_of(value)
        return prod(draft.extents[i] for i in found) < iterations

    hoisted = False
    for value, found in values.items():
        if not is_float(value.type) or found <= set(kept):
            continue
        users = [use.operation for use in value.uses]
        is_last = any(not is_small(u.results[0]) for u in users) or value in draft.values
        elements = prod(draft.extents[i] for i in found)
        if is_last and is_hoisted(cost_of(value), elements, iterations):
            order = sorted(found)
            made = over_loops(emit, draft, value, order, value.type, lambda _, args: args)
            exprs: tuple[AffineExpr, ...] = tuple(AffineDimExpr(i) for i in order)
            again = draft.read(made, AffineMap(len(draft.extents), 0, exprs))
            value.replace_all_uses_with(again)
            draft.values = [again if v is value else v for v in draft.values]
            hoisted = True
    if hoisted:
        draft.prune()


@dataclass(frozen=True)
class Factor:
    """What a sum is multiplied with, or divided by: a number, or a tensor over `loops`."""

    op: type[arith.MulfOp] | type[arith.DivfOp]
    value: FloatAttr | SSAValue
    loops: tuple[int, ...] = ()


def factor_out(emit: Emitter, draft: Draft, kept: int) -> list[Factor]:
    """Take out of a sum the factors that do not change within it: those that depend on no loop but
    the first `kept`. What is left in the draft is summed; the factors come in their order.

    Not of short floats: their sums would be rounded, or be too large, before they are scaled.
    """
    found: list[Factor] = []
    while isinstance(draft.type, Float32Type | Float64Type):
        op = draft.value.owner
        match op:
            case arith.NegfOp():
                inner, factor = op.operand, FloatAttr(-1.0, draft.type)
                kind = arith.MulfOp
            case arith.MulfOp() | arith.DivfOp():
                changing = [v for v in op.operands if not _is_fixed(draft, v, kept)]
                fixed = [v for v in op.operands if _is_fixed(draft, v, kept)]
                if len(changing) != 1 or (isinstance(op, arith.DivfOp) and fixed[0] is not op.rhs):
                    break
                inner, factor, kind = changing[0], fixed[0], type(op)
            case _:
                break
        if isinstance(factor, SSAValue):
            number = constant_of(factor)
            if isinstance(number, FloatAttr):
                factor = number
        if isinstance(factor, FloatAttr):
            found.append(Factor(kind, factor))
        else:
            loops = tuple(sorted(draft.loops_of(factor)))
            made = over_loops(emit, draft, factor, loops, draft.type, lambda _, args: args)
            found.append(Factor(kind, made, loops))
        draft.values[0] = inner
    if found:
        draft.prune()
    return found[::-1]


def _is_fixed(draft: Draft, value: SSAValue, kept: int) -> bool:
    return all(loop < kept for loop in draft.loops_of(value))


def scaled(emit: Emitter, total: SSAValue, factors: Sequence[Factor]) -> SSAValue:
    """A sum times the factors that were taken out of it."""
    if not factors:
        return total
    type_ = tensor_type(total)
    rank = type_.get_num_dims()
    tensors = [f for f in factors if isinstance(f.value, SSAValue)]
    maps = [AffineMap(rank, 0, tuple(AffineDimExpr(i) for i in f.loops)) for f in tensors]

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value, *elements = args
        for factor in factors:
            if isinstance(factor.value, SSAValue):
                other = elements.pop(0)
            else:
                other = inner.add(arith.ConstantOp(factor.value)).result
            value = inner.add(factor.op(value, other)).result
        return [value]

    operands = [total, *(f.value for f in tensors if isinstance(f.value, SSAValue))]
    return elementwise(emit, type_, operands, [AffineMap.identity(rank), *maps], body)


def over_loops(
    emit: Emitter,
    draft: Draft,
    value: SSAValue,
    loops: Sequence[int],
    element: Attribute,
    finish: Body,
) -> SSAValue:
    """A value of a draft that depends on `loops` alone, as a tensor over them.

    `finish` makes an `element` of it.
    """
    position = [loops.index(i) if i in loops else 0 for i in range(len(draft.extents))]
    type_: TensorType[Attribute] = TensorType(element, [draft.extents[loop] for loop in loops])
    dims: list[AffineExpr] = [AffineDimExpr(p) for p in position]

    def read(map_: AffineMap) -> AffineMap:
        results = tuple(e.replace_dims_and_symbols(dims, ()) for e in map_.results)
        return AffineMap(len(loops), 0, results)

    reads = [i for i, m in enumerate(draft.maps) if set(m.used_dims()) <= set(loops)]

    def body(inner: Emitter, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        values: dict[SSAValue, SSAValue] = {}
        for i, argument in zip(reads, args, strict=True):
            values[draft.block.args[i]] = argument

        def copy(value: SSAValue) -> SSAValue:
            owner = value.owner
            if value in values or isinstance(owner, Block):
                return values.get(value, value)
            if owner.parent_block() is not draft.block:
                return value
            if isinstance(owner, IndexOp):
                values[value] = inner.add(IndexOp(position[owner.dim.value.data])).result
                return values[value]
            for operand in owner.operands:
                copy(operand)
            new = inner.builder.insert(owner.clone(values))
            new.location = owner.location
            for old, result in zip(owner.results, new.results, strict=True):
                values[old] = result
            return values[value]

        return finish(inner, [copy(value)])

    operands = [draft.operands[i] for i in reads]
    return elementwise(emit, type_, operands, [read(draft.maps[i]) for i in reads], body)
