"""The sizes of a host function's tensors, and the checks of what a call gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func, tensor
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import indexing_maps, shape_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.host import HOST_BODY, CheckOp, DispatchOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp

from .index_reach import reaches
from .sized_schedule import Size


@dataclass
class HostSizes:
    """Finds sizes in one host function; equal ones are one value where that can be seen."""

    function: func.FuncOp
    emit: Emitter | None = None
    """Where ops of the host program go at the moment."""
    dims: dict[tuple[SSAValue, int], Size] = field(default_factory=dict[tuple[SSAValue, int], Size])
    checked: set[tuple[Size, Size]] = field(default_factory=set[tuple[Size, Size]])

    def size(self, value: SSAValue, dim: int) -> Size:
        """The size of a dimension, computed where `emit` is if it has to be."""
        extent = shape_of(value)[dim]
        if extent >= 0:
            return extent
        key = (value, dim)
        if key not in self.dims:
            self.dims[key] = self._find_size(value, dim)
        return self.dims[key]

    def _find_size(self, value: SSAValue, dim: int) -> Size:
        owner = value.owner
        dynamic = [d for d, s in enumerate(shape_of(value)) if s < 0]
        match owner:
            case tensor.EmptyOp():
                return self._resolved(owner.dynamic_sizes[dynamic.index(dim)])
            case FillOp():
                return self.size(owner.outputs[0], dim)
            case GenericOp():
                number = list(owner.results).index(value)  # pyright: ignore[reportArgumentType]
                return self.size(owner.outputs[number], dim)
            case DispatchOp():
                before = 0
                for result in owner.res:
                    if result is value:
                        break
                    before += sum(s < 0 for s in shape_of(result))
                return self._resolved(owner.result_sizes[before + dynamic.index(dim)])
            case _:
                # Right after what makes the tensor, so that every use may have it.
                block = self.function.body.block
                if isinstance(value, BlockArgument):
                    assert block.first_op is not None
                    place = Emitter.before(block.first_op)
                else:
                    assert isinstance(owner, Operation) and owner.next_op is not None
                    place = Emitter.before(owner.next_op)
                return place.add(tensor.DimOp(value, place.index(dim))).result

    def _resolved(self, value: SSAValue) -> Size:
        """A size of the source: the constant or the size of another tensor that it is."""
        if isinstance(value.owner, tensor.DimOp):
            return self.dim_of(value.owner)
        number = int_of(value)
        return value if number is None else number

    def sizes(self, value: SSAValue) -> Sequence[Size]:
        """All sizes of a tensor."""
        return [self.size(value, dim) for dim in range(len(shape_of(value)))]

    def value(self, size: Size) -> SSAValue:
        """A size as a value of the host program."""
        assert self.emit is not None
        return self.emit.index(size) if isinstance(size, int) else size

    def extents(self, op: GenericOp) -> Sequence[Size]:
        """The sizes of the loops; the call is refused where operands do not agree on them."""
        maps = indexing_maps(op)
        found: dict[int, Size] = {}
        operands = list(zip(op.operands, maps, strict=True))
        # Results first: their sizes are computed, so that a check names an input.
        for operand, map_ in [*operands[len(op.inputs) :], *operands[: len(op.inputs)]]:
            for dim, expr in enumerate(map_.results):
                if isinstance(expr, AffineDimExpr):
                    size = self.size(operand, dim)
                    known = found.setdefault(expr.position, size)
                    if isinstance(size, int) and not isinstance(known, int):
                        found[expr.position] = size
        extents = [found[i] for i in range(maps[0].num_dims)]
        for operand, map_ in operands:
            for dim, expr in enumerate(map_.results):
                self._check(op, operand, dim, expr, extents)
        return extents

    def _check(
        self,
        op: GenericOp,
        operand: SSAValue,
        dim: int,
        expr: AffineExpr,
        extents: Sequence[Size],
    ) -> None:
        """Add a check that a dimension has the size that the loops need, unless it is known."""
        assert self.emit is not None
        size = self.size(operand, dim)
        if isinstance(expr, AffineDimExpr):
            needed = extents[expr.position]
            if size is needed or size == needed or (size, needed) in self.checked:
                return
            self.checked.add((size, needed))
            sides = (self.value(size), self.value(needed))
            equal = self.emit.add(arith.CmpiOp(*sides, "eq")).result
            what = f"{self._where(op, operand, dim)} must be {self._spell(needed)}"
            self.emit.add(CheckOp(equal, what))
            return
        if isinstance(size, int) and all(isinstance(e, int) for e in extents):
            return
        reach = reaches(expr, extents, self.emit)
        if reach is None:
            raise refuse(
                op, f"the index {expr} into a tensor of dynamic shape is not supported yet"
            )
        for index, predicate, bound in zip(reach, ("sge", "slt"), (0, size), strict=True):
            if (
                isinstance(index, int)
                and isinstance(bound, int)
                and _holds(index, predicate, bound)
            ):
                continue
            sides = (self.value(index), self.value(bound))
            inside = self.emit.add(arith.CmpiOp(*sides, predicate)).result
            # No index at all is used where a loop is empty.
            for extent in extents:
                if not isinstance(extent, int):
                    zero = self.emit.index(0)
                    empty = self.emit.add(arith.CmpiOp(extent, zero, "eq")).result
                    inside = self.emit.add(arith.OrIOp(inside, empty)).result
            self.emit.add(CheckOp(inside, f"{self._where(op, operand, dim)} is too small"))

    def _spell(self, size: Size) -> str:
        """A size in a sentence."""
        if isinstance(size, int):
            return str(size)
        for (value, dim), known in self.dims.items():
            if known is size and self._is_argument(value):
                assert isinstance(value, BlockArgument)
                return f"dimension {dim} of argument {value.index}"
        return "what the other operands have"

    def _is_argument(self, value: SSAValue) -> bool:
        """Whether a tensor is an argument that a user knows."""
        return isinstance(value, BlockArgument) and HOST_BODY not in self.function.attributes

    def _where(self, op: Operation, operand: SSAValue, dim: int) -> str:
        if self._is_argument(operand):
            assert isinstance(operand, BlockArgument)
            return f"dimension {dim} of argument {operand.index}"
        name = f" %{operand.name_hint}" if operand.name_hint else ""
        return f"dimension {dim} of an operand{name} of {op.name}"

    def dim_of(self, op: tensor.DimOp) -> Size:
        """The size that a `tensor.dim` asks for."""
        index = int_of(op.index)
        if index is None:
            raise refuse(op, "tensor.dim of a computed dimension is not supported")
        return self.size(op.source, index)


def _holds(index: int, predicate: str, bound: int) -> bool:
    return index >= bound if predicate == "sge" else index < bound
