"""Split products of few, long sums over more threadgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import substitute
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    erase,
    expand,
    make_generic,
    zero,
)
from ingot.compiler.analysis.structured import (
    indexing_maps,
    loop_extents,
    match_combiner,
    match_contraction,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IteratorTypeAttr, YieldOp

LONG = 2048
"""Terms of a sum from which it is split."""

TILE, TILES, LEAST_OF_TILES = 64, 128, 256
"""Side of a tile that a threadgroup computes; as many tiles keep a device busy; terms of a chunk
that pay for a tile."""

VECTORS, GROUPS, LEAST_OF_VECTORS = 256, 1024, 64
"""The same where a side is too short for tiles: columns of a threadgroup that computes all rows of
them, threadgroups, terms."""

SHORT = 16
"""Rows or columns up to which there are no tiles."""


def choose_chunks(batch: int, m: int, n: int, k: int, contiguous: bool) -> int:
    """Into how many chunks of equal length to cut the sums of a product; 1 for not at all.

    `contiguous` says whether the results along the longer side are neighbours in memory: a product
    of a vector that is not is better computed by a threadgroup for each result.
    """
    results = batch * m * n
    if k < LONG or not results:
        return 1
    if min(m, n) > SHORT:
        parts, wanted, least = batch * -(-m // TILE) * -(-n // TILE), TILES, LEAST_OF_TILES
    elif contiguous:
        parts = batch * -(-max(m, n) // VECTORS)
        wanted, least = GROUPS, LEAST_OF_VECTORS
    else:
        return 1
    # Partial sums are written and read; that has to be little beside the inputs.
    most = min(wanted // parts, k // least, batch * (m + n) * k // (8 * results))
    chunks = 1
    while 2 * chunks <= most and k % (2 * chunks) == 0:
        chunks *= 2
    return chunks


@dataclass(frozen=True)
class LinalgSplitContractionPass(ModulePass):
    """Sum chunks of long products side by side, then their sums: split-K (L1 to L1).

    Partial sums of f16 and bf16 are f32.

        %c = linalg.generic {(i, j, k)} ins(%a, %b : tensor<64x65536xf32>, ...) outs(%init)
    becomes
        %p = linalg.generic {(c, i, j, k)} ins(%a as 64x128x512, %b as 128x512x64) outs(%zeros)
        %c = linalg.generic {sum over c} ins(%p : tensor<128x64x64xf32>) outs(%init)
    """

    name = "linalg-split-contraction"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, GenericOp):
                    _split(inner)


def _split(op: GenericOp) -> None:
    contraction = match_contraction(op)
    extents = loop_extents(op) if contraction is not None else ()
    if contraction is None or DYNAMIC_INDEX in extents or len(contraction.k) != 1:
        return
    short = tensor_type(op.results[0]).element_type
    is_short = isinstance(short, Float16Type | BFloat16Type)
    factors = _factors(op)
    if is_short and factors is None:
        return
    (loop,) = contraction.k
    batch, m, n = (
        prod(extents[i] for i in loops)
        for loops in (contraction.batch, contraction.m, contraction.n)
    )
    maps = indexing_maps(op)
    longer = contraction.m if m > n else contraction.n
    side = next((v for v in maps[:2] if set(longer) & v.used_dims()), maps[0])
    contiguous = side.results[-1] != AffineDimExpr(loop)
    chunks = choose_chunks(batch, m, n, extents[loop], contiguous)
    if chunks == 1:
        return
    emit = Emitter.before(op)
    element = f32 if is_short else short
    body = _product_of_floats(op) if is_short else op.body.clone()
    partial = _in_chunks(emit, op, loop, chunks, element, body)
    op.results[0].replace_all_uses_with(_sum(emit, op, partial, element))
    erase(op)


def _factors(op: GenericOp) -> list[SSAValue] | None:
    """The factors of a product of the inputs as they are, without conversions."""
    combiner = match_combiner(op)
    assert combiner is not None
    product = combiner.contribution.owner
    if isinstance(product, arith.MulfOp) and all(
        isinstance(v, BlockArgument) for v in product.operands
    ):
        return list(product.operands)
    return None


def _product_of_floats(op: GenericOp) -> Region:
    """The body of a sum of products in f32, of short floats."""
    types = [tensor_type(v).element_type for v in op.inputs]
    block = Block(arg_types=[*types, f32])
    inner = Emitter.at_end(block, op.location)
    a, b = (inner.add(arith.ExtFOp(v, f32)).result for v in block.args[:2])
    product = inner.add(arith.MulfOp(a, b)).result
    inner.add(YieldOp(inner.add(arith.AddfOp(block.args[2], product)).result))
    return Region(block)


def _in_chunks(
    emit: Emitter, op: GenericOp, loop: int, chunks: int, element: Attribute, body: Region
) -> SSAValue:
    """The sums of all chunks, the number of the chunk as first dimension."""
    extents, maps = loop_extents(op), indexing_maps(op)
    rank = len(extents)
    chunk, size = AffineDimExpr(0), extents[loop] // chunks
    moved: list[AffineExpr] = [AffineDimExpr(i + 1) for i in range(rank)]
    inputs: list[SSAValue] = []
    new_maps: list[AffineMap] = []
    for value, map_ in zip(op.inputs, maps, strict=False):
        at = map_.results.index(AffineDimExpr(loop))
        shape = list(tensor_type(value).get_shape())
        groups: list[tuple[int, ...]] = [(d,) if d < at else (d + 1,) for d in range(len(shape))]
        groups[at] = (at, at + 1)
        inputs.append(
            expand(emit, value, tuple(groups), [*shape[:at], chunks, size, *shape[at + 1 :]])
        )
        results = list(substitute(map_, moved, rank + 1).results)
        results.insert(at, chunk)
        new_maps.append(AffineMap(rank + 1, 0, tuple(results)))
    out = substitute(maps[-1], moved, rank + 1)
    new_maps.append(AffineMap(rank + 1, 0, (chunk, *out.results)))
    type_: TensorType[Attribute] = TensorType(
        element, [chunks, *tensor_type(op.results[0]).get_shape()]
    )
    zeros = _zeros(emit, type_)
    iterators = [IteratorTypeAttr.parallel(), *op.iterator_types.data]
    return make_generic(emit, inputs, [zeros], new_maps, iterators, body).results[0]


def _zeros(emit: Emitter, type_: TensorType[Attribute]) -> SSAValue:
    scalar = emit.add(arith.ConstantOp(zero(type_.element_type))).result
    return emit.add(FillOp([scalar], [empty(emit, type_)], [type_])).results[0]


def _sum(emit: Emitter, op: GenericOp, partial: SSAValue, element: Attribute) -> SSAValue:
    """The sum over the first dimension, from where the product starts."""
    init = op.outputs[0]
    type_ = tensor_type(init)
    is_short = type_.element_type != element
    start = _zeros(emit, TensorType(element, type_.get_shape())) if is_short else init
    combiner = match_combiner(op)
    assert combiner is not None
    add = arith.AddfOp if isinstance(combiner.op, arith.AddfOp) else arith.AddiOp
    block = Block(arg_types=[element, element])
    inner = Emitter.at_end(block, op.location)
    inner.add(YieldOp(inner.add(add(block.args[1], block.args[0])).result))
    rank = type_.get_num_dims()
    dims = tuple(AffineDimExpr(i) for i in range(1, rank + 1))
    maps = [AffineMap.identity(rank + 1), AffineMap(rank + 1, 0, dims)]
    iterators = [IteratorTypeAttr.reduction(), *[IteratorTypeAttr.parallel()] * rank]
    total = make_generic(emit, [partial], [start], maps, iterators, Region(block)).results[0]
    if not is_short:
        return total

    def rounded(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        wide = inner.add(arith.ExtFOp(args[1], f32)).result
        value = inner.add(arith.AddfOp(wide, args[0])).result
        return [inner.add(arith.TruncFOp(value, type_.element_type)).result]  # pyright: ignore[reportArgumentType]

    identity = AffineMap.identity(rank)
    return elementwise(emit, type_, [total, init], [identity, identity], rounded)
