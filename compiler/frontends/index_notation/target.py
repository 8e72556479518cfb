"""Writing the values of a statement into its target.

`values` has one dimension for each index of the target. Where every element of the target has one
value, the target is computed element by element. Where each index of the target can be found from
the position of an element (`y[2i] = ...`, `A[i,i] += ...`, `A[i,3] = ...`), it is a gather: the
element asks for its value. Anything else (`y[ind[i]]`, `y[i+j]`) is a scatter, whose entries are
combined one after another in the order of the indices, the last one fastest: a new array and an
update combine all values of an element, `=` keeps the last one. Entries outside are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, TensorType, i64
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    fill,
    loop_indices,
)
from ingot.compiler.dialects.arith import CmpiOp, IndexCastOp, SelectOp
from ingot.compiler.dialects.ingot import ScatterOp, YieldOp
from ingot.compiler.dialects.linalg import IndexOp
from ingot.compiler.frontends.index_notation.affine import Affine
from ingot.compiler.frontends.index_notation.reducers import Reducer
from ingot.compiler.frontends.index_notation.scalars import Array, Body
from ingot.compiler.frontends.index_notation.statement import Checked

index = IndexType()


def write_target(emit: Emitter, checked: Checked, values: SSAValue, old: Array | None) -> SSAValue:
    """The target after the statement: a tensor of `checked.shape` and `checked.element`.

    `old` is what the target held; a new one holds what the reducer begins with.
    """
    firsts = old.firsts if old is not None else None
    if _covers(checked, firsts):
        return values if old is None else _update_all(emit, checked, values, old.value)
    if old is None:
        type_ = TensorType(checked.element, checked.shape)
        start = Reducer(checked.reducer, checked.element).neutral(emit)
        before = fill(emit, start, type_)
    else:
        before = old.value
    base = _base(checked, firsts)
    if (inverse := _inverse(checked)) is not None:
        return _gathered(emit, checked, values, before, inverse, base)
    if checked.statement.finisher is not None:
        raise Refusal(
            "a finisher needs a target with one value for each element",
            checked.statement.finisher.place.location,
            "write it as a statement of its own",
        )
    return _scattered(emit, checked, values, before, base)


def _base(checked: Checked, firsts: Sequence[int] | None) -> tuple[int, ...]:
    if firsts is not None:
        return tuple(firsts)
    return (checked.base,) * len(checked.shape)


def _covers(checked: Checked, firsts: Sequence[int] | None) -> bool:
    """Whether the values are the elements of the target, in order."""
    names: list[str] = []
    for position, dimension in enumerate(checked.dimensions):
        expression = dimension.affine
        if expression is None or list(expression.coefficients.values()) != [1]:
            return False
        (name,) = expression.coefficients
        low = checked.scope.ranges[name][0] + expression.constant
        first = _base(checked, firsts)[position]
        if low != first or checked.extent(name) != checked.shape[position]:
            return False
        names.append(name)
    return len(set(names)) == len(names)


def _new_value(
    emit: Emitter, checked: Checked, before: SSAValue, value: SSAValue, combines: bool
) -> SSAValue:
    if not combines:
        return value
    return Reducer(checked.reducer, checked.element).combine(emit, before, value)


def _update_all(emit: Emitter, checked: Checked, values: SSAValue, old: SSAValue) -> SSAValue:
    if checked.statement.operator == "=":
        return values
    type_ = TensorType(checked.element, checked.shape)
    identity = AffineMap.identity(len(checked.shape))

    def body(inner: Emitter, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [_new_value(inner, checked, args[0], args[1], True)]

    return elementwise(emit, type_, [old, values], [identity, identity], body)


def _inverse(checked: Checked) -> dict[str, int] | None:
    """For each index of the target the dimension that it is found from; None where there is none.

    Every dimension must be affine in one index at most.
    """
    found: dict[str, int] = {}
    for position, dimension in enumerate(checked.dimensions):
        if dimension.affine is None or len(dimension.affine.coefficients) > 1:
            return None
        for name in dimension.affine.coefficients:
            found.setdefault(name, position)
    return found


def _gathered(
    emit: Emitter,
    checked: Checked,
    values: SSAValue,
    before: SSAValue,
    inverse: dict[str, int],
    base: tuple[int, ...],
) -> SSAValue:
    type_ = TensorType(checked.element, checked.shape)
    rank = len(checked.shape)
    combines = checked.statement.operator != "="

    def body(inner: Emitter, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        loops = loop_indices(inner, rank)
        conditions: list[SSAValue] = []
        steps: dict[str, SSAValue] = {}
        for name in checked.left:
            position = inverse[name]
            expression = checked.dimensions[position].affine
            assert expression is not None
            steps[name] = _step(
                inner, checked, name, expression, loops[position], base[position], conditions
            )
        for position, dimension in enumerate(checked.dimensions):
            assert dimension.affine is not None
            if any(inverse[name] == position for name in dimension.affine.coefficients):
                continue
            written = _position(inner, checked, dimension.affine, steps, base[position])
            conditions.append(inner.add(CmpiOp(loops[position], written, "eq")).result)
        if not conditions:
            conditions.append(inner.add(CmpiOp(inner.index(0), inner.index(0), "eq")).result)
        element = tensor.ExtractOp(values, list(steps.values()), checked.element)
        value = inner.add(element).result
        new = _new_value(inner, checked, args[0], value, combines)
        return [inner.add(SelectOp(all_of(inner, conditions), new, args[0])).result]

    if any(checked.extent(name) == 0 for name in checked.left):
        return before
    return elementwise(emit, type_, [before], [AffineMap.identity(rank)], body)


def _step(
    emit: Emitter,
    checked: Checked,
    name: str,
    expression: Affine,
    loop: SSAValue,
    first: int,
    conditions: list[SSAValue],
) -> SSAValue:
    """Which value of the index `name` writes the element at `loop`, counted from 0."""
    factor = expression.coefficients[name]
    low, _ = checked.scope.ranges[name]
    # loop + first = factor * (low + step) + constant
    offset = first - expression.constant - factor * low
    distance = loop
    if offset:
        distance = emit.add(arith.AddiOp(loop, emit.index(offset))).result
    step = distance
    if factor < 0:
        step = emit.add(arith.SubiOp(emit.index(0), distance)).result
    if abs(factor) != 1:
        size = emit.index(abs(factor))
        rest = emit.add(arith.RemSIOp(step, size)).result
        conditions.append(emit.add(CmpiOp(rest, emit.index(0), "eq")).result)
        step = emit.add(arith.DivSIOp(step, size)).result
    inside = clamp(emit, step, 0, checked.extent(name) - 1)
    conditions.append(emit.add(CmpiOp(inside, step, "eq")).result)
    return inside


def _position(
    emit: Emitter, checked: Checked, expression: Affine, steps: dict[str, SSAValue], first: int
) -> SSAValue:
    """The position that an affine index means, from 0."""
    total: SSAValue | None = None
    constant = expression.constant - first
    for name, factor in expression.coefficients.items():
        constant += factor * checked.scope.ranges[name][0]
        term = steps[name]
        if factor != 1:
            term = emit.add(arith.MuliOp(term, emit.index(factor))).result
        total = term if total is None else emit.add(arith.AddiOp(total, term)).result
    if total is None:
        return emit.index(constant)
    return total if constant == 0 else emit.add(arith.AddiOp(total, emit.index(constant))).result


def _scattered(
    emit: Emitter, checked: Checked, values: SSAValue, before: SSAValue, base: tuple[int, ...]
) -> SSAValue:
    sizes = [checked.extent(name) for name in checked.left]
    rank = len(checked.shape)
    coordinates = _coordinates(emit, checked, sizes, base)
    block = Block(arg_types=[checked.element, checked.element])
    inner = Emitter.at_end(block, emit.location)
    combines = checked.statement.operator != "="
    new = _new_value(inner, checked, block.args[0], block.args[1], combines)
    inner.add(YieldOp(new))
    scatter = ScatterOp(coordinates, [values], [before], list(range(rank)), Region(block))
    return emit.add(scatter).results[0]


def _coordinates(
    emit: Emitter, checked: Checked, sizes: list[int], base: tuple[int, ...]
) -> SSAValue:
    """The position that each value is written to: the values' dimensions, then one of positions."""
    rank = len(checked.shape)
    type_ = TensorType(i64, [*sizes, rank])

    def body(inner: Emitter, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        scalars = Body(checked.scope, inner, checked.left, {})
        which = inner.add(IndexOp(len(sizes))).result
        chosen: SSAValue | None = None
        for position, dimension in enumerate(checked.dimensions):
            written = scalars.position_of(dimension.inner, base[position])
            value = inner.add(IndexCastOp(written, i64)).result
            if chosen is None:
                chosen = value
                continue
            here = inner.add(CmpiOp(which, inner.index(position), "eq")).result
            chosen = inner.add(SelectOp(here, value, chosen)).result
        assert chosen is not None
        return [chosen]

    return elementwise(emit, type_, [], [], body)
