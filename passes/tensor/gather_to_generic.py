"""Turn `tensor.gather` into a generic and `tensor.scatter` into `ingot.scatter`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    collapse,
    elementwise,
    erase,
    loop_indices,
    size_of,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.ingot import ScatterOp, YieldOp
from ingot.compiler.dialects.tensor import GatherOp
from ingot.compiler.dialects.tensor import ScatterOp as TensorScatterOp


def _window(
    op: Operation, source: SSAValue, indices: SSAValue, dims: Sequence[int], slices: SSAValue
) -> list[int]:
    """The dimensions of `source` that lie whole in `slices` (one for each entry of `indices`).

    The shape of the slices has the indexed dimensions with size 1, or leaves all of them out.
    Raises `Refusal` when it has neither form.
    """
    shape = shape_of(source)
    *batch, coordinates = shape_of(indices) or (-1,)
    valid = list(dims) == sorted(set(dims)) and all(0 <= dim < len(shape) for dim in dims)
    if not valid or coordinates != len(dims):
        raise refuse(op, f"{op.name} needs one coordinate for each of its increasing dimensions")
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    full = [*batch, *(1 if dim in dims else size for dim, size in enumerate(shape))]
    reduced = [*batch, *(shape[dim] for dim in kept)]
    if list(shape_of(slices)) not in (full, reduced):
        forms = " or ".join("x".join(map(str, form)) for form in (full, reduced))
        raise refuse(op, f"{op.name} needs slices of the shape {forms}")
    return kept


def gather(op: GatherOp, emit: Emitter) -> SSAValue:
    """Each element is read at the coordinates that the indices give."""
    dims: Sequence[int] = op.gather_dims.get_values()
    kept = _window(op, op.source, op.indices, dims, op.result)
    type_ = tensor_type(op.result)
    batch = len(shape_of(op.indices)) - 1
    rank = len(shape_of(op.source))
    window = type_.get_num_dims() - batch
    index_type = tensor_type(op.indices).element_type

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, type_.get_num_dims())
        indices: list[SSAValue] = []
        for dim in range(rank):
            if dim in kept:
                place = dim if window == rank else kept.index(dim)
                indices.append(loops[batch + place])
                continue
            at = [*loops[:batch], inner.index(list(dims).index(dim))]
            index = inner.add(tensor.ExtractOp(op.indices, at, index_type)).result
            if not isinstance(index_type, IndexType):
                index = inner.add(arith.IndexCastOp(index, IndexType())).result
            indices.append(index)
        return [inner.add(tensor.ExtractOp(op.source, indices, type_.element_type)).result]

    batch_sizes = [size_of(emit, op.indices, d) for d in range(batch)]
    window_sizes = [
        size_of(emit, op.source, dim) if dim in kept else 1
        for dim in range(rank)
        if dim in kept or window == rank
    ]
    sizes = [size for size in (*batch_sizes, *window_sizes) if not isinstance(size, int)]
    return elementwise(emit, type_, [], [], body, sizes)


def _without_indexed(emit: Emitter, slices: SSAValue, batch: int, kept: Sequence[int]) -> SSAValue:
    """Slices that have the indexed dimensions with size 1, without these dimensions."""
    rank = len(shape_of(slices))
    groups: list[list[int]] = []
    lead: list[int] = []
    for dim in range(rank):
        if dim < batch or dim - batch in kept:
            groups.append([*lead, dim])
            lead = []
        elif groups:
            groups[-1].append(dim)
        else:
            lead.append(dim)
    return collapse(emit, slices, tuple(map(tuple, groups)))


def scatter(op: TensorScatterOp, emit: Emitter) -> SSAValue:
    """A scatter whose updates replace what was there."""
    dims: Sequence[int] = op.scatter_dims.get_values()
    kept = _window(op, op.dest, op.indices, dims, op.source)
    batch = shape_of(op.indices)[:-1]
    updates = op.source
    if len(shape_of(updates)) != len(batch) + len(kept):
        updates = _without_indexed(emit, updates, len(batch), kept)
    element = tensor_type(op.dest).element_type
    block = Block(arg_types=[element, element])
    Emitter.at_end(block, op.location).add(YieldOp(block.args[1]))
    made = ScatterOp(
        op.indices, [updates], [op.dest], dims, Region(block), unique=op.unique is not None
    )
    return emit.add(made).results[0]


@dataclass(frozen=True)
class GatherToGenericPass(ModulePass):
    """Turn `tensor.gather` into a generic and `tensor.scatter` into `ingot.scatter` (L1 to L1).

        %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<9x4xf32>, tensor<5x1xi32>) -> ...
    becomes
        %g = linalg.generic outs(%empty) { %k = tensor.extract %i[%b, 0]
                                           yield (tensor.extract %x[%k, %j]) }
    """

    name = "gather-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for shapes that do not fit."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                match inner:
                    case GatherOp():
                        result = gather(inner, Emitter.before(inner))
                    case TensorScatterOp():
                        result = scatter(inner, Emitter.before(inner))
                    case _:
                        continue
                result.name_hint = inner.result.name_hint
                inner.result.replace_all_uses_with(result)
                erase(inner)
