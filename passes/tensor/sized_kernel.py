"""Kernels over tensors whose sizes a call decides: one thread for each element of the results.

The kernel is built as it enters the lowering passes (L4), over flat buffers: sizes come from a
buffer of i32, and every linear index is computed from them. Elementwise producers, and reductions
whose every element is read once, are computed where they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import func, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    MemRefType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, clamp, materialize, zero
from ingot.compiler.analysis.sized_grid import GROUPS_X, THREADS
from ingot.compiler.analysis.structured import (
    element_type,
    indexing_maps,
    is_parallel,
    match_combiner,
)
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects import arith, gpu
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, YieldOp

_ELEMENTS = (Float32Type, Float16Type, BFloat16Type)

Size = int | SSAValue
"""A size that is known, or its value in the host program."""
SizesOf = Callable[[SSAValue], Sequence[Size]]


def is_inlined(op: Operation) -> bool:
    """Whether the one reader of an op computes what it needs of it instead of reading a buffer."""
    if not isinstance(op, GenericOp) or len(op.results) != 1:
        return False
    uses = list(op.results[0].uses)
    if len(uses) != 1:
        return False
    (use,) = uses
    reader = use.operation
    if not isinstance(reader, GenericOp) or reader.parent_block() is not op.parent_block():
        return False
    if use.index >= len(reader.inputs):
        return False
    parallel = is_parallel(op)
    out = indexing_maps(op)[-1]
    if not out.is_projected_permutation() or len(out.results) != sum(parallel):
        return False
    if all(parallel):
        return True
    map_ = indexing_maps(reader)[use.index]
    once = map_.is_projected_permutation() and len(map_.results) == map_.num_dims
    return once and all(is_parallel(reader))


@dataclass
class KernelBuilder:
    """Builds one kernel: what it reads is found on the way."""

    sizes_of: SizesOf
    dim_of: Callable[[tensor.DimOp], Size]
    """The size that a `tensor.dim` of the host program asks for."""
    extents: Mapping[GenericOp, Sequence[Size]]
    """The loops of the generics that may be met."""
    inlined: Mapping[Operation, None]
    """The producers that are computed where they are read."""
    inputs: dict[SSAValue, BlockArgument] = field(default_factory=dict[SSAValue, BlockArgument])
    parameters: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of the host program, in the order of the sizes buffer, and what the kernel has."""

    def build(self, root: GenericOp | FillOp, extents: Sequence[Size], name: str) -> func.FuncOp:
        """The kernel that computes the results of `root`; `extents` are its loops' sizes."""
        self._body = Block()
        self._entry = Emitter.at_end(self._body, root.location)
        self._sizes: BlockArgument | None = None
        start = self._entry.add(arith.ConstantOp.from_int_and_width(0, IndexType()))
        self._start = Emitter.before(start)
        parallel = is_parallel(root) if isinstance(root, GenericOp) else [True] * len(extents)
        loops = [i for i, p in enumerate(parallel) if p]
        sizes = [self._size(self._entry, extents[i]) for i in loops]
        position, inside = self._thread(sizes)
        block = Block()
        emit = Emitter.at_end(block, root.location)
        indices = self._delinearize(emit, position, sizes)
        if isinstance(root, GenericOp):
            loop_values = dict(zip(loops, indices, strict=True))
            values = self._compute(emit, root, loop_values, extents)
            outs = indexing_maps(root)[len(root.inputs) :]
        else:
            values = [self._scalar(emit, root.inputs[0], {})]
            outs = [AffineMap.identity(len(loops))]
            loop_values = dict(enumerate(indices))
        results: list[BlockArgument] = []
        for value, result, map_ in zip(values, root.results, outs, strict=True):
            buffer = self._buffer(result)
            results.append(buffer)
            loop_list = [
                loop_values.get(i, indices[0] if indices else position)
                for i in range(map_.num_dims)
            ]
            at = self._linear(emit, result, self._apply(emit, map_, loop_list))
            emit.add(memref.StoreOp.get(value, buffer, [at]))
        emit.add(scf.YieldOp())
        self._entry.add(scf.IfOp(inside, [], Region(block)))
        self._entry.add(func.ReturnOp())
        return self._function(name, results, root)

    def _function(
        self, name: str, results: Sequence[BlockArgument], root: Operation
    ) -> func.FuncOp:
        """Arguments in order: inputs, sizes, results."""
        sizes = [self._sizes] if self._sizes is not None else []
        ordered = [*self.inputs.values(), *sizes, *results]
        old = list(self._body.args)
        for argument in ordered:
            new = self._body.insert_arg(argument.type, len(self._body.args))
            new.name_hint = argument.name_hint
            argument.replace_all_uses_with(new)
        for argument in old:
            self._body.erase_arg(argument)
        types = [argument.type for argument in self._body.args]
        kernel = func.FuncOp(name, (types, []), Region(self._body), "private")
        kernel.location = root.location
        return kernel

    def _buffer(self, value: SSAValue) -> BlockArgument:
        """A new argument: the flat buffer of a tensor."""
        sizes = self.sizes_of(value)
        known = [s for s in sizes if isinstance(s, int)]
        count = prod(known) if len(known) == len(sizes) else DYNAMIC_INDEX
        element = element_type(value)
        if not isinstance(element, _ELEMENTS) and integer_width(element) not in (1, 8, 16, 32, 64):
            raise refuse(
                value,
                f"elements of type {element} in a tensor of dynamic shape are not supported yet",
            )
        type_ = MemRefType(element, [count])
        argument = self._body.insert_arg(type_, len(self._body.args))
        argument.name_hint = value.name_hint
        return argument

    def _size(self, emit: Emitter, size: Size) -> SSAValue:
        """A size in the kernel: a constant, or read from the sizes buffer once."""
        if isinstance(size, int):
            return emit.index(size)
        if size not in self.parameters:
            if self._sizes is None:
                type_ = MemRefType(i32, [DYNAMIC_INDEX])
                self._sizes = self._body.insert_arg(type_, len(self._body.args))
                self._sizes.name_hint = "sizes"
            at = self._start.index(len(self.parameters))
            word = self._start.add(memref.LoadOp.get(self._sizes, [at])).res
            self.parameters[size] = self._start.add(arith.IndexCastOp(word, IndexType())).result
        return self.parameters[size]

    def _thread(self, sizes: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
        """The number of the thread's element, and whether there is one."""
        emit = self._entry

        def scaled(base: SSAValue, factor: int, offset: SSAValue) -> SSAValue:
            product = emit.add(arith.MuliOp(base, emit.index(factor))).result
            return emit.add(arith.AddiOp(product, offset)).result

        x = emit.add(gpu.BlockIdOp(gpu.Dimension.X)).results[0]
        y = emit.add(gpu.BlockIdOp(gpu.Dimension.Y)).results[0]
        thread = emit.add(gpu.ThreadIdOp(gpu.Dimension.X)).results[0]
        position = scaled(scaled(y, GROUPS_X, x), THREADS, thread)
        total = emit.index(1)
        for size in sizes:
            total = emit.add(arith.MuliOp(total, size)).result
        return position, emit.add(arith.CmpiOp(position, total, "slt")).result

    def _delinearize(
        self, emit: Emitter, position: SSAValue, sizes: Sequence[SSAValue]
    ) -> list[SSAValue]:
        indices: list[SSAValue] = []
        for size in reversed(sizes[1:]):
            indices.append(emit.add(arith.RemUIOp(position, size)).results[0])
            position = emit.add(arith.DivUIOp(position, size)).results[0]
        if sizes:
            indices.append(position)
        return indices[::-1]

    def _linear(self, emit: Emitter, value: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        """The position of an element of a row-major tensor."""
        linear = emit.index(0)
        for i, (index, size) in enumerate(zip(indices, self.sizes_of(value), strict=True)):
            if i:
                linear = emit.add(arith.MuliOp(linear, self._size(emit, size))).result
            linear = emit.add(arith.AddiOp(linear, index)).result if i else index
        return linear

    def _apply(self, emit: Emitter, map_: AffineMap, loops: Sequence[SSAValue]) -> list[SSAValue]:
        return [materialize(emit, expr, loops) for expr in map_.results]

    def _element(self, emit: Emitter, value: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        """An element of a tensor of the host program."""
        owner = value.owner
        if isinstance(owner, FillOp):
            return self._scalar(emit, owner.inputs[0], {})
        if isinstance(owner, tensor.EmptyOp):
            return emit.add(arith.ConstantOp(zero(element_type(value)))).result
        if isinstance(owner, GenericOp) and owner in self.inlined:
            map_ = indexing_maps(owner)[-1]
            loops: dict[int, SSAValue] = {}
            for expr, index in zip(map_.results, indices, strict=True):
                assert isinstance(expr, AffineDimExpr)
                loops[expr.position] = index
            extents = self.extents[owner]
            return self._compute(emit, owner, loops, extents)[0]
        if value not in self.inputs:
            self.inputs[value] = self._buffer(value)
        at = self._linear(emit, value, indices)
        return emit.add(memref.LoadOp.get(self.inputs[value], [at])).res

    def _compute(
        self,
        emit: Emitter,
        op: GenericOp,
        loops: dict[int, SSAValue],
        extents: Sequence[Size],
    ) -> list[SSAValue]:
        """What a generic yields for one point of its parallel loops."""
        reduced = [i for i, p in enumerate(is_parallel(op)) if not p]
        outs = indexing_maps(op)[len(op.inputs) :]
        count = len(op.inputs)
        initial: list[SSAValue] = []
        for i, (init, map_) in enumerate(zip(op.outputs, outs, strict=True)):
            if op.body.block.args[count + i].uses:
                point = [loops.get(d, emit.index(0)) for d in range(map_.num_dims)]
                initial.append(self._element(emit, init, self._apply(emit, map_, point)))
            else:
                initial.append(emit.add(arith.ConstantOp(zero(element_type(init)))).result)
        if not reduced:
            return self._body_of(emit, op, loops, initial)
        wide = _accumulates_wide(op)
        if wide:
            initial = [emit.add(arith.ExtFOp(initial[0], f32)).result]
        results = self._reduce(emit, op, reduced, loops, extents, initial, wide)
        if wide:
            return [emit.add(arith.TruncFOp(results[0], element_type(op.results[0]))).result]
        return results

    def _reduce(
        self,
        emit: Emitter,
        op: GenericOp,
        reduced: Sequence[int],
        loops: dict[int, SSAValue],
        extents: Sequence[Size],
        carried: Sequence[SSAValue],
        wide: bool,
    ) -> list[SSAValue]:
        """Nested loops over the dimensions of `reduced`, the first outermost."""
        if not reduced:
            return self._body_of(emit, op, loops, carried, wide)
        block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
        inner = Emitter.at_end(block, op.location)
        first, *rest = reduced
        point = {**loops, first: block.args[0]}
        values = self._reduce(inner, op, rest, point, extents, block.args[1:], wide)
        inner.add(scf.YieldOp(*values))
        lower, step = emit.index(0), emit.index(1)
        upper = self._size(emit, extents[first])
        return list(emit.add(scf.ForOp(lower, upper, step, carried, Region(block))).results)

    def _body_of(
        self,
        emit: Emitter,
        op: GenericOp,
        loops: dict[int, SSAValue],
        carried: Sequence[SSAValue],
        wide: bool = False,
    ) -> list[SSAValue]:
        """One run of a generic's body."""
        maps = indexing_maps(op)
        point = [loops.get(i, emit.index(0)) for i in range(maps[0].num_dims)]
        values: dict[SSAValue, SSAValue] = {}
        for argument, operand, map_ in zip(op.body.block.args, op.inputs, maps, strict=False):
            if argument.uses:
                values[argument] = self._element(emit, operand, self._apply(emit, map_, point))
        values |= zip(op.body.block.args[len(op.inputs) :], carried, strict=True)
        combiner = match_combiner(op) if wide else None
        for inner in op.body.block.ops:
            if isinstance(inner, YieldOp):
                return [self._scalar(emit, v, values) for v in inner.operands]
            if combiner is not None and inner is combiner.op:
                part = self._scalar(emit, combiner.contribution, values)
                part = emit.add(arith.ExtFOp(part, f32)).result
                values[inner.results[0]] = emit.add(arith.AddfOp(carried[0], part)).result
                continue
            self._clone(emit, inner, values, point)
        raise AssertionError("a body ends in linalg.yield")

    def _clone(
        self,
        emit: Emitter,
        op: Operation,
        values: dict[SSAValue, SSAValue],
        point: Sequence[SSAValue],
    ) -> None:
        if isinstance(op, IndexOp):
            values[op.results[0]] = point[op.dim.value.data]
            return
        if isinstance(op, tensor.ExtractOp):
            indices: list[SSAValue] = []
            sizes = self.sizes_of(op.tensor)
            for index, size in zip(op.indices, sizes, strict=True):
                at = self._scalar(emit, index, values)
                indices.append(self._clamped(emit, at, size))
            values[op.results[0]] = self._element(emit, op.tensor, indices)
            return
        operands = [self._scalar(emit, operand, values) for operand in op.operands]
        new = emit.add(
            type(op).create(
                operands=operands,
                result_types=list(op.result_types),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
                regions=[self._clone_region(region, values, point) for region in op.regions],
            )
        )
        values |= zip(op.results, new.results, strict=True)

    def _clone_region(
        self, region: Region, values: Mapping[SSAValue, SSAValue], point: Sequence[SSAValue]
    ) -> Region:
        """A branch or a loop of a body: it has one block, or none where there is no `else`."""
        blocks: list[Block] = []
        for source in region.blocks:
            block = Block(arg_types=[argument.type for argument in source.args])
            inside = {**values, **dict(zip(source.args, block.args, strict=True))}
            for op in source.ops:
                self._clone(Emitter.at_end(block, op.location), op, inside, point)
            blocks.append(block)
        return Region(blocks)

    def _clamped(self, emit: Emitter, index: SSAValue, size: Size) -> SSAValue:
        """An index that data decides, moved into the tensor."""
        if isinstance(size, int):
            return clamp(emit, index, 0, size - 1)
        last = emit.add(arith.SubiOp(self._size(emit, size), emit.index(1))).result
        below = emit.add(arith.MinSIOp(index, last)).result
        return emit.add(arith.MaxSIOp(below, emit.index(0))).result

    def _scalar(self, emit: Emitter, value: SSAValue, values: dict[SSAValue, SSAValue]) -> SSAValue:
        """A scalar of the body, or one of the host program, which the kernel computes itself."""
        if value in values:
            return values[value]
        owner = value.owner
        if isinstance(owner, tensor.DimOp):
            size = self.dim_of(owner)
            return self._size(emit, size)
        # Functions take tensors only, and the arguments of bodies are known.
        assert isinstance(owner, Operation)
        known: dict[SSAValue, SSAValue] = {}
        self._clone(emit, owner, known, ())
        return known[value]


def _accumulates_wide(op: GenericOp) -> bool:
    """Whether a reduction is a sum of narrow floats, which is kept in f32."""
    combiner = match_combiner(op)
    return (
        combiner is not None and combiner.name == "add" and _is_narrow(element_type(op.results[0]))
    )


def _is_narrow(type_: Attribute) -> bool:
    return isinstance(type_, Float16Type | BFloat16Type)
