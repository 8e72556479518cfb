"""Let ops that read more tensors than a kernel can bind read some of them from one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import dims_given
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase, reshape
from ingot.compiler.analysis.structured import captured_tensors, indexing_maps, shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import FillOp, GenericOp


def chosen(candidates: Sequence[tuple[Attribute, int]], buffers: int, most: int) -> list[list[int]]:
    """Which tensors to pack, given the element type and the size of each; a list for each new one.

    Small ones first, and no more than it takes; of one element type as long as it has enough.
    """
    by_type: dict[Attribute, list[int]] = {}
    for number in sorted(range(len(candidates)), key=lambda n: candidates[n][1]):
        by_type.setdefault(candidates[number][0], []).append(number)
    groups: list[list[int]] = []
    for numbers in sorted(by_type.values(), key=len, reverse=True):
        if buffers > most and len(numbers) > 1:
            group = numbers[: buffers - most + 1]
            groups.append(group)
            buffers -= len(group) - 1
    return groups


def _is_read(value: SSAValue) -> bool:
    return not isinstance(value.owner, tensor.EmptyOp | FillOp)


def _needed_for_extents(op: GenericOp) -> set[SSAValue]:
    """Inputs that alone say how long a loop is."""
    maps = indexing_maps(op)
    given = dims_given(maps[len(op.inputs) :])
    needed: set[SSAValue] = set()
    for value, map_ in zip(op.inputs, maps, strict=False):
        if dims_given([map_]) - given:
            given |= dims_given([map_])
            needed.add(value)
    return needed


@dataclass(frozen=True)
class _Place:
    """Where a tensor lies in a packed one."""

    packed: SSAValue
    offset: int
    shape: Sequence[int]

    @property
    def strides(self) -> list[int]:
        """Elements between neighbours in each dimension."""
        return [prod(self.shape[dim + 1 :]) for dim in range(len(self.shape))]

    def map_of(self, map_: AffineMap) -> AffineMap:
        """The map to the packed tensor for one to the tensor."""
        at: AffineExpr = AffineConstantExpr(self.offset)
        for expr, stride in zip(map_.results, self.strides, strict=True):
            at = at + expr * stride
        return AffineMap(map_.num_dims, 0, (at,))

    def index_of(self, emit: Emitter, indices: Sequence[SSAValue]) -> SSAValue:
        """The same for indices that a body computes."""
        at = emit.index(self.offset)
        for index, stride in zip(indices, self.strides, strict=True):
            step = emit.add(arith.MuliOp(index, emit.index(stride))).result
            at = emit.add(arith.AddiOp(at, step)).result
        return at


def _pack(op: GenericOp, values: Sequence[SSAValue]) -> dict[SSAValue, _Place]:
    emit = Emitter.before(op)
    # A loop that is an index by itself runs over a whole dimension, so no row may start at 0.
    values = sorted(values, key=lambda value: len(shape_of(value)) == 1)
    if len(shape_of(values[0])) == 1:
        values = [values[0], *values]
    sizes = [prod(shape_of(value)) for value in values]
    type_: TensorType[Attribute] = TensorType(tensor_type(values[0]).element_type, [sum(sizes)])
    concat = tensor.ConcatOp.create(
        operands=[reshape(emit, value, [size]) for value, size in zip(values, sizes, strict=True)],
        result_types=[type_],
        properties={"dim": IntegerAttr(0, 64)},
    )
    packed = emit.add(concat).result
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return {
        value: _Place(packed, start, shape_of(value))
        for value, start in zip(values, starts, strict=True)
    }


def _read_packed(op: GenericOp, places: dict[SSAValue, _Place]) -> None:
    maps = indexing_maps(op)
    for i, value in enumerate(op.inputs):
        if value in places:
            maps[i] = places[value].map_of(maps[i])
            op.operands[i] = places[value].packed
    op.properties["indexing_maps"] = ArrayAttr([AffineMapAttr(map_) for map_ in maps])
    for inner in list(op.body.walk()):
        if isinstance(inner, tensor.ExtractOp) and inner.tensor in places:
            place, emit = places[inner.tensor], Emitter.before(inner)
            index = place.index_of(emit, list(inner.indices))
            read = emit.add(tensor.ExtractOp(place.packed, [index], inner.result.type))
            inner.result.replace_all_uses_with(read.result)
            erase(inner)


def _convert(op: GenericOp, most: int) -> None:
    read = {value: None for value in (*op.operands, *captured_tensors(op)) if _is_read(value)}
    buffers = len(read) + len(op.results)
    if buffers <= most:
        return
    fixed = {*op.outputs, *_needed_for_extents(op)}
    candidates = [value for value in read if value not in fixed and prod(shape_of(value))]
    described = [(tensor_type(v).element_type, prod(shape_of(v))) for v in candidates]
    places: dict[SSAValue, _Place] = {}
    for group in chosen(described, buffers, most):
        places |= _pack(op, [candidates[number] for number in group])
    _read_packed(op, places)


@dataclass(frozen=True)
class DispatchPackInputsPass(ModulePass):
    """Pack some inputs of ops that read more tensors than a kernel can bind, so that each op fits a
    kernel (L1 to L1).

        linalg.generic ins(%a, %b, ... : tensor<4xf32>, tensor<9xf32>, ...)
    becomes
        %p = tensor.concat dim(0) %a, %b : ... -> tensor<13xf32>
        linalg.generic {(i) -> (i), (i) -> (i + 4), ...} ins(%p, %p, ...)
    """

    name = "dispatch-pack-inputs"
    max_buffers: int = 31

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.block.ops):
                if isinstance(inner, GenericOp):
                    _convert(inner, self.max_buffers)
