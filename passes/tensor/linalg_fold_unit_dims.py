"""Drop loops and dimensions of extent 1."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import simplify
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase, make_generic, reshape
from ingot.compiler.analysis.structured import indexing_maps, loop_extents, shape_of
from ingot.compiler.dialects.linalg import GenericOp, IndexOp


def _fold(op: GenericOp) -> None:
    extents = loop_extents(op)
    kept = [i for i, extent in enumerate(extents) if extent != 1]
    maps = indexing_maps(op)
    shapes = [shape_of(v) for v in op.operands]
    if len(kept) == len(extents) and all(1 not in shape for shape in shapes):
        return
    dims: list[AffineExpr] = [AffineConstantExpr(0)] * len(extents)
    for new, old in enumerate(kept):
        dims[old] = AffineDimExpr(new)
    new_sizes: list[list[int]] = []
    new_maps: list[AffineMap] = []
    for shape, map_ in zip(shapes, maps, strict=True):
        # A dimension of size 1 is only ever indexed by 0.
        sizes = [size for size in shape if size != 1]
        exprs = [e for e, size in zip(map_.results, shape, strict=True) if size != 1]
        exprs = [simplify(e.replace_dims_and_symbols(dims, ()), len(kept)) for e in exprs]
        for expr, size in zip(exprs, sizes, strict=True):
            # A window over a part of a dimension: a plain loop would run over all of it.
            if isinstance(expr, AffineDimExpr) and extents[kept[expr.position]] != size:
                return
        new_sizes.append(sizes)
        new_maps.append(AffineMap(len(kept), 0, tuple(exprs)))
    emit = Emitter.before(op)
    operands = [reshape(emit, v, s) for v, s in zip(op.operands, new_sizes, strict=True)]
    body = op.detach_region(op.body)
    for inner in [i for i in body.walk() if isinstance(i, IndexOp)]:
        loop = inner.dim.value.data
        if loop in kept:
            inner.properties["dim"] = IntegerAttr(kept.index(loop), i64)
        else:
            inner.result.replace_all_uses_with(Emitter.before(inner).index(0))
            erase(inner)
    count = len(op.inputs)
    iterators = [op.iterator_types.data[i] for i in kept]
    new = make_generic(emit, operands[:count], operands[count:], new_maps, iterators, body)
    new.attributes |= op.attributes
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(reshape(emit, result, shape_of(old)))
    op.detach()
    op.drop_all_references()


@dataclass(frozen=True)
class LinalgFoldUnitDimsPass(ModulePass):
    """Drop the loops of extent 1 of every generic, and such dimensions of its operands (L1 to L1).

    The reshapes at the borders cancel between neighbours under `canonicalize-tensor`.

        linalg.generic {(d0, d1) -> (d0, 0)} ins(%x : tensor<64x1xf32>) ...
    becomes
        %c = tensor.collapse_shape %x [[0, 1]] : tensor<64x1xf32> into tensor<64xf32>
        linalg.generic {(d0, d1) -> (d0)} ins(%c : tensor<64xf32>) ...
    """

    name = "linalg-fold-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every generic of the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.block.ops):
                if isinstance(inner, GenericOp):
                    _fold(inner)
