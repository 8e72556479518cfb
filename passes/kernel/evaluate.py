"""Evaluate elements of tiles: the heart of `kernel-vectorize`.

An `Evaluator` emits, at its insertion point, the code for one element (or one vector of elements)
of a tile, and of what it is computed from. Elements that were computed before in an enclosing scope
are used again, so a value that several ops read is loaded or computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar, cast

from xdsl.builder import Builder
from xdsl.dialects import affine, memref, tensor, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    BoolAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.building import at_end
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.structured import (
    element_type,
    indexing_maps,
    reduction_loops,
    shape_of,
)
from ingot.compiler.dialects.arith import (
    AddiOp,
    Arith,
    ConstantOp,
    MaxSIOp,
    MinSIOp,
    MuliOp,
    SubiOp,
)
from ingot.compiler.dialects.bufferization import ToTensorOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, YieldOp
from ingot.compiler.dialects.vector import FromElementsOp
from ingot.passes.kernel.linear import Linear, constant_index, linear_of, linear_of_expr
from ingot.passes.kernel.tiling import mixed_offsets, mixed_sizes, result_index


@dataclass(frozen=True)
class Lanes:
    """A vector of `width` consecutive elements along dimension (or loop) `dim`."""

    dim: int
    width: int


Key = tuple[SSAValue, tuple[Linear, ...], Lanes | None]

T = TypeVar("T")
OperationT = TypeVar("OperationT", bound=Operation)
ReduceAt = Callable[["Evaluator", GenericOp, SSAValue, Sequence[Linear], Lanes | None], SSAValue]


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
class Scope:
    """What was computed in one block."""

    elements: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])
    shared: dict[Hashable, object] = field(default_factory=dict[Hashable, object])


@dataclass
class Evaluator:
    """Emits code at `builder`; see the module's docstring."""

    builder: Builder
    scopes: list[Scope] = field(default_factory=lambda: [Scope()])
    views: dict[SSAValue, View] = field(default_factory=dict[SSAValue, View])
    replaced: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Index values of loops that are being rebuilt, old to new."""
    reduce_at: ReduceAt | None = None
    """Computes one element (or vector) of a reduction that was not computed ahead."""

    # Scopes and insertion.

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Emit at the end of `block`, and forget what is computed there afterwards."""
        saved = self.builder
        self.builder = at_end(block)
        self.scopes.append(Scope())
        try:
            yield
        finally:
            self.scopes.pop()
            self.builder = saved

    def known(self, key: Key) -> SSAValue | None:
        """What an enclosing scope computed for `key`."""
        for scope in reversed(self.scopes):
            if key in scope.elements:
                return scope.elements[key]
        return None

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for `key` in this scope or an enclosing one, or its result now."""
        for scope in reversed(self.scopes):
            if key in scope.shared:
                return cast(T, scope.shared[key])
        made = make()
        self.scopes[-1].shared[key] = made
        return made

    def remember(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None, code: SSAValue
    ):
        """Let later requests for an element use `code`."""
        self.scopes[-1].elements[(value, tuple(index), lanes)] = code

    def emit(self, op: OperationT) -> OperationT:
        """Insert an op at the insertion point."""
        return self.builder.insert(op)

    # Index values.

    def linear(self, value: SSAValue | int) -> Linear:
        """The linear form of an index value, in terms of the values that exist after rebuilding."""
        form = Linear.of(value) if isinstance(value, int) else linear_of(value)
        result = Linear((), form.constant)
        for atom, coefficient in form.terms:
            result = result + Linear.of(self.replaced.get(atom, atom)) * coefficient
        return result

    def index_value(self, value: SSAValue | int) -> SSAValue:
        """An index value that may depend on rebuilt loops, as an SSA value at this point."""
        if isinstance(value, int):
            return constant_index(self.builder, value)
        owner = value.owner
        if isinstance(owner, affine.MinOp):
            operands = [self.index_value(v) for v in owner.operands]
            if operands == list(owner.operands):
                return value
            return self.emit(affine.MinOp(operands, owner.map)).result
        if isinstance(owner, affine.ApplyOp):
            return self.linear(value).materialize(self.builder)
        return self.replaced.get(value, value)

    # Elements.

    def element(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None = None
    ) -> SSAValue:
        """The element of the tile `value` at `index`, or the vector that starts there.

        A value that is the same in all lanes may be returned as a scalar.
        """
        key = (value, tuple(index), lanes)
        found = self.known(key)
        if found is None:
            found = self._evaluate(value, index, lanes)
            self.scopes[-1].elements[key] = found
        return found

    def _evaluate(self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None) -> SSAValue:
        owner = value.owner
        match owner:
            case FillOp():
                return self._fill_value(owner)
            case tensor.EmptyOp():
                return self.zero(element_type(value))
            case GenericOp() if not reduction_loops(owner):
                return self._inline_at(owner, value, index, lanes)
            case GenericOp() if self.reduce_at is not None and not self._is_computed(value):
                return self.reduce_at(self, owner, value, index, lanes)
            case _:
                view = self.view(value)
                if view is not None:
                    return self.load(view, index, lanes)
                return self._from_other_lanes(value, index, lanes)

    def _is_computed(self, value: SSAValue) -> bool:
        return any(key[0] is value for scope in self.scopes for key in scope.elements)

    def _fill_value(self, op: FillOp) -> SSAValue:
        return op.inputs[0]

    def _from_other_lanes(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue:
        """Find a computed element under another grouping into vectors."""
        if lanes is None:
            for scope in reversed(self.scopes):
                for (other, start, grouping), code in scope.elements.items():
                    if other is not value or grouping is None:
                        continue
                    distance = _distance(start, index, grouping.dim)
                    if distance is not None and 0 <= distance < grouping.width:
                        return self.lane(code, distance)
            raise refuse(value, "internal: an element of a tile is used before it is computed")
        elements = [
            self.element(value, _shift(index, lanes.dim, lane)) for lane in range(lanes.width)
        ]
        return self.from_elements(elements)

    def _inline_at(
        self, op: GenericOp, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue:
        result = result_index(value)
        out = indexing_maps(op)[len(op.inputs) + result]
        loops: list[Linear] = [Linear()] * out.num_dims
        along: int | None = None
        for position, (expr, form) in enumerate(zip(out.results, index, strict=True)):
            assert isinstance(expr, AffineDimExpr), "results are indexed by plain loops"
            loops[expr.position] = form
            if lanes is not None and lanes.dim == position:
                along = expr.position
        loop_lanes = None if lanes is None or along is None else Lanes(along, lanes.width)
        values = self.inline(op, loops, loop_lanes)
        for other, code in zip(op.results, values, strict=True):
            if (
                other is not value
                and out == indexing_maps(op)[len(op.inputs) + list(op.results).index(other)]
            ):
                self.remember(other, index, lanes, code)
        return values[result]

    def inline(
        self,
        op: GenericOp,
        loops: Sequence[Linear],
        lanes: Lanes | None,
        accumulators: Sequence[SSAValue] | None = None,
        until: SSAValue | None = None,
    ) -> list[SSAValue]:
        """Emit the body of `op` at one point of its loops, or at `lanes.width` points along a loop.

        `accumulators` stand for the output arguments; without them those come from the outputs.
        Returns what the body yields, or only the body's value `until`.
        """
        block = op.body.block
        values: dict[SSAValue, SSAValue] = {}
        maps = indexing_maps(op)
        inputs = len(op.inputs)
        for i, (arg, operand, map_) in enumerate(zip(block.args, op.operands, maps, strict=True)):
            if not arg.uses:
                continue
            if i >= inputs and accumulators is not None:
                values[arg] = accumulators[i - inputs]
            else:
                values[arg] = self.operand_element(operand, map_, loops, lanes)
        partial = any(DYNAMIC_INDEX in shape_of(v) for v in op.operands)
        body = _Body(self, values, loops, lanes, partial)
        if until is not None:
            for inner in block.ops:
                if until in values:
                    break
                body.emit(inner)
            return [values.get(until, until)]
        return body.emit_block(block)

    def operand_element(
        self, operand: SSAValue, map_: AffineMap, loops: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue:
        """The element of an operand that its map picks at a point of the loops."""
        index = [self._expr(map_, i, loops) for i in range(len(map_.results))]
        if lanes is None or lanes.dim not in map_.used_dims():
            return self.element(operand, index)
        moved = [self._expr(map_, i, _shift(loops, lanes.dim, 1)) for i in range(len(map_.results))]
        return self.strided(
            operand, index, [m + i * -1 for m, i in zip(moved, index, strict=True)], lanes
        )

    def strided(
        self, source: SSAValue, index: Sequence[Linear], steps: Sequence[Linear], lanes: Lanes
    ) -> SSAValue:
        """A vector of elements whose index moves by `steps` from lane to lane."""
        moving = [i for i, step in enumerate(steps) if step.known != 0]
        if len(moving) == 1 and steps[moving[0]].known == 1:
            return self.element(source, index, Lanes(moving[0], lanes.width))
        elements: list[SSAValue] = []
        for lane in range(lanes.width):
            at = [i + s * lane for i, s in zip(index, steps, strict=True)]
            elements.append(self.element(source, at))
        return self.from_elements(elements)

    def _expr(self, map_: AffineMap, result: int, loops: Sequence[Linear]) -> Linear:
        expr = map_.results[result]
        form = linear_of_expr(expr, loops)
        if form is not None:
            return form
        dims = [loop.materialize(self.builder) for loop in loops]
        used = sorted(expr.used_dims())
        renumbered = [
            AffineDimExpr(used.index(i)) if i in used else AffineDimExpr(0)
            for i in range(len(dims))
        ]
        single = AffineMap(len(used), 0, (expr.replace_dims_and_symbols(renumbered, []),))
        apply = affine.ApplyOp([dims[i] for i in used], AffineMapAttr(single))
        return Linear.of(self.emit(apply).result)

    # Memory.

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
                self.load(view, _shift(index, lanes.dim, i), None) for i in range(lanes.width)
            ]
            return self.from_elements(elements)
        indices = self.buffer_index(view, index, None if lanes is None else lanes.dim)
        element = element_type(view.buffer)
        if lanes is None:
            return self.emit(memref.LoadOp.get(view.buffer, indices)).res
        return self.emit(
            vector.TransferReadOp(
                view.buffer,
                indices,
                self.zero(element),
                VectorType(element, [lanes.width]),
                ArrayAttr([BoolAttr.from_bool(not view.partial[lanes.dim])]),
                _minor_map(len(indices)),
            )
        ).result

    def buffer_index(
        self, view: View, index: Sequence[Linear], vector_dim: int | None
    ) -> list[SSAValue]:
        """Indices into the buffer; along partial dimensions they are kept inside it."""
        indices: list[SSAValue] = []
        shape = shape_of(view.buffer)
        for dim, (offset, local) in enumerate(zip(view.offsets, index, strict=True)):
            position = (offset + local).materialize(self.builder)
            if view.partial[dim] and dim != vector_dim:
                last = constant_index(self.builder, max(0, shape[dim] - 1))
                position = self.emit(MinSIOp(position, last)).result
            indices.append(position)
        return indices

    def _is_minor(self, view: View, lanes: Lanes) -> bool:
        return lanes.dim == len(view.offsets) - 1

    # Small emitters.

    def zero(self, element: Attribute) -> SSAValue:
        """A zero of a scalar type."""
        return self.constant(0, element)

    def constant(self, number: float | int, element: Attribute) -> SSAValue:
        """An `arith.constant` of a scalar type."""
        if isinstance(element, AnyFloat):
            return self.emit(ConstantOp(FloatAttr(float(number), element))).result
        assert isinstance(number, int)
        return self.emit(ConstantOp(IntegerAttr(number, element))).result  # pyright: ignore

    def from_elements(self, elements: Sequence[SSAValue]) -> SSAValue:
        """A vector of scalars."""
        return self.emit(
            FromElementsOp(elements, VectorType(elements[0].type, [len(elements)]))
        ).result

    def lane(self, value: SSAValue, lane: int) -> SSAValue:
        """One element of a vector; a scalar stands for a vector of equal elements."""
        if not isinstance(value.type, VectorType):
            return value
        return self.emit(vector.ExtractOp(value, [lane], element_type(value))).result

    def widen(self, value: SSAValue, width: int | None) -> SSAValue:
        """A value as a vector of `width` equal elements, or as it is when it is one already."""
        if width is None or isinstance(value.type, VectorType):
            return value
        return self.emit(vector.BroadcastOp(value, VectorType(value.type, [width]))).vector


@dataclass
class _Body:
    """Emits the ops of a structured op's body, on scalars or on vectors."""

    evaluator: Evaluator
    values: dict[SSAValue, SSAValue]
    loops: Sequence[Linear]
    lanes: Lanes | None
    partial: bool
    """Some loops belong to a partial tile and run past its edge."""
    forms: dict[SSAValue, tuple[Linear, int]] = field(
        default_factory=dict[SSAValue, tuple[Linear, int]]
    )
    """Index values of the body: the form in lane 0, and the step from lane to lane."""

    def emit_block(self, block: Block) -> list[SSAValue]:
        """Emit all ops of a block and return what its terminator yields."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return [self.get(v) for v in op.operands]
            self.emit(op)
        raise AssertionError("the body of a structured op yields")

    def get(self, value: SSAValue) -> SSAValue:
        """What stands for a value of the body; values from outside stand for themselves."""
        if value in self.values:
            return self.values[value]
        if value in self.forms:
            self.values[value] = self._materialize(value)
            return self.values[value]
        return self.evaluator.replaced.get(value, value)

    def _materialize(self, value: SSAValue) -> SSAValue:
        form, step = self.forms[value]
        evaluator = self.evaluator
        if self.lanes is None or step == 0:
            return form.materialize(evaluator.builder)
        return evaluator.from_elements(
            [(form + step * i).materialize(evaluator.builder) for i in range(self.lanes.width)]
        )

    def emit(self, op: Operation) -> None:
        """Emit one op."""
        if self._index_form(op):
            return
        if isinstance(op, tensor.ExtractOp):
            self.values[op.result] = self._extract(op)
            return
        evaluator = self.evaluator
        operands = [self.get(v) for v in op.operands]
        if op.regions:
            if any(isinstance(v.type, VectorType) for v in operands) or self.lanes is not None:
                raise refuse(op, "internal: control flow in a vectorized body")
            self._emit_with_regions(op, operands)
            return
        width = None
        if any(isinstance(v.type, VectorType) for v in operands):
            assert self.lanes is not None
            width = self.lanes.width
            operands = [evaluator.widen(v, width) for v in operands]
        types = [r.type if width is None else VectorType(r.type, [width]) for r in op.results]
        new = _VECTOR_CLASSES.get(op.name, type(op)).create(
            operands=operands,
            result_types=types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        new.location = op.location
        evaluator.emit(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.values[old] = result

    def _emit_with_regions(self, op: Operation, operands: list[SSAValue]) -> None:
        regions: list[Region] = []
        for region in op.regions:
            blocks: list[Block] = []
            for block in region.blocks:
                copy = Block(arg_types=block.arg_types)
                for old, arg in zip(block.args, copy.args, strict=True):
                    self.values[old] = arg
                with self.evaluator.inside(copy):
                    for inner in block.ops:
                        self.emit(inner)
                blocks.append(copy)
            regions.append(Region(blocks))
        new = type(op).create(
            operands=operands,
            result_types=list(op.result_types),
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=regions,
        )
        new.location = op.location
        self.evaluator.emit(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.values[old] = result

    def _index_form(self, op: Operation) -> bool:
        """Track index arithmetic as linear forms instead of emitting it."""
        if isinstance(op, IndexOp):
            loop = op.dim.value.data
            step = 1 if self.lanes is not None and self.lanes.dim == loop else 0
            self.forms[op.result] = (self.loops[loop], step)
            return True
        if len(op.results) != 1 or not isinstance(op.results[0].type, IndexType):
            return False
        if not isinstance(op, _INDEX_OPS):
            return False
        forms: dict[SSAValue, tuple[Linear, int]] = {}
        for operand in op.operands:
            if operand in self.forms:
                forms[operand] = self.forms[operand]
            elif operand in self.values:
                return False
            else:
                forms[operand] = (self.evaluator.linear(operand), 0)
        combined = _combine(op, forms)
        if combined is None:
            return False
        self.forms[op.results[0]] = combined
        return True

    def _extract(self, op: tensor.ExtractOp) -> SSAValue:
        """Read an element of a captured tensor, in every lane."""
        evaluator = self.evaluator
        source = op.tensor
        view = evaluator.view(source)
        forms = [self.forms.get(v) or self._constant_form(v) for v in op.indices]
        known = [f for f in forms if f is not None]
        # Loops count from zero, so only the upper end can be passed, by partial tiles.
        inside = not self.partial or all(_is_nonnegative(*f) for f in known)
        if view is not None and len(known) == len(forms) and inside:
            return self._load(view, known)
        indices = [self.get(v) for v in op.indices]
        width = self.lanes.width if self.lanes is not None else 1
        if not any(isinstance(v.type, VectorType) for v in indices):
            return self._gather(source, op, indices)
        elements = [
            self._gather(source, op, [evaluator.lane(v, lane) for v in indices])
            for lane in range(width)
        ]
        return evaluator.from_elements(elements)

    def _load(self, view: View, forms: list[tuple[Linear, int]]) -> SSAValue:
        evaluator = self.evaluator
        if self.partial:
            view = View(view.buffer, view.offsets, [True] * len(view.partial))
        index = [form for form, _ in forms]
        moving = [i for i, (_, step) in enumerate(forms) if step]
        if self.lanes is None or not moving:
            return evaluator.load(view, index, None)
        if len(moving) == 1 and forms[moving[0]][1] == 1:
            return evaluator.load(view, index, Lanes(moving[0], self.lanes.width))
        return evaluator.from_elements(
            [
                evaluator.load(view, [form + step * lane for form, step in forms], None)
                for lane in range(self.lanes.width)
            ]
        )

    def _constant_form(self, value: SSAValue) -> tuple[Linear, int] | None:
        if value in self.values:
            return None
        form = linear_of(value)
        return (form, 0) if form.known is not None else None

    def _gather(self, source: SSAValue, op: tensor.ExtractOp, indices: list[SSAValue]) -> SSAValue:
        """Read at computed indices, kept inside the tensor: an index outside reads its edge."""
        evaluator = self.evaluator
        inside: list[Linear] = []
        for size, original, index in zip(shape_of(source), op.indices, indices, strict=True):
            clamped = index
            if size != DYNAMIC_INDEX and not _is_clamped(original, size):
                builder = evaluator.builder
                zero = constant_index(builder, 0)
                last = constant_index(builder, max(0, size - 1))
                clamped = evaluator.emit(MaxSIOp(index, zero)).result
                clamped = evaluator.emit(MinSIOp(clamped, last)).result
            inside.append(linear_of(clamped))
        return evaluator.element(source, inside)


def _is_nonnegative(form: Linear, step: int) -> bool:
    return step >= 0 and form.constant >= 0 and all(c > 0 for _, c in form.terms)


def _is_clamped(index: SSAValue, size: int) -> bool:
    """Whether an index is min(max(x, low), high), or the reverse, with bounds inside the tensor."""
    bounds: dict[type[Operation], int] = {}
    while not isinstance(index, BlockArgument) and isinstance(index.owner, MinSIOp | MaxSIOp):
        owner = index.owner
        bound = linear_of(owner.rhs).known
        if bound is None:
            return False
        bounds.setdefault(type(owner), bound)
        index = owner.lhs
    return bounds.get(MaxSIOp, -1) >= 0 and bounds.get(MinSIOp, size) < size


def _combine(op: Operation, forms: dict[SSAValue, tuple[Linear, int]]) -> tuple[Linear, int] | None:
    operands = [forms[v] for v in op.operands]
    match op:
        case ConstantOp() if isinstance(op.value, IntegerAttr):
            return Linear((), op.value.value.data), 0
        case AddiOp():
            return operands[0][0] + operands[1][0], operands[0][1] + operands[1][1]
        case SubiOp():
            return operands[0][0] + operands[1][0] * -1, operands[0][1] - operands[1][1]
        case MuliOp():
            for (lhs, step), (rhs, other) in (operands, operands[::-1]):
                if rhs.known is not None and other == 0:
                    return lhs * rhs.known, step * rhs.known
            return None
        case affine.ApplyOp() if op.map.data.num_symbols == 0:
            expr = op.map.data.results[0]
            form = linear_of_expr(expr, [f for f, _ in operands])
            step = linear_of_expr(expr, [Linear((), s) for _, s in operands])
            if form is None or step is None or step.known is None:
                return None
            base = linear_of_expr(expr, [Linear()] * len(operands))
            assert base is not None and base.known is not None
            return form, step.known - base.known
        case _:
            return None


_VECTOR_CLASSES = {op.name: op for op in Arith.operations}
"""The classes of arith ops that take vectors; xDSL's own rewrites make ops that do not."""

_INDEX_OPS = (ConstantOp, AddiOp, SubiOp, MuliOp, affine.ApplyOp)


def _shift(index: Sequence[Linear], dim: int, distance: int) -> list[Linear]:
    return [form + distance if i == dim else form for i, form in enumerate(index)]


def _distance(start: Sequence[Linear], index: Sequence[Linear], dim: int) -> int | None:
    """How far `index` is from `start` along `dim`, if that is the only difference."""
    distance = 0
    for i, (a, b) in enumerate(zip(start, index, strict=True)):
        step = (b + a * -1).known
        if step is None or (i != dim and step != 0):
            return None
        if i == dim:
            distance = step
    return distance


def _minor_map(rank: int) -> AffineMapAttr:
    return AffineMapAttr(AffineMap(rank, 0, (AffineDimExpr(rank - 1),)))
