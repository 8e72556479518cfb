"""Canonical forms of what the body of a `linalg.generic` computes by the positions of its loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i1,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ingot.compiler.analysis.affine_maps import simplify, substitute
from ingot.compiler.analysis.generics import Emitter, make_generic
from ingot.compiler.analysis.index_bounds import Bounds, index_bounds
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import (
    indexing_maps,
    is_parallel,
    loop_extents,
    reduction_loops,
    shape_of,
)
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects.linalg import GenericOp, IndexOp, YieldOp

from .generic_patterns import set_operands

_SLT, _SLE, _SGT, _SGE = 2, 3, 4, 5
_REFLEXIVE = (0, _SLE, _SGE, 7, 9)
"""Predicates of `arith.cmpi` that a value and itself fulfil: eq, sle, sge, ule, uge."""


def _decided(predicate: int, left: Bounds, right: Bounds) -> bool | None:
    """What a signed comparison of numbers within bounds gives, where it always gives the same."""
    if predicate in (_SGT, _SGE):
        return _decided(_SLT if predicate == _SGT else _SLE, right, left)
    if predicate == _SLT and (left[1] < right[0] or left[0] >= right[1]):
        return left[1] < right[0]
    if predicate == _SLE and (left[1] <= right[0] or left[0] > right[1]):
        return left[1] <= right[0]
    return None


def _has_positions(op: GenericOp) -> bool:
    """Whether the body uses the positions of loops whose extents are known."""
    return any(isinstance(inner, IndexOp) for inner in op.body.walk()) and (
        DYNAMIC_INDEX not in loop_extents(op)
    )


_Bounded = arith.CmpiOp | arith.MaxSIOp | arith.MinSIOp | arith.RemUIOp


class FoldBoundedIndices(RewritePattern):
    """Fold comparisons, clamps and remainders of indices that the extents of the loops decide."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if not _has_positions(op):
            return
        extents = loop_extents(op)
        for inner in list(op.body.walk()):
            if not isinstance(inner, _Bounded) or inner.operands[0].type == i1:
                continue
            left, right = (index_bounds(v, extents) for v in inner.operands)
            value = self._value(inner, left, right)
            if value is not None:
                rewriter.replace(inner, [], [value])

    @staticmethod
    def _value(op: _Bounded, left: Bounds, right: Bounds) -> SSAValue | None:
        match op:
            case arith.RemUIOp():
                return op.lhs if left[0] >= 0 and left[1] < right[0] else None
            case arith.CmpiOp():
                answer = _decided(op.predicate.value.data, left, right)
                if op.operands[0] is op.operands[1]:
                    answer = op.predicate.value.data in _REFLEXIVE
                if answer is None:
                    return None
                constant = arith.ConstantOp(IntegerAttr(-int(answer), i1))
                return Emitter.before(op).add(constant).result
            case arith.MaxSIOp():
                first, second = left[0] >= right[1], right[0] >= left[1]
            case arith.MinSIOp():
                first, second = left[1] <= right[0], right[1] <= left[0]
        return op.operands[0] if first else op.operands[1] if second else None


class FoldDelinearized(RewritePattern):
    """Fold the number of an element from the positions that were computed from its number.

    `x / c * c + x % c` is `x`, and `x / c % n * c + x % c` is `x % (n * c)`: what is left of two
    reshapes in one body. NVIDIA's driver crashes on some vectors of the second.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
        for scaled, low in (op.operands, reversed(op.operands)):
            if not isinstance(scaled.owner, arith.MuliOp) or not isinstance(
                low.owner, arith.RemUIOp
            ):
                continue
            number, factor = low.owner.lhs, int_of(low.owner.rhs)
            if factor is None or factor <= 0:
                continue
            high, count = _positions_above(scaled.owner, factor)
            if (
                not isinstance(high, arith.DivUIOp)
                or int_of(high.rhs) != factor
                or high.lhs is not number
            ):
                continue
            if count is None:
                rewriter.replace(op, [], [number])
                return
            if count * factor <= _largest(number):
                rewriter.replace(op, [], [_by(arith.RemUIOp, number, count * factor, op)])
                return


class FoldNestedQuotients(RewritePattern):
    """`x / a / b` is `x / (a * b)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.DivUIOp, rewriter: PatternRewriter) -> None:
        inner, outer = op.lhs.owner, int_of(op.rhs)
        if not isinstance(inner, arith.DivUIOp) or outer is None or outer <= 0:
            return
        divisor = int_of(inner.rhs)
        if divisor is not None and divisor > 0 and divisor * outer <= _largest(inner.lhs):
            rewriter.replace(op, [], [_by(arith.DivUIOp, inner.lhs, divisor * outer, op)])


def _largest(value: SSAValue) -> int:
    """The largest signed number of the type; of an index, what fits whatever it becomes."""
    return (1 << min(integer_width(value.type) or 32, 32) - 1) - 1


def _by(
    kind: type[arith.DivUIOp | arith.RemUIOp], number: SSAValue, divisor: int, place: Operation
) -> SSAValue:
    """`number` divided by a constant of its type, or what remains, before `place`."""
    emit = Emitter.before(place)
    constant = IntegerAttr(divisor, cast("IntegerType | IndexType", number.type))
    return emit.add(kind(number, emit.add(arith.ConstantOp(constant)).result)).result


def _positions_above(scaled: arith.MuliOp, factor: int) -> tuple[Operation | None, int | None]:
    """The quotient that `scaled` multiplies by `factor`, and the size that it is a remainder of."""
    left, right = scaled.operands
    above = left if int_of(right) == factor else right if int_of(left) == factor else None
    if above is None or not isinstance(above.owner, Operation):
        return None, None
    if isinstance(above.owner, arith.RemUIOp):
        count, quotient = int_of(above.owner.rhs), above.owner.lhs.owner
        positive = count is not None and count > 0
        return (quotient, count) if positive and isinstance(quotient, Operation) else (None, None)
    return above.owner, None


class ExtractToInput(RewritePattern):
    """Read what is extracted at affine positions inside a tensor as an input, by a map."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        block = op.body.block
        extracts = [inner for inner in block.ops if isinstance(inner, tensor.ExtractOp)]
        if not extracts or DYNAMIC_INDEX in loop_extents(op):
            return
        for extract in extracts:
            map_ = _map_of(op, extract)
            if map_ is None:
                continue
            inputs, maps = list(op.inputs), indexing_maps(op)
            argument = block.insert_arg(extract.result.type, len(inputs))
            maps.insert(len(inputs), map_)
            source = extract.tensor
            rewriter.replace(extract, [], [argument])
            set_operands(op, [*inputs, source], list(op.outputs), maps)
            rewriter.notify_op_modified(op)


def _map_of(op: GenericOp, extract: tensor.ExtractOp) -> AffineMap | None:
    """The positions that `extract` reads, as a map of the loops, where all lie inside."""
    owner = extract.tensor.owner
    if not isinstance(extract.tensor.type, TensorType) or (
        isinstance(owner, Operation) and op.is_ancestor(owner)
    ):
        return None
    extents = loop_extents(op)
    exprs: list[AffineExpr] = []
    for index, size in zip(extract.indices, shape_of(extract.tensor), strict=True):
        expr = _affine(index, op)
        low, high = index_bounds(index, extents)
        if expr is None or low < 0 or high >= size:
            return None
        expr = simplify(expr, len(extents))
        # A plain loop runs over a whole dimension.
        if isinstance(expr, AffineDimExpr) and extents[expr.position] != size:
            return None
        exprs.append(expr)
    return AffineMap(len(extents), 0, tuple(exprs))


def _affine(value: SSAValue, op: GenericOp) -> AffineExpr | None:
    """An index as an affine expression of the loops."""
    constant = int_of(value)
    if constant is not None:
        return AffineConstantExpr(constant)
    owner = value.owner
    match owner:
        case IndexOp():
            return AffineDimExpr(owner.dim.value.data)
        case arith.AddiOp() | arith.MuliOp():
            left, right = _affine(owner.lhs, op), _affine(owner.rhs, op)
            if left is None or right is None:
                return None
            if isinstance(owner, arith.AddiOp):
                return left + right
            constant_side = isinstance(left, AffineConstantExpr) or isinstance(
                right, AffineConstantExpr
            )
            return left * right if constant_side else None
        case _:
            return None


class DropUnusedResults(RewritePattern):
    """Compute no result that nobody uses, where the others do without it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if len(op.results) < 2:
            return
        block, inputs = op.body.block, len(op.inputs)
        terminator = block.last_op
        assert isinstance(terminator, YieldOp)
        kept = [i for i, result in enumerate(op.results) if result.uses]
        needed = _needed([terminator.operands[i] for i in kept])
        dropped = [
            i
            for i in range(len(op.results))
            if i not in kept and block.args[inputs + i] not in needed
        ]
        if not kept or not dropped or len(kept) + len(dropped) < len(op.results):
            return
        body = op.detach_region(op.body)
        arguments = body.block.args
        rewriter.replace(terminator, YieldOp(*(terminator.operands[i] for i in kept)))
        for inner in reversed(list(body.block.ops)):
            if inner.results and not any(result.uses for result in inner.results):
                rewriter.erase(inner)
        for i in reversed(dropped):
            body.block.erase_arg(arguments[inputs + i])
        maps = indexing_maps(op)
        outputs = [op.outputs[i] for i in kept]
        new = make_generic(
            Emitter(rewriter, op.location),
            list(op.inputs),
            outputs,
            [*maps[:inputs], *(maps[inputs + i] for i in kept)],
            list(op.iterator_types.data),
            body,
        )
        found = iter(new.results)
        rewriter.replace(
            op, [], [next(found) if i in kept else None for i in range(len(op.results))]
        )


def _needed(values: Sequence[SSAValue]) -> set[SSAValue]:
    """Everything that values of a body are computed from."""
    found: set[SSAValue] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value in found:
            continue
        found.add(value)
        if not isinstance(value, BlockArgument) and isinstance(value.owner, Operation):
            for inner in value.owner.walk():
                stack.extend(inner.operands)
    return found


class FoldSelectedIteration(RewritePattern):
    """A reduction that leaves its accumulator as it is but in the iteration that a parallel loop
    names is no loop: a scatter along a batch combines one update with each line."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        terminator = op.body.block.last_op
        assert isinstance(terminator, YieldOp)
        if not any(isinstance(v.owner, arith.SelectOp) for v in terminator.operands):
            return
        extents = loop_extents(op)
        for loop in reduction_loops(op):
            names = [
                _selected(op, value, op.body.block.args[len(op.inputs) + i], loop)
                for i, value in enumerate(terminator.operands)
            ]
            name = names[0]
            if name is None or names != [name] * len(names):
                continue
            if is_parallel(op)[name] and extents[name] == extents[loop] >= 0:
                _fuse_loops(op, loop, name, rewriter)
                return


def _selected(op: GenericOp, value: SSAValue, accumulator: SSAValue, loop: int) -> int | None:
    """The loop whose position `loop` must have for `value` to be more than the accumulator."""
    select = value.owner
    if not isinstance(select, arith.SelectOp) or select.rhs is not accumulator:
        return None
    stack = [select.cond]
    while stack:
        condition = stack.pop().owner
        if isinstance(condition, arith.AndIOp):
            stack.extend(condition.operands)
        elif isinstance(condition, arith.CmpiOp) and condition.predicate.value.data == 0:
            loops = [_position(v, op) for v in condition.operands]
            if loops[0] is not None and loops[1] is not None and loop in loops:
                return loops[1] if loops[0] == loop else loops[0]
    return None


def _position(value: SSAValue, op: GenericOp) -> int | None:
    """The loop whose position a value is, in a type that holds all of its positions."""
    width = integer_width(value.type)
    if isinstance(value.owner, arith.IndexCastOp):
        value = value.owner.input
    if not isinstance(value.owner, IndexOp):
        return None
    loop = value.owner.dim.value.data
    fits = width is None or loop_extents(op)[loop] <= 1 << (width - 1)
    return loop if fits else None


def _fuse_loops(op: GenericOp, loop: int, into: int, rewriter: PatternRewriter) -> None:
    """Run over `loop` only where it is where `into` is."""
    rank = len(op.iterator_types.data) - 1
    dims = [AffineDimExpr(i - (i > loop)) for i in range(rank + 1)]
    dims[loop] = dims[into]
    body = op.detach_region(op.body)
    for index in [inner for inner in body.walk() if isinstance(inner, IndexOp)]:
        old = index.dim.value.data
        index.properties["dim"] = IndexOp(dims[old].position).dim
    new = make_generic(
        Emitter(rewriter, op.location),
        list(op.inputs),
        list(op.outputs),
        [substitute(map_, dims, rank) for map_ in indexing_maps(op)],
        [it for i, it in enumerate(op.iterator_types.data) if i != loop],
        body,
    )
    rewriter.replace(op, [], list(new.results))


INDEX_PATTERNS: tuple[RewritePattern, ...] = (
    FoldBoundedIndices(),
    ExtractToInput(),
    DropUnusedResults(),
    FoldSelectedIteration(),
)
