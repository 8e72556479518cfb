"""Let generics write whole tensors, also where their output maps pick some elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import linear_form, permutation_of
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    empty,
    erase,
    loop_indices,
    make_generic,
)
from ingot.compiler.analysis.structured import (
    indexing_maps,
    is_parallel,
    loop_extents,
    shape_of,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import GenericOp


@dataclass(frozen=True)
class Place:
    """Where along one dimension of an output a loop writes: at `scale * loop + offset`."""

    loop: int | None
    scale: int
    offset: int


def _places(op: GenericOp, map_: AffineMap, position: int) -> list[Place]:
    """The places of each dimension of an output; raises `Refusal` for other maps."""
    found: list[Place] = []
    for expr in map_.results:
        form = linear_form(expr, map_.num_dims)
        used = [] if form is None else [d for d, c in enumerate(form[0]) if c]
        if form is None or len(used) > 1:
            raise refuse(
                op,
                f"linalg.generic that writes by the map {map_} is not supported",
                "each index of a result must be one loop, scaled and shifted, or a constant",
            )
        coefficients, offset = form
        if used and not is_parallel(op)[used[0]]:
            raise refuse(
                op,
                f"result {position} of linalg.generic is indexed by a reduction loop "
                f"in the map {map_}",
                "a result may be indexed by parallel loops alone",
            )
        found.append(
            Place(used[0], coefficients[used[0]], offset) if used else Place(None, 0, offset)
        )
    missing = [
        loop
        for loop, parallel in enumerate(is_parallel(op))
        if parallel and all(place.loop != loop for place in found)
    ]
    if missing and any(loop_extents(op)[loop] > 1 for loop in missing):
        raise refuse(
            op,
            f"linalg.generic writes each element of result {position} more than once: "
            f"its map {map_} leaves out a parallel loop",
            "make the loop a reduction",
        )
    return found


def _is_whole(op: GenericOp, map_: AffineMap) -> bool:
    """Whether the output is written as it is: each dimension by a loop of its own."""
    written = permutation_of(map_)
    if written is None:
        return False
    extents, parallel = loop_extents(op), is_parallel(op)
    covered = {loop for loop, p in enumerate(parallel) if p and extents[loop] != 1}
    return all(parallel[loop] for loop in written) and covered <= set(written)


def _scatter_back(
    emit: Emitter, output: SSAValue, compact: SSAValue, places: Sequence[Place], loops: list[int]
) -> SSAValue:
    """`output`, with the elements of `compact` (over `loops`) at their places."""
    type_ = tensor_type(output)
    extents = dict(zip(loops, shape_of(compact), strict=True))
    if prod(shape_of(compact)) == 0:
        return output

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        conditions: list[SSAValue] = []
        index: dict[int, SSAValue] = {}
        for position, place in zip(loop_indices(inner, type_.get_num_dims()), places, strict=True):
            if place.loop is None:
                here = inner.index(place.offset)
                conditions.append(inner.add(arith.CmpiOp(position, here, "eq")).result)
                continue
            last = extents[place.loop] - 1
            # From the end that lies lowest, in steps that go up.
            start = place.offset if place.scale > 0 else place.offset + place.scale * last
            distance = inner.add(arith.SubiOp(position, inner.index(start))).result
            reach = inner.index(abs(place.scale) * last)
            conditions.append(inner.add(arith.CmpiOp(distance, inner.index(0), "sge")).result)
            conditions.append(inner.add(arith.CmpiOp(distance, reach, "sle")).result)
            at = clamp(inner, distance, 0, abs(place.scale) * last)
            if abs(place.scale) > 1:
                scale = inner.index(abs(place.scale))
                rest = inner.add(arith.RemUIOp(at, scale)).result
                conditions.append(inner.add(arith.CmpiOp(rest, inner.index(0), "eq")).result)
                at = inner.add(arith.DivUIOp(at, scale)).result
            if place.scale < 0:
                at = inner.add(arith.SubiOp(inner.index(last), at)).result
            if place.loop in index:
                equal = arith.CmpiOp(index[place.loop], at, "eq")
                conditions.append(inner.add(equal).result)
            index[place.loop] = at
        element = tensor.ExtractOp(compact, [index[loop] for loop in loops], type_.element_type)
        value = inner.add(element).result
        if not conditions:
            return [value]
        return [inner.add(arith.SelectOp(all_of(inner, conditions), value, args[0])).result]

    return elementwise(emit, type_, [output], [AffineMap.identity(type_.get_num_dims())], body)


def _compact(op: GenericOp) -> None:
    maps = indexing_maps(op)
    extents = loop_extents(op)
    inputs = len(op.inputs)
    outputs = list(op.outputs)
    replaced: dict[int, tuple[list[Place], list[int]]] = {}
    emit = Emitter.before(op)
    for i, output in enumerate(op.outputs):
        map_ = maps[inputs + i]
        if _is_whole(op, map_):
            continue
        if DYNAMIC_INDEX in (*extents, *shape_of(output)):
            raise refuse(
                op, f"linalg.generic that writes a {output.type} by the map {map_} is not supported"
            )
        places = _places(op, map_, i)
        loops = sorted({place.loop for place in places if place.loop is not None})
        type_: TensorType[Attribute] = TensorType(
            tensor_type(output).element_type, [extents[loop] for loop in loops]
        )
        if op.body.block.args[inputs + i].uses:
            at = [
                AffineDimExpr(loops.index(d)) if d in loops else AffineDimExpr(0)
                for d in range(map_.num_dims)
            ]
            read = AffineMap(
                len(loops), 0, tuple(e.replace_dims_and_symbols(at, ()) for e in map_.results)
            )
            outputs[i] = elementwise(emit, type_, [output], [read], lambda _, args: args)
        else:
            outputs[i] = empty(emit, type_)
        maps[inputs + i] = AffineMap(map_.num_dims, 0, tuple(AffineDimExpr(loop) for loop in loops))
        replaced[i] = places, loops
    if not replaced:
        return
    body = op.detach_region(op.body)
    compact = make_generic(emit, list(op.inputs), outputs, maps, list(op.iterator_types), body)
    for i, (old, new) in enumerate(zip(op.results, compact.results, strict=True)):
        if i in replaced:
            new = _scatter_back(emit, op.outputs[i], new, *replaced[i])
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


@dataclass(frozen=True)
class LinalgCompactOutputsPass(ModulePass):
    """Let every generic write each element of its results once (L1 to L1).

    A generic that writes some elements (by strides, constants, a diagonal) computes these alone;
    another one puts them in their places.

        %r = linalg.generic {... (d0) -> (d0 * 2)} ... outs(%o : tensor<9xf32>)
    becomes
        %c = linalg.generic {... (d0) -> (d0)} ... outs(%empty : tensor<5xf32>)
        %r = linalg.generic ins(%o) { select(i % 2 == 0, %c[i / 2], %o[i]) }
    """

    name = "linalg-compact-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for maps that write an element twice."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, GenericOp):
                    _compact(inner)
