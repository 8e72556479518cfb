"""What a structured op (`linalg.generic`) computes: loop extents, contractions, combiners.

Pure functions on IR; nothing here builds or changes an op.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, ShapedType, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.hints import isa
from xdsl.utils.type import get_element_type_or_self

from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IteratorType, YieldOp

COMBINERS: dict[type[Operation], str] = {
    arith.AddfOp: "add",
    arith.AddiOp: "add",
    arith.MulfOp: "mul",
    arith.MuliOp: "mul",
    arith.MaximumfOp: "maximumf",
    arith.MinimumfOp: "minimumf",
    arith.MaxnumfOp: "maxnumf",
    arith.MinnumfOp: "minnumf",
    arith.MaxSIOp: "maxsi",
    arith.MinSIOp: "minsi",
    arith.MaxUIOp: "maxui",
    arith.MinUIOp: "minui",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
}
"""Associative and commutative scalar ops, by the name that `gpu.all_reduce` gives them."""


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a ranked tensor or memref value; -1 where a size is dynamic, () of a scalar."""
    type_ = value.type
    return tuple(type_.get_shape()) if isinstance(type_, ShapedType) else ()


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """The type of a buffer."""
    assert isa(value.type, MemRefType[Attribute])
    return value.type


def element_type(value: SSAValue) -> Attribute:
    """The element type of a tensor or buffer, or the type itself of a scalar."""
    return get_element_type_or_self(value.type)


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a ranked tensor value."""
    assert isa(value.type, TensorType[Attribute])
    return value.type


def indexing_maps(op: GenericOp) -> list[AffineMap]:
    """The maps of inputs, then outputs."""
    return [attr.data for attr in op.indexing_maps.data]


def is_parallel(op: GenericOp) -> list[bool]:
    """For each loop whether it is parallel (else it is a reduction)."""
    return [it.data == IteratorType.PARALLEL for it in op.iterator_types.data]


def reduction_loops(op: GenericOp) -> list[int]:
    """Positions of the loops that are not parallel."""
    return [i for i, parallel in enumerate(is_parallel(op)) if not parallel]


def loop_extents(op: GenericOp) -> tuple[int, ...]:
    """The trip count of every loop, read off the operand shapes; -1 where it is dynamic."""
    maps = indexing_maps(op)
    extents = [-2] * maps[0].num_dims
    for operand, map_ in zip(op.operands, maps, strict=True):
        for size, expr in zip(shape_of(operand), map_.results, strict=True):
            if isinstance(expr, AffineDimExpr) and extents[expr.position] < 0:
                extents[expr.position] = size
    assert -2 not in extents, "every loop is indexed by a plain dimension of some operand"
    return tuple(extents)


def reduced_extents(op: GenericOp) -> tuple[int, ...]:
    """The extents of the loops that a reduction runs over."""
    extents = loop_extents(op)
    return tuple(extents[loop] for loop in reduction_loops(op))


def captured_tensors(op: Operation) -> list[SSAValue]:
    """Tensors from above that the body of `op` reads by `tensor.extract`, in order of first use."""
    captured: dict[SSAValue, None] = {}
    for region in op.regions:
        for inner in region.walk():
            for operand in inner.operands:
                if isinstance(operand.type, TensorType) and not _is_inside(operand, op):
                    captured[operand] = None
    return list(captured)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    owner = value.owner
    parent = owner.parent_op()
    while parent is not None:
        if parent is op:
            return True
        parent = parent.parent_op()
    return False


def users_of(op: Operation) -> set[Operation]:
    """The ops at the level of `op` that use its results, or hold one that does."""
    block = op.parent_block()
    users: set[Operation] = set()
    for use in (use for result in op.results for use in result.uses):
        user = use.operation
        while user.parent_block() is not block:
            parent = user.parent_op()
            assert parent is not None
            user = parent
        users.add(user)
    return users


def starts_at_zero(op: GenericOp) -> bool:
    """Whether a reduction with one result starts from a fill with zeros."""
    filled = op.outputs[0].owner
    if not isinstance(filled, FillOp):
        return False
    constant = filled.inputs[0].owner
    return (
        isinstance(constant, arith.ConstantOp)
        and isinstance(constant.value, IntegerAttr | FloatAttr)
        and constant.value.value.data == 0
    )


@dataclass(frozen=True)
class Combiner:
    """A reduction body of the form `yield combine(accumulator, f(inputs))`, for one result."""

    name: str
    op: Operation
    """The combining op; its location and attributes (fastmath) carry over to partial results."""
    contribution: SSAValue
    """The value f(inputs) that is combined into the accumulator."""


def match_combiner(op: GenericOp) -> Combiner | None:
    """Match a reduction with one result, whose accumulator is used by its combiner alone."""
    block = op.body.block
    if len(op.outputs) != 1:
        return None
    accumulator = block.args[-1]
    yielded = block.last_op
    assert isinstance(yielded, YieldOp)
    combine = yielded.operands[0].owner
    if not isinstance(combine, Operation) or type(combine) not in COMBINERS:
        return None
    if combine.parent_block() is not block or accumulator.uses.get_length() != 1:
        return None
    lhs, rhs = combine.operands
    if combine.results[0].uses.get_length() != 1 or (lhs is accumulator) == (rhs is accumulator):
        return None
    contribution = rhs if lhs is accumulator else lhs
    return Combiner(COMBINERS[type(combine)], combine, contribution)


@dataclass(frozen=True)
class Contraction:
    """A sum of products of two inputs; every field lists loop positions."""

    batch: tuple[int, ...]
    m: tuple[int, ...]
    """Loops of the left input and the output."""
    n: tuple[int, ...]
    """Loops of the right input and the output."""
    k: tuple[int, ...]


def is_sum_of_products(op: GenericOp) -> bool:
    """Whether an op computes `out += a * b` of its two inputs, casts on the way allowed."""
    combiner = match_combiner(op)
    if combiner is None or combiner.name != "add" or len(op.inputs) != 2:
        return False
    if captured_tensors(op):
        return False
    product = combiner.contribution.owner
    if not isinstance(product, arith.MulfOp | arith.MuliOp):
        return False
    sides = [through_casts(v) for v in product.operands]
    block = op.body.block
    return {id(s) for s in sides} == {id(block.args[0]), id(block.args[1])}


def match_contraction(op: GenericOp) -> Contraction | None:
    """Match `out += a * b` with plain projected permutations, casts on the way allowed."""
    if not is_sum_of_products(op):
        return None
    map_a, map_b, map_out = indexing_maps(op)
    if not all(m.is_projected_permutation() for m in (map_a, map_b, map_out)):
        return None
    in_a, in_b, in_out = map_a.used_dims(), map_b.used_dims(), map_out.used_dims()
    loops = range(map_a.num_dims)
    contraction = Contraction(
        batch=tuple(i for i in loops if i in in_a and i in in_b and i in in_out),
        m=tuple(i for i in loops if i in in_a and i not in in_b and i in in_out),
        n=tuple(i for i in loops if i not in in_a and i in in_b and i in in_out),
        k=tuple(i for i in loops if i in in_a and i in in_b and i not in in_out),
    )
    covered = sum(map(len, (contraction.batch, contraction.m, contraction.n, contraction.k)))
    if covered != map_a.num_dims or not contraction.k:
        return None
    return contraction


def row_dimension(op: GenericOp, contraction: Contraction) -> int | None:
    """The last dimension of the result, counted from the end, of the other side than its columns.

    The columns are the last dimension. None where that belongs to neither side, or has no other.
    """
    dims = [e.position for e in indexing_maps(op)[-1].results if isinstance(e, AffineDimExpr)]
    sides = (contraction.m, contraction.n)
    rows = next((a for a, b in (sides, sides[::-1]) if dims and dims[-1] in b), ())
    places = [i - len(dims) for i, dim in enumerate(dims) if dim in rows]
    return places[-1] if places else None


_CASTS = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp, arith.SIToFPOp, arith.UIToFPOp)


def through_casts(value: SSAValue) -> SSAValue:
    while not isinstance(value, BlockArgument) and isinstance(value.owner, _CASTS):
        value = value.owner.operands[0]
    return value
