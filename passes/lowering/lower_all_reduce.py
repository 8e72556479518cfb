"""The pass `lower-all-reduce`."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    ModuleOp,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.dialects import arith, gpu
from ingot.passes.lowering.combining import Combine, combining
from ingot.passes.lowering.emitter import Emitter, Value, bitwidth, replace_op
from ingot.passes.lowering.kernel import linear_id, thread_count, workgroup_size

_COMMUTATIVE_IN_EVERY_BIT = frozenset({"arith.addf", "arith.mulf"})
"""Float ops whose two operands may be swapped; minima may give either of two zeros."""


@dataclass(frozen=True)
class LowerAllReducePass(ModulePass):
    """Writes out `gpu.all_reduce` and `gpu.subgroup_reduce` with barriers and shuffles, on L4.

    With `simd_width` 0 (unknown) a tree in threadgroup memory combines i with i + n/2. With a known
    width, lanes are combined by shuffles (i with i xor w/2, w/4, ..., 1), then the SIMD-groups
    through threadgroup memory. The order is fixed, and every thread gets the same bits.

    ```mlir
    %1 = gpu.all_reduce add %0 uniform {} : (f32) -> f32
    ```
    becomes
    ```mlir
    memref.store %0, %partial[%thread]   gpu.barrier   scf.while (%n = 128) { ... }
    %1 = memref.load %partial[%c0] : memref<256xf32, #gpu.address_space<workgroup>>
    ```
    """

    name = "lower-all-reduce"

    simd_width: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernel_functions(op):
            reductions = [
                inner
                for inner in kernel.walk()
                if isinstance(inner, gpu.AllReduceOp | gpu.SubgroupReduceOp)
            ]
            if reductions:
                lowering = _Lowering(kernel, self.simd_width)
                for reduction in reductions:
                    lowering.lower(reduction)


@dataclass
class _Lowering:
    kernel: FuncOp
    simd_width: int
    scratch: dict[Attribute, memref.AllocOp] = field(
        default_factory=dict[Attribute, memref.AllocOp]
    )
    """Threadgroup memory that all reductions of one type share."""

    def __post_init__(self) -> None:
        self.size = workgroup_size(self.kernel)
        self.threads = thread_count(self.kernel)

    def lower(self, op: gpu.AllReduceOp | gpu.SubgroupReduceOp) -> None:
        e = Emitter.before_op(op)
        combine = _combiner(op)
        value = e.value(op.value)
        if isinstance(op, gpu.SubgroupReduceOp):
            if self.simd_width == 0:
                raise refuse(op, "`gpu.subgroup_reduce` needs a target whose SIMD width is known")
            result = self._lanes(value, combine, self.simd_width)
        elif self.threads == 1:
            result = value
        elif self.simd_width > 1 and self.threads % self.simd_width == 0:
            result = self._by_simd_groups(op, value, combine)
        else:
            result = self._tree(op, value, combine)
        replace_op(op, result)

    def _lanes(self, value: Value, combine: Combine, width: int) -> Value:
        """The combined value of `width` neighbouring lanes, in each of them."""
        distance = width // 2
        while distance:
            value = combine(value, shuffle(gpu.ShuffleMode.XOR, value, distance, self.simd_width))
            distance //= 2
        owner = value.ssa.owner
        commutative = isinstance(owner, Operation) and (
            owner.name in _COMMUTATIVE_IN_EVERY_BIT or not value.is_float
        )
        if commutative or width == 1:
            return value
        return shuffle(gpu.ShuffleMode.IDX, value, 0, self.simd_width)

    def _by_simd_groups(self, op: gpu.AllReduceOp, value: Value, combine: Combine) -> Value:
        e = value.emitter
        value = self._lanes(value, combine, self.simd_width)
        groups = self.threads // self.simd_width
        if groups == 1:
            return value
        partial = self._memory(op, value.type, groups, e)
        lane = e.op(gpu.LaneIdOp())
        first = e.branch()
        group = e.op(gpu.SubgroupIdOp())
        first.insert(memref.StoreOp.get(value.ssa, partial, [group.ssa]))
        first.insert(scf.YieldOp())
        e.if_else(lane.eq(0), [], first)
        e.insert(gpu.BarrierOp())
        if groups <= self.simd_width and groups & (groups - 1) == 0:
            mine = e.op(memref.LoadOp.get(partial, [(lane & (groups - 1)).ssa]))
            return self._lanes(mine, combine, groups)
        start = e.op(memref.LoadOp.get(partial, [e.const(0, IndexType()).ssa]))
        return _fold(partial, start, groups, combine)

    def _tree(self, op: gpu.AllReduceOp, value: Value, combine: Combine) -> Value:
        """Halve the values: i takes i + n/2 along, until one is left."""
        e = value.emitter
        partial = self._memory(op, value.type, self.threads, e)
        thread = linear_id(e, gpu.ThreadIdOp, self.size)
        e.insert(memref.StoreOp.get(value.ssa, partial, [thread.ssa]))
        e.insert(gpu.BarrierOp())
        half = 1 << ((self.threads - 1).bit_length() - 1)
        if half * 2 > self.threads:
            # the first step of a size that is no power of two lacks partners
            self._combine_pairs(partial, thread, e.const(half, IndexType()), combine, ragged=True)
            half //= 2
        if half:
            self._halving(partial, thread, half, combine)
        return e.op(memref.LoadOp.get(partial, [e.const(0, IndexType()).ssa]))

    def _halving(self, partial: SSAValue, thread: Value, half: int, combine: Combine) -> None:
        """`for (n = half; n > 0; n /= 2)`: combine i and i + n for all i below n."""
        e = thread.emitter
        before, after = (Block(arg_types=[IndexType()]) for _ in range(2))
        before.args[0].name_hint = after.args[0].name_hint = "stride"
        test = Emitter(before, None, e.location)
        count = test.value(before.args[0])
        test.insert(scf.ConditionOp(count.ne(0).ssa, count.ssa))
        step = Emitter(after, None, e.location)
        stride = step.value(after.args[0])
        self._combine_pairs(partial, Value(thread.ssa, step), stride, combine, ragged=False)
        step.insert(scf.YieldOp(stride.shift_right_logical(1).ssa))
        start = e.const(half, IndexType())
        e.insert(scf.WhileOp([start.ssa], [IndexType()], Region(before), Region(after)))

    def _combine_pairs(
        self, partial: SSAValue, thread: Value, distance: Value, combine: Combine, *, ragged: bool
    ) -> None:
        e = thread.emitter
        partner = thread + distance
        active = partner.ult(self.threads) if ragged else thread.ult(distance)
        inside = e.branch()
        if not ragged:
            partner = Value(thread.ssa, inside) + distance
        mine = inside.op(memref.LoadOp.get(partial, [thread.ssa]))
        other = inside.op(memref.LoadOp.get(partial, [partner.ssa]))
        inside.insert(memref.StoreOp.get(combine(mine, other).ssa, partial, [thread.ssa]))
        inside.insert(scf.YieldOp())
        e.if_else(active, [], inside)
        e.insert(gpu.BarrierOp())

    def _memory(self, op: Operation, type_: Attribute, count: int, e: Emitter) -> SSAValue:
        """Threadgroup memory for `count` values, which no thread is still reading."""
        known = self.scratch.get(type_)
        if known is None:
            space = gpu.AddressSpaceAttr(gpu.AddressSpace.WORKGROUP)
            known = memref.AllocOp([], [], MemRefType(type_, [count], memory_space=space))
            known.location = op.location
            known.memref.name_hint = "partial"
            entry = self.kernel.body.block
            entry.insert_ops_before([known], entry.first_op or op)
            self.scratch[type_] = known
            if not _in_loop(op, self.kernel):
                return known.memref
        e.insert(gpu.BarrierOp())
        return known.memref


def _in_loop(op: Operation, kernel: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and parent is not kernel:
        if isinstance(parent, scf.ForOp | scf.WhileOp):
            return True
        parent = parent.parent_op()
    return False


def _combiner(op: gpu.AllReduceOp | gpu.SubgroupReduceOp) -> Combine:
    """How the reduction combines two values."""
    type_ = op.value.type
    if isinstance(op, gpu.AllReduceOp) and op.op is None:
        return _region_combiner(op)
    assert op.op is not None
    combine = combining(op.op.data.value, type_)
    if combine is None:
        raise refuse(op, f"`{op.name} {op.op.data.value}` on {type_}")
    return combine


def _region_combiner(op: gpu.AllReduceOp) -> Combine:
    body = op.body.block

    def combine(a: Value, b: Value) -> Value:
        e = a.emitter
        mapping: dict[SSAValue, SSAValue] = {body.args[0]: a.ssa, body.args[1]: b.ssa}
        for inner in body.ops:
            if isinstance(inner, gpu.YieldOp):
                result = inner.values[0]
                return Value(mapping.get(result, result), e)
            e.insert(inner.clone(mapping))
        raise AssertionError("a reduction's body ends in gpu.yield")

    return combine


def _fold(partial: SSAValue, start: Value, count: int, combine: Combine) -> Value:
    """Combine all values of threadgroup memory from the first on."""
    e = start.emitter
    block = Block(arg_types=[IndexType(), start.type])
    inner = Emitter(block, None, e.location)
    item = inner.op(memref.LoadOp.get(partial, [block.args[0]]))
    inner.insert(scf.YieldOp(combine(inner.value(block.args[1]), item).ssa))
    bounds = [e.const(number, IndexType()).ssa for number in (1, count, 1)]
    loop = scf.ForOp(bounds[0], bounds[1], bounds[2], [start.ssa], Region(block))
    return e.value(e.insert(loop).results[0])


def shuffle(mode: gpu.ShuffleMode, value: Value, offset: int, width: int) -> Value:
    """The value of another lane. What is not 32 bits wide travels in words of 32 bits."""
    size = bitwidth(value.type)
    e = value.emitter

    def move(word: Value) -> Value:
        constants = [e.const(number, i32).ssa for number in (offset, width)]
        return e.op(gpu.ShuffleOp(mode, word.ssa, *constants))

    if size == 32:
        return move(value)
    if size == 64:
        low, high = value.resize(32), value.shift_right_logical(32).resize(32)
        moved_low, moved_high = (move(word).resize(64, signed=False) for word in (low, high))
        return (moved_high << 32) | moved_low
    word = value.bits() if value.is_float else value
    moved = move(word.resize(32, signed=False)).resize(size)
    return e.op(arith.BitcastOp(moved.ssa, value.ssa.type)) if value.is_float else moved
