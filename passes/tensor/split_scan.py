"""Split long scans into blocks that are scanned side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    erase,
    fill,
    loop_indices,
    open_sizes,
    reshape,
    size_of,
)
from ingot.compiler.analysis.neutral import neutral_element
from ingot.compiler.analysis.sizes import is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.tensor import PadOp

from .host_loops import doublings, for_loop
from .reduction_turns import LONGEST_LOOP

LONG = 2048
"""Elements of a line from which it is split."""

MANY_LINES = 4096
"""Lines that keep a device busy without splitting them, unless they are very long."""

VERY_LONG = 1 << 15
"""Elements of a line from which it is split however many lines there are."""


def block_length(length: int) -> int:
    """About the square root, so that a block and the list of blocks are short."""
    return 1 << ((length - 1).bit_length() + 1) // 2


def _combine(emit: Emitter, body: Region, accumulator: SSAValue, element: SSAValue) -> SSAValue:
    values: dict[SSAValue, SSAValue] = dict(
        zip(body.block.args, (accumulator, element), strict=True)
    )
    combine = body.block.first_op
    assert combine is not None
    return emit.builder.insert(combine.clone(values)).results[0]


def _start(op: ScanOp) -> arith.ConstantOp | None:
    """The neutral element, when the body is one associative op whose accumulator comes first."""
    block = op.body.block
    combine = block.first_op
    if combine is None or combine.next_op is not block.last_op:
        return None
    if list(combine.operands) not in ([*block.args], [*block.args][::-1]):
        return None
    types = {tensor_type(v).element_type for v in (op.input, op.output)}
    neutral = neutral_element(combine.name, block.args[0].type)
    return arith.ConstantOp(neutral) if neutral is not None and len(types) == 1 else None


def _padded(
    emit: Emitter, value: SSAValue, dimension: int, size: int, scalar: SSAValue
) -> SSAValue:
    shape = list(shape_of(value))
    high: list[SSAValue | int] = [0] * len(shape)
    high[dimension] = size - shape[dimension]
    if not high[dimension]:
        return value
    shape[dimension] = size
    low: list[SSAValue | int] = [0] * len(shape)
    block = Block(arg_types=[emit.index(0).type] * len(shape))
    Emitter.at_end(block, emit.location).add(tensor.YieldOp(scalar))
    type_ = TensorType(tensor_type(value).element_type, shape)
    return emit.add(PadOp(value, low, high, Region(block), type_)).result


def _split(op: ScanOp, neutral: arith.ConstantOp) -> None:
    """Scan blocks from the neutral element, scan their totals, combine the two."""
    emit = Emitter.before(op)
    dimension, shape = op.dimension.value.data, list(shape_of(op.input))
    length = shape[dimension]
    size = block_length(length)
    count = -(-length // size)
    element = tensor_type(op.input).element_type
    scalar = emit.add(neutral).result
    padded = _padded(emit, op.input, dimension, count * size, scalar)
    blocks = [*shape[:dimension], count, size, *shape[dimension + 1 :]]
    source = reshape(emit, padded, blocks)
    totals: TensorType[Attribute] = TensorType(
        element, [*blocks[: dimension + 1], *blocks[dimension + 2 :]]
    )
    inner = emit.add(
        ScanOp(
            source,
            empty(emit, tensor_type(source)),
            fill(emit, scalar, totals),
            dimension + 1,
            op.inclusive is not None,
            op.body.clone(),
        )
    )
    outer = emit.add(
        ScanOp(inner.last, empty(emit, totals), op.init, dimension, False, op.body.clone())
    )
    rank = len(blocks)
    before = AffineMap(
        rank, 0, tuple(AffineDimExpr(dim) for dim in range(rank) if dim != dimension + 1)
    )

    def body(inside: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [_combine(inside, op.body, args[0], args[1])]

    maps = [before, AffineMap.identity(rank)]
    joined = elementwise(emit, tensor_type(source), [outer.scanned, inner.scanned], maps, body)
    scanned = reshape(emit, joined, shape_of(padded))
    if count * size != length:
        offsets = [0] * len(shape)
        cut = tensor.ExtractSliceOp.from_static_parameters(scanned, offsets, shape)
        scanned = emit.add(cut).result
    for old, new in zip(op.results, (scanned, outer.last), strict=True):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


def _in_turns(op: ScanOp) -> None:
    """Scan one range after another, each from what the last one left."""
    emit = Emitter.before(op)
    dimension, shape = op.dimension.value.data, list(shape_of(op.input))
    length = shape[dimension]
    last = op.init
    parts: list[SSAValue] = []
    for start in range(0, length, LONGEST_LOOP):
        sizes = [*shape]
        sizes[dimension] = min(LONGEST_LOOP, length - start)
        offsets = [start if dim == dimension else 0 for dim in range(len(shape))]
        cut = tensor.ExtractSliceOp.from_static_parameters(op.input, offsets, sizes)
        place: TensorType[Attribute] = TensorType(tensor_type(op.output).element_type, sizes)
        part = emit.add(
            ScanOp(
                emit.add(cut).result,
                empty(emit, place),
                last,
                dimension,
                op.inclusive is not None,
                op.body.clone(),
            )
        )
        parts.append(part.scanned)
        last = part.last
    concat = tensor.ConcatOp.create(
        operands=parts,
        result_types=[op.output.type],
        properties={"dim": IntegerAttr(dimension, 64)},
    )
    for old, new in zip(op.results, (emit.add(concat).result, last), strict=True):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


def _in_doublings(op: ScanOp) -> None:
    """Scan lines of a length that a call decides: in turn s each element takes what lies 2^s before
    it (Hillis and Steele 1986), then all take the start."""
    emit = Emitter.before(op)
    if _start(op) is None:
        raise refuse(
            op,
            "a scan of dynamic shape whose body is not known to be associative is not supported",
            "combine by one op of arith, like addf, or export the program with static shapes",
        )
    dimension, rank = op.dimension.value.data, len(shape_of(op.input))
    type_ = tensor_type(op.output)
    identity = AffineMap.identity(rank)
    line = AffineMap(rank, 0, tuple(AffineDimExpr(d) for d in range(rank) if d != dimension))
    length = size_of(emit, op.input, dimension)
    end = emit.index(length) if isinstance(length, int) else length
    sizes = open_sizes(emit, op.input)

    def before(inner: Emitter, source: SSAValue, distance: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The element that lies `distance` before this one, and whether there is one."""
        loops = loop_indices(inner, rank)
        place = inner.add(arith.SubiOp(loops[dimension], distance)).result
        exists = inner.add(arith.CmpiOp(place, inner.index(0), "sge")).result
        inside = inner.add(arith.MaxSIOp(place, inner.index(0))).result
        at = [*loops[:dimension], inside, *loops[dimension + 1 :]]
        return inner.add(tensor.ExtractOp(source, at, type_.element_type)).result, exists

    def turn(outer: Emitter, number: SSAValue, held: Sequence[SSAValue]) -> list[SSAValue]:
        distance = outer.add(arith.ShLIOp(outer.index(1), number)).result

        def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            other, exists = before(inner, held[0], distance)
            joined = _combine(inner, op.body, other, args[0])
            return [inner.add(arith.SelectOp(exists, joined, args[0])).result]

        return [elementwise(outer, type_, held, [identity], body, sizes)]

    (scanned,) = for_loop(emit, doublings(emit, end), [op.input], turn)

    def finish(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        start, element = args
        if op.inclusive is not None:
            return [_combine(inner, op.body, start, element)]
        other, exists = before(inner, scanned, inner.index(1))
        joined = _combine(inner, op.body, start, other)
        return [inner.add(arith.SelectOp(exists, joined, start)).result]

    def last(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank - 1)
        position = inner.add(arith.SubiOp(end, inner.index(1))).result
        exists = inner.add(arith.CmpiOp(position, inner.index(0), "sge")).result
        at = [*loops[:dimension], position, *loops[dimension:]]
        element = inner.add(tensor.ExtractOp(scanned, at, type_.element_type)).result
        joined = _combine(inner, op.body, args[0], element)
        return [inner.add(arith.SelectOp(exists, joined, args[0])).result]

    results = (
        elementwise(emit, type_, [op.init, scanned], [line, identity], finish, sizes),
        elementwise(
            emit,
            tensor_type(op.init),
            [op.init],
            [AffineMap.identity(rank - 1)],
            last,
            open_sizes(emit, op.init),
        ),
    )
    for old, new in zip(op.results, results, strict=True):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


def _is_long(op: ScanOp) -> bool:
    shape = shape_of(op.input)
    length = shape[op.dimension.value.data]
    if prod(shape) == 0 or length < LONG:
        return False
    return length >= VERY_LONG or prod(shape) // length < MANY_LINES


@dataclass(frozen=True)
class SplitScanPass(ModulePass):
    """Scan long lines in blocks, side by side, then combine each with what lies before it (L1 to
    L1).

    The order of the combinations is fixed: in a block from the left, then over the blocks. A body
    that is not known to be associative goes on in its order, in kernels one after another.

        %s, %l = ingot.scan dimension = 0 ins(%x : tensor<65536xf32>) outs(%e, %i) { add }
    becomes
        %b, %t = ingot.scan dimension = 1 ins(%x : tensor<256x256xf32>) outs(.., %zeros) { add }
        %o, %l = ingot.scan exclusive dimension = 0 ins(%t : tensor<256xf32>) outs(.., %i) { add }
        %s = linalg.generic ins(%o, %b) { add }
    """

    name = "split-scan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, ScanOp) and is_sized(inner):
                    _in_doublings(inner)
                elif isinstance(inner, ScanOp) and _is_long(inner):
                    neutral = _start(inner)
                    if neutral is not None:
                        _split(inner, neutral)
                    elif shape_of(inner.input)[inner.dimension.value.data] > LONGEST_LOOP:
                        _in_turns(inner)
