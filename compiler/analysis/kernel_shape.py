"""Read off a kernel's IR what the choice of its schedule depends on."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, OpResult
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.type import get_element_type_or_self

from ingot.compiler.analysis.affine_maps import plain_dims
from ingot.compiler.analysis.attention import Attention
from ingot.compiler.analysis.attention_kernels import kernel_attention
from ingot.compiler.analysis.attention_schedule import AttentionShape
from ingot.compiler.analysis.dispatch_graph import LONG_REDUCTION
from ingot.compiler.analysis.schedule import ColumnsShape, ContractionShape, KernelShape
from ingot.compiler.analysis.shared_loops import Dims, shared_dims
from ingot.compiler.analysis.structured import (
    element_type,
    indexing_maps,
    loop_extents,
    match_combiner,
    match_contraction,
    reduced_extents,
    reduction_loops,
    row_dimension,
    shape_of,
)
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import GenericOp


def is_kernel(func: FuncOp) -> bool:
    """Whether a function is an outlined kernel on tensors; one on buffers needs no schedule."""
    return "ingot.kernel" in func.attributes and not any(
        isinstance(type_, MemRefType) for type_ in func.function_type.inputs
    )


def kernel_results(func: FuncOp) -> list[OpResult]:
    """The values a kernel on tensors returns."""
    terminator = func.body.block.last_op
    assert isinstance(terminator, ReturnOp)
    return [v for v in terminator.arguments if isinstance(v, OpResult)]


def row_dims(func: FuncOp) -> int:
    """How many leading dimensions of a row kernel's results count rows; 0 for pointwise kernels."""
    attr = func.attributes.get("ingot.row_dims")
    return attr.value.data if isinstance(attr, IntegerAttr) else 0


def kernel_kind(func: FuncOp) -> str:
    """`pointwise`, `row`, `attention` or `scan`."""
    attr = func.attributes.get("ingot.kind")
    return attr.data if isinstance(attr, StringAttr) else "pointwise"


def describe_kernel(func: FuncOp) -> KernelShape:
    """The `KernelShape` of an outlined kernel at L2."""
    results = kernel_results(func)
    anchor = results[0]
    shape = shape_of(anchor)
    ops = list(func.body.block.ops)
    generics = [op for op in ops if isinstance(op, GenericOp)]
    has_regions = any(inner.regions for op in generics for inner in op.body.block.ops)
    element_bytes = max((_bytes(v.type) for op in ops for v in op.operands), default=4)
    if kernel_kind(func) == "attention":
        attention = kernel_attention(func.body.block)
        return KernelShape(
            kind="attention",
            parallel=shape,
            has_reduction=True,
            element_bytes=element_bytes,
            attention=_attention(attention, ops, anchor),
        )
    if kernel_kind(func) == "row" and _can_share_rows(generics, row_dims(func)):
        rows = row_dims(func)
        inner, last = 1, 1
        known = shared_dims(ops, anchor, rows)
        for op in generics:
            extents = _inner_extents(op, known.get(op.results[0], ()))
            count = 1
            for extent in extents:
                count *= extent
            if count > inner or (count == inner and extents):
                inner, last = count, extents[-1] if extents else 1
        if inner < LONG_REDUCTION:
            # A thread takes such a row as it is.
            return KernelShape(
                kind="pointwise",
                parallel=shape[:rows],
                vectorizable=False,
                has_reduction=True,
                element_bytes=element_bytes,
            )
        return KernelShape(
            kind="row",
            parallel=shape[:rows],
            inner=inner,
            inner_last=last,
            products=_are_products(generics, rows),
            vectorizable=not has_regions,
            has_reduction=True,
            element_bytes=element_bytes,
        )
    owner = anchor.op
    if isinstance(owner, ScanOp):
        dimension = owner.dimension.value.data
        kept = shape_of(owner.input)
        return KernelShape(
            kind="pointwise",
            parallel=(*kept[:dimension], *kept[dimension + 1 :]),
            vectorizable=False,
            has_reduction=True,
            element_bytes=element_bytes,
        )
    has_reduction = any(reduction_loops(op) for op in generics)
    loop, transposed = 0, ()
    if isinstance(owner, GenericOp) and not has_reduction:
        loop, transposed = transposed_inputs(owner)
    return KernelShape(
        kind="pointwise",
        parallel=shape,
        vectorizable=not has_regions,
        has_reduction=has_reduction,
        columns=_columns(ops, anchor) if has_reduction else None,
        contraction=_contraction(func, shape),
        transposed=transposed,
        transposed_loop=loop,
        element_bytes=element_bytes,
    )


def _columns(ops: list[Operation], anchor: OpResult) -> ColumnsShape | None:
    """The reductions of a kernel, if threads can share them: all over equal loops."""
    reductions = [op for op in ops if isinstance(op, GenericOp) and reduction_loops(op)]
    dims = tuple(range(len(shape_of(anchor))))
    known = shared_dims(ops, anchor, len(dims))
    values = [v for op in ops if isinstance(op, GenericOp) for v in op.results]
    if not dims or any(known.get(v) != dims for v in values):
        return None
    extents = {reduced_extents(op) for op in reductions}
    if len(extents) != 1 or any(match_combiner(op) is None for op in reductions):
        return None
    (loops,) = extents
    # Short floats are summed in f32.
    held = [max(4, _bytes(op.results[0].type)) for op in reductions]
    return ColumnsShape(max(loops), sum(held)) if min(loops) > 0 else None


def _attention(attention: Attention, ops: list[Operation], result: OpResult) -> AttentionShape:
    """The sizes of an attention whose result, perhaps transposed, is the kernel's."""
    dims = shape_of(result)
    product = attention.product
    extents = loop_extents(product)
    known = shared_dims(ops, result, len(dims))[product.results[0]]
    dim_of = {
        e.position: dim
        for e, dim in zip(indexing_maps(product)[-1].results, known, strict=True)
        if isinstance(e, AffineDimExpr) and dim is not None
    }
    head = loop_extents(attention.scores)[attention.score_loops.index(None)]
    keys = attention.scores.inputs[1 - attention.query]
    staged = _padded(head) * _bytes(keys.type)
    staged += _padded(extents[attention.value_loop]) * _bytes(attention.values.type)
    return AttentionShape(
        dims=dims,
        row_dim=dim_of[attention.row_loop],
        value_dim=dim_of[attention.value_loop],
        keys=extents[attention.key_loop],
        head=head,
        staged_bytes=staged,
    )


def _padded(elements: int) -> int:
    return -(-elements // 4) * 4


def _can_share_rows(generics: list[GenericOp], rows: int) -> bool:
    """Whether threads gain from sharing a row: some op has a plain combiner, or writes a row."""
    return any(
        match_combiner(op) is not None
        if reduction_loops(op)
        else len(shape_of(op.results[0])) > rows
        for op in generics
    )


def _are_products(generics: list[GenericOp], rows: int) -> bool:
    """Whether rows are reduced by products of two inputs only, and nothing is left inside them."""
    return all(len(shape_of(result)) == rows for op in generics for result in op.results) and all(
        match_contraction(op) is not None for op in generics if reduction_loops(op)
    )


def _inner_extents(op: GenericOp, dims: Dims) -> list[int]:
    """Extents of the loops of a row kernel's op that run inside a row."""
    out = indexing_maps(op)[len(op.inputs)]
    row_loops = {
        e.position
        for e, loop in zip(out.results, dims, strict=False)
        if loop is not None and isinstance(e, AffineDimExpr)
    }
    return [n for i, n in enumerate(loop_extents(op)) if i not in row_loops]


def transposed_inputs(op: GenericOp) -> tuple[int, tuple[int, ...]]:
    """A shared loop along which inputs are contiguous and the results are not, and those inputs.

    The inputs are positions, none where there is no such loop. Loops are counted in the order of
    the results' dimensions, which all results have to share.
    """
    maps = indexing_maps(op)
    out, *others = (map_.results for map_ in maps[len(op.inputs) :])
    if any(other != out for other in others):
        return 0, ()
    found: list[tuple[int, int]] = []
    for position, map_ in enumerate(maps[: len(op.inputs)]):
        exprs = map_.results
        if len(exprs) > 1 and len(set(exprs)) == len(exprs) and set(exprs) <= set(out):
            loop = out.index(exprs[-1])
            if loop != len(out) - 1 and out[-1] in exprs:
                found.append((loop, position))
    first = found[0][0] if found else 0
    return first, tuple(position for loop, position in found if loop == first)


def find_contraction(func: FuncOp) -> GenericOp | None:
    """The one contraction of a kernel whose other ops only follow it elementwise, or None."""
    found: GenericOp | None = None
    for op in func.body.block.walk():
        if not isinstance(op, GenericOp) or not reduction_loops(op):
            continue
        if found is not None or match_contraction(op) is None:
            return None
        found = op
    return found


def _contraction(func: FuncOp, shape: tuple[int, ...]) -> ContractionShape | None:
    op = find_contraction(func)
    if op is None or len(shape) < 2:
        return None
    contraction = match_contraction(op)
    assert contraction is not None
    if len(contraction.k) != 1 or shape_of(op.outputs[0]) != shape:
        return None
    if any(shape_of(result) != shape for result in kernel_results(func)):
        return None
    loops = plain_dims(indexing_maps(op)[-1])
    row_loop = row_dimension(op, contraction)
    if row_loop is None:
        return None
    if not _keeps_order(func, op):
        return None
    extents = loop_extents(op)
    return ContractionShape(
        m=extents[loops[row_loop] or 0],
        n=extents[loops[-1] or 0],
        k=extents[contraction.k[0]],
        element=_factor_type(op),
        accumulator=str(element_type(op.results[0])),
        contiguous=tuple(shape_of(value)[-1] for value in op.inputs),
        row_loop=row_loop,
    )


def _factor_type(op: GenericOp) -> str:
    """The float type of both factors of a contraction; empty where they are no such pair."""
    types = {str(element_type(value)) for value in op.inputs}
    wanted = types | {str(element_type(op.results[0])), "f32"}
    return types.pop() if len(types) == 1 and len(wanted) <= 2 else ""


def _keeps_order(func: FuncOp, contraction: GenericOp) -> bool:
    """Whether every op after the contraction reads its value without permuting dimensions."""
    reached: set[Operation] = {contraction}
    for op in func.body.block.ops:
        if not isinstance(op, GenericOp) or op is contraction:
            continue
        for operand, map_ in zip(op.operands, indexing_maps(op), strict=True):
            if isinstance(operand, OpResult) and operand.op in reached:
                out = indexing_maps(op)[-1]
                if map_ != out:
                    return False
                reached.add(op)
    return True


def _bytes(type_: Attribute) -> int:
    element = get_element_type_or_self(type_)
    width = getattr(element, "bitwidth", None)
    if width is None:
        width = getattr(getattr(element, "width", None), "data", 32)
    return max(1, int(width) // 8) if isinstance(type_, TensorType) else 1
