"""Make kernels of the ops over tensors whose sizes a call decides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.kernel_names import describe
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.sized_grid import GROUPS_X, GROUPS_Y, THREADS
from ingot.compiler.analysis.sizes import is_dynamic
from ingot.compiler.analysis.structured import (
    captured_tensors,
    indexing_maps,
    is_parallel,
    shape_of,
)
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.dispatch import KERNEL_MARK, NAMES
from ingot.compiler.dialects.host import HOST_BODY, CheckOp, DispatchOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp

from .index_reach import reaches
from .sized_kernel import KernelBuilder, Size, is_inlined


def _depends_on_sizes(value: SSAValue, block: Block) -> bool:
    """Whether a scalar of the host program is computed from a size, or read from a tensor of open
    size."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.parent_block() is not block:
        return False
    if isinstance(owner, tensor.DimOp):
        return True
    if as_tensor_type(value.type) is not None:
        return False
    return any(is_dynamic(v) or _depends_on_sizes(v, block) for v in owner.operands)


def _is_sized(op: Operation, block: Block) -> bool:
    """Whether an op works on tensors or scalars that depend on a call's sizes."""
    if any(map(is_dynamic, (*op.operands, *op.results))):
        return True
    outside = [v for inner in op.walk() for v in inner.operands]
    return any(is_dynamic(v) or _depends_on_sizes(v, block) for v in outside)


MOST_READS = 12
"""Tensors that a kernel of several ops reads: with the sizes and the results as many buffers as
every device binds."""


def _reads(op: Operation) -> set[SSAValue]:
    """The tensors that an op reads from buffers."""
    values = [*op.operands, *captured_tensors(op)]
    tensors = [value for value in values if as_tensor_type(value.type) is not None]
    return {v for v in tensors if not isinstance(v.owner, tensor.EmptyOp | FillOp)}


def _is_stored(op: FillOp, known: Collection[Operation]) -> bool:
    """Whether others read a tensor of equal elements than ops that know what the elements are."""
    return any(
        not isinstance(use.operation, GenericOp) or use.operation not in known
        for use in op.results[0].uses
    )


_VIEWS = (tensor.EmptyOp, tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.CastOp)


@dataclass
class _Function:
    """Outlines the kernels of one host function."""

    function: func.FuncOp
    taken: set[str]
    kernels: list[func.FuncOp] = field(default_factory=list[func.FuncOp])
    dims: dict[tuple[SSAValue, int], Size] = field(default_factory=dict[tuple[SSAValue, int], Size])
    emit: Emitter | None = None
    """Where ops of the host program go at the moment."""
    inlined: dict[Operation, None] = field(default_factory=dict[Operation, None])
    """The producers that are computed where they are read."""
    checked: set[tuple[Size, Size]] = field(default_factory=set[tuple[Size, Size]])

    def run(self) -> None:
        block = self.function.body.block
        self._fold_dims(block)
        sized = [
            op for op in block.ops if isinstance(op, GenericOp | FillOp) and _is_sized(op, block)
        ]
        inlined = self.inlined = self._inlined(sized)
        for op in sized:
            self.emit = Emitter.before(op)
            if isinstance(op, GenericOp):
                self.extents[op] = self._extents(op)
        for op in sized:
            if op in inlined or (isinstance(op, FillOp) and not _is_stored(op, {*sized, *inlined})):
                continue
            self._outline(op)
        for op in [*reversed(sized), *reversed(list(inlined))]:
            if op.parent is not None and not any(r.uses for r in op.results):
                erase(op)
        for op in block.ops:
            known = op.name.startswith(("arith.", "math.", "host.")) or isinstance(op, _VIEWS)
            if not known and any(_depends_on_sizes(v, block) for v in op.operands):
                raise refuse(op, f"{op.name} by a size of a dynamic shape is not supported yet")

    extents: dict[GenericOp, Sequence[Size]] = field(
        default_factory=dict[GenericOp, Sequence[Size]]
    )

    def _fold_dims(self, block: Block) -> None:
        """Ask what a result's size is made from, not the result, which may be inlined then."""
        for op in list(block.ops):
            if not isinstance(op, tensor.DimOp) or int_of(op.index) is None:
                continue
            if isinstance(op.source.owner, GenericOp | FillOp | tensor.EmptyOp):
                self.emit = Emitter.before(op)
                op.result.replace_all_uses_with(self._value(self._dim_of(op)))
                erase(op)

    def _inlined(self, sized: Sequence[Operation]) -> dict[Operation, None]:
        """The producers that are computed where they are read, also those of static shape."""
        found: dict[Operation, None] = {}
        work = [(op, op) for op in sized]
        reads: dict[Operation, set[SSAValue]] = {op: _reads(op) for op in sized}
        while work:
            root, op = work.pop()
            if op is root and op in found:
                continue  # its reader has seen to it
            for operand in op.operands:
                owner = operand.owner
                if isinstance(owner, GenericOp) and owner not in found and is_inlined(owner):
                    together = (reads[root] - {operand}) | _reads(owner)
                    if len(together) > MOST_READS:
                        continue
                    reads[root] = together
                    found[owner] = None
                    self.emit = Emitter.before(owner)
                    self.extents[owner] = self._extents(owner)
                    work.append((root, owner))
        return found

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
            return self._dim_of(value.owner)
        number = int_of(value)
        return value if number is None else number

    def sizes(self, value: SSAValue) -> Sequence[Size]:
        """All sizes of a tensor."""
        return [self.size(value, dim) for dim in range(len(shape_of(value)))]

    def _value(self, size: Size) -> SSAValue:
        assert self.emit is not None
        return self.emit.index(size) if isinstance(size, int) else size

    def _extents(self, op: GenericOp) -> Sequence[Size]:
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
            sides = (self._value(size), self._value(needed))
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
            sides = (self._value(index), self._value(bound))
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

    def _outline(self, op: GenericOp | FillOp) -> None:
        emit = self.emit = Emitter.before(op)
        if isinstance(op, GenericOp):
            extents = self.extents[op]
            outs = indexing_maps(op)[len(op.inputs) :]
            parallel = is_parallel(op)
            loops = [i for i, p in enumerate(parallel) if p]
            for map_ in outs:
                if not map_.is_projected_permutation() or len(map_.results) != len(loops):
                    raise refuse(
                        op,
                        f"linalg.generic of dynamic shape that writes by {map_} is not supported",
                        "the indices of a result must be the parallel loops",
                    )
        else:
            extents = self.sizes(op.results[0])
            loops = list(range(len(extents)))
        builder = KernelBuilder(self.sizes, self._dim_of, self.extents, self.inlined)
        kernel = builder.build(op, extents, self._name(op))
        kernel.attributes[KERNEL_MARK] = UnitAttr()
        kernel.attributes["ingot.workgroup_size"] = DenseArrayBase.from_list(i64, [THREADS, 1, 1])
        kernel.attributes["ingot.grid"] = DenseArrayBase.from_list(i64, [GROUPS_X, GROUPS_Y, 1])
        names = [a.name_hint or f"arg{a.index}" for a in kernel.body.block.args]
        kernel.attributes[NAMES] = ArrayAttr(
            [StringAttr(n) for n in _unique(names, len(op.results))]
        )
        self.kernels.append(kernel)
        open_sizes = [
            self._value(size)
            for result in op.results
            for size, known in zip(self.sizes(result), shape_of(result), strict=True)
            if known < 0
        ]
        call = emit.add(
            DispatchOp(
                kernel.sym_name.data,
                [self._value(extents[i]) for i in loops],
                list(builder.inputs),
                list(builder.parameters),
                open_sizes,
                [r.type for r in op.results],
            )
        )
        for old, new in zip(op.results, call.res, strict=True):
            new.name_hint = old.name_hint
            for key in [k for k in self.dims if k[0] is old]:
                self.dims[new, key[1]] = self.dims[key]
            old.replace_all_uses_with(new)

    def _dim_of(self, op: tensor.DimOp) -> Size:
        index = int_of(op.index)
        if index is None:
            raise refuse(op, "tensor.dim of a computed dimension is not supported")
        return self.size(op.source, index)

    def _name(self, op: Operation) -> str:
        what = "fill"
        if isinstance(op, GenericOp):
            alone = op.clone()
            what = describe(Block([alone]))
            erase(alone)
        name = candidate = f"{self.function.sym_name.data}_{what}"
        number = 1
        while candidate in self.taken:
            candidate, number = f"{name}_{number}", number + 1
        self.taken.add(candidate)
        return candidate


def _holds(index: int, predicate: str, bound: int) -> bool:
    return index >= bound if predicate == "sge" else index < bound


def _unique(names: Sequence[str], results: int) -> list[str]:
    """Names of a kernel's buffers; what it writes is called `out`."""
    outputs = ["out"] if results == 1 else [f"out{i}" for i in range(results)]
    given = [*names[: len(names) - results], *outputs]
    taken: set[str] = set()
    unique: list[str] = []
    for name in given:
        candidate, number = name, 1
        while candidate in taken:
            candidate, number = f"{name}_{number}", number + 1
        taken.add(candidate)
        unique.append(candidate)
    return unique


@dataclass(frozen=True)
class OutlineDynamicShapesPass(ModulePass):
    """Make the generics and fills of dynamic shape kernels, which get their sizes from the host
    program (L1 to L1, the kernels as they enter the lowering passes).

    Producers that only one of them reads are computed there. Operands that must agree on a size
    are checked when the function is called.

        %0 = linalg.generic ... ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) { ... }
    becomes
        %0 = host.dispatch @main_exp over (%d, %c4) use (%x : tensor<?x4xf32>)
             -> tensor<?x4xf32> of (%d)
    """

    name = "outline-dynamic-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for what has no such kernel."""
        taken = {f.sym_name.data for f in op.ops if isinstance(f, func.FuncOp)}
        for function in host_functions(op):
            if len(function.body.blocks) != 1:
                continue
            values = [v for inner in function.walk() for v in inner.results]
            if not any(map(is_dynamic, (*function.body.block.args, *values))):
                continue
            outliner = _Function(function, taken)
            outliner.run()
            for kernel in outliner.kernels:
                op.body.block.add_op(kernel)
