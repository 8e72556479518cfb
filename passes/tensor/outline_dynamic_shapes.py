"""Make kernels of the ops over tensors whose sizes a call decides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

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
from xdsl.ir import Block, Operation, SSAValue
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
    reduction_loops,
    shape_of,
)
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.dispatch import KERNEL_MARK, NAMES
from ingot.compiler.dialects.host import DispatchOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp

from .host_sizes import HostSizes
from .sized_kernel import KernelBuilder, is_inlined
from .sized_schedule import (
    LANES_FROM,
    Size,
    SizedSchedule,
    choose,
    reduction_below,
    reductions_in,
)


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


FEW_TURNS = 32
"""Turns of each loop of a reduction that need no check."""

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
    host: HostSizes
    taken: set[str]
    kernels: list[func.FuncOp] = field(default_factory=list[func.FuncOp])
    inlined: dict[Operation, None] = field(default_factory=dict[Operation, None])
    """The producers that are computed where they are read."""

    def run(self) -> None:
        block = self.function.body.block
        self._fold_dims(block)
        sized = [
            op for op in block.ops if isinstance(op, GenericOp | FillOp) and _is_sized(op, block)
        ]
        inlined = self.inlined = self._inlined(sized)
        for op in sized:
            self.host.emit = Emitter.before(op)
            if isinstance(op, GenericOp):
                self.extents[op] = self.host.extents(op)
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
                self.host.emit = Emitter.before(op)
                op.result.replace_all_uses_with(self.host.value(self.host.dim_of(op)))
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
                    self.host.emit = Emitter.before(owner)
                    self.extents[owner] = self.host.extents(owner)
                    work.append((root, owner))
        return found

    def _outline(self, op: GenericOp | FillOp) -> None:
        emit = self.host.emit = Emitter.before(op)
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
            extents = self.host.sizes(op.results[0])
            loops = list(range(len(extents)))
        schedule = choose(op, loops, extents, self.inlined)
        tiles = [
            self._divided_up(extents[loop], factor)
            for loop, factor in zip(loops, schedule.factors, strict=True)
        ]
        lanes = self._lanes(op) if schedule.lanes else 1
        if lanes == 1:
            schedule = replace(schedule, lanes=False)
        builder = KernelBuilder(
            self.host.sizes, self.host.dim_of, self.extents, self.inlined, schedule, tiles, lanes
        )
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
            self.host.value(size)
            for result in op.results
            for size, known in zip(self.host.sizes(result), shape_of(result), strict=True)
            if known < 0
        ]
        call = emit.add(
            DispatchOp(
                kernel.sym_name.data,
                [self.host.value(n) for n in (*tiles, *([lanes] if schedule.lanes else []))],
                list(builder.arguments.inputs),
                list(builder.arguments.parameters),
                self._turns(op, schedule, lanes),
                open_sizes,
                [r.type for r in op.results],
            )
        )
        for old, new in zip(op.results, call.res, strict=True):
            new.name_hint = old.name_hint
            for key in [k for k in self.host.dims if k[0] is old]:
                self.host.dims[new, key[1]] = self.host.dims[key]
            old.replace_all_uses_with(new)

    def _divided_up(self, size: Size, factor: int) -> Size:
        if isinstance(size, int):
            return -(-size // factor)
        assert self.host.emit is not None
        if factor == 1:
            return size
        return self.host.emit.add(arith.CeilDivUIOp(size, self.host.emit.index(factor))).result

    def _lanes(self, op: Operation) -> Size:
        """How many threads reduce one element: all of a threadgroup where a line is long."""
        below = reduction_below(op, self.inlined)
        assert below is not None and self.host.emit is not None
        reduction, _ = below
        length = self.extents[reduction][reduction_loops(reduction)[0]]
        if isinstance(length, int):
            return THREADS if length >= LANES_FROM else 1
        limit, many, one = (self.host.emit.index(n) for n in (LANES_FROM, THREADS, 1))
        is_long = self.host.emit.add(arith.CmpiOp(length, limit, "sge")).result
        return self.host.emit.add(arith.SelectOp(is_long, many, one)).result

    def _turns(self, root: Operation, schedule: SizedSchedule, lanes: Size) -> SSAValue | None:
        """How many turns the reductions of a thread have; None for those known to be few."""
        assert self.host.emit is not None
        total: SSAValue | None = None
        for op in reductions_in(root, self.inlined):
            *outer, last = [self.extents[op][loop] for loop in reduction_loops(op)]
            if all(isinstance(size, int) and size < FEW_TURNS for size in (*outer, last)):
                continue
            turns = [self.host.value(size) for size in (*outer, last)]
            if schedule.lanes:
                divided = arith.CeilDivUIOp(turns[0], self.host.value(lanes))
                turns[0] = self.host.emit.add(divided).result
            unrolled = self.host.emit.index(schedule.unrolled)
            whole = self.host.emit.add(arith.DivUIOp(turns[-1], unrolled)).result
            turns[-1] = self.host.emit.add(arith.AddiOp(whole, unrolled)).result
            product = turns[0]
            for more in turns[1:]:
                product = self.host.emit.add(arith.MuliOp(product, more)).result
            if total is not None:
                product = self.host.emit.add(arith.AddiOp(total, product)).result
            total = product
        return total

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
            outliner = _Function(function, HostSizes(function), taken)
            outliner.run()
            for kernel in outliner.kernels:
                op.body.block.add_op(kernel)
