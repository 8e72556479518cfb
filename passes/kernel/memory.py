"""Read tiles that are ranges of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref, tensor, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    MemRefType,
    VectorType,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.structured import (
    element_type,
    shape_of,
)
from ingot.compiler.dialects.arith import (
    MinSIOp,
)
from ingot.compiler.dialects.bufferization import ToTensorOp
from ingot.passes.kernel.emitter import Emitter, Lanes
from ingot.passes.kernel.indices import mixed_offsets, mixed_sizes
from ingot.passes.kernel.linear import Linear, is_multiple


@dataclass
class View:
    """A tile as a range of a buffer."""

    buffer: SSAValue
    offsets: list[Linear]
    partial: list[bool]
    """Dimensions whose size is smaller at the edge: indices inside the tile may lie outside."""
    padded: bool = False
    """The buffer holds a whole tile, with zeros past the edge: no part of it is partial."""


@dataclass
class MemoryEmitter(Emitter):
    """Emits loads of tiles."""

    views: dict[SSAValue, View] = field(default_factory=dict[SSAValue, View])
    """Tiles that were given a buffer of their own."""

    def view(self, value: SSAValue) -> View | None:
        """The range of a buffer that a tile stands for, if it stands for one."""
        if value in self.views:
            return self.views[value]
        owner = value.owner
        match owner:
            case ToTensorOp():
                rank = len(shape_of(value))
                return View(owner.memref, [Linear()] * rank, [False] * rank)
            case memref.SubviewOp():
                base = self.view(owner.source)
                assert base is not None
                static = owner.static_offsets.get_values()
                dynamic = iter(owner.offsets)
                offsets = [
                    b + self.linear(next(dynamic) if o == DYNAMIC_INDEX else int(o))
                    for b, o in zip(base.offsets, static, strict=True)
                ]
                sizes = owner.static_sizes.get_values()
                partial = [
                    p or s == DYNAMIC_INDEX for p, s in zip(base.partial, sizes, strict=True)
                ]
                return View(base.buffer, offsets, partial)
            case tensor.ExtractSliceOp():
                base = self.view(owner.source)
                if base is None:
                    return None
                offsets = [
                    b + self.linear(o)
                    for b, o in zip(base.offsets, mixed_offsets(owner), strict=True)
                ]
                partial = [
                    p or (isinstance(s, SSAValue) and not base.padded)
                    for p, s in zip(base.partial, mixed_sizes(owner), strict=True)
                ]
                return View(base.buffer, offsets, partial, base.padded)
            case _ if isinstance(value.type, MemRefType):
                rank = len(shape_of(value))
                return View(value, [Linear()] * rank, [False] * rank)
            case _:
                return None

    def load(self, view: View, index: Sequence[Linear], lanes: Lanes | None) -> SSAValue:
        """Read an element or a vector; what lies outside at a partial edge is unspecified."""
        if lanes is not None and not self._is_minor(view, lanes):
            elements = [
                self.load(view, shift(index, lanes.dim, i), None) for i in range(lanes.width)
            ]
            return self.from_elements(elements)
        whole = lanes is not None and _never_straddles(view, index, lanes)
        indices = self.buffer_index(view, index, lanes, whole)
        element = element_type(view.buffer)
        if lanes is None:
            return self.emit(memref.LoadOp.get(view.buffer, indices)).res
        inside = whole or not view.partial[lanes.dim]
        return self.emit(
            vector.TransferReadOp(
                view.buffer,
                indices,
                self.zero(element),
                VectorType(element, [lanes.width]),
                ArrayAttr([BoolAttr.from_bool(inside)]),
                _minor_map(len(indices)),
            )
        ).result

    def buffer_index(
        self, view: View, index: Sequence[Linear], lanes: Lanes | None, whole: bool
    ) -> list[SSAValue]:
        """Indices into the buffer; along partial dimensions they are kept inside it.

        A vector is kept inside only where it is known to be `whole`: all inside or all outside.
        """
        indices: list[SSAValue] = []
        shape = shape_of(view.buffer)
        for dim, (offset, local) in enumerate(zip(view.offsets, index, strict=True)):
            position = self.materialize(offset + local)
            width = lanes.width if lanes is not None and lanes.dim == dim else 1
            if view.partial[dim] and (width == 1 or whole):
                last = self.index_value(max(0, shape[dim] - width))
                position = self.pure(MinSIOp, position, last)
            indices.append(position)
        return indices

    def _is_minor(self, view: View, lanes: Lanes) -> bool:
        return lanes.dim == len(view.offsets) - 1


def _never_straddles(view: View, index: Sequence[Linear], lanes: Lanes) -> bool:
    """Whether a vector starts at a multiple of its width in a dimension that is one, too."""
    start = view.offsets[lanes.dim] + index[lanes.dim]
    size = shape_of(view.buffer)[lanes.dim]
    return size % lanes.width == 0 and is_multiple(start, lanes.width)


def shift(index: Sequence[Linear], dim: int, distance: int) -> list[Linear]:
    """The index moved by `distance` along one dimension."""
    return [form + distance if i == dim else form for i, form in enumerate(index)]


def _minor_map(rank: int) -> AffineMapAttr:
    return AffineMapAttr(AffineMap(rank, 0, (AffineDimExpr(rank - 1),)))
