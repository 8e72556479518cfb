"""`linalg` ops: the body runs once over whole arrays, contractions go to einsum.

An operand under an affine map without division is a strided view over the op's loops, of size 1
along loops that the map does not use; NumPy's broadcasting does the rest. Sums are accumulated in
float64 and rounded once at the end, so their value does not depend on an order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects.linalg import (
    NAMED_OP_CLASSES,
    IndexOp,
    MapOp,
    SoftmaxOp,
)
from ingot.compiler.interpreter.arithmetic import FUNCTIONS
from ingot.compiler.interpreter.frame import Frame, handles
from ingot.compiler.interpreter.indexing import loop_indices, strided_view
from ingot.compiler.interpreter.values import Array, EvaluationError, signed, wide

_BLOCK_ELEMENTS = 1 << 22
"""The most iterations that a body runs at once."""

_COMBINERS: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add.reduce,
    "arith.addi": np.add.reduce,
    "arith.mulf": np.multiply.reduce,
    "arith.muli": np.multiply.reduce,
    "arith.andi": np.bitwise_and.reduce,
    "arith.ori": np.bitwise_or.reduce,
    "arith.xori": np.bitwise_xor.reduce,
    "arith.maxsi": np.maximum.reduce,
    "arith.minsi": np.minimum.reduce,
    "arith.maximumf": np.maximum.reduce,
    "arith.minimumf": np.minimum.reduce,
    "arith.maxnumf": np.fmax.reduce,
    "arith.minnumf": np.fmin.reduce,
}
"""Ops that may be applied to the elements of a reduction in any order, and their reductions."""


@handles(
    "linalg.generic",
    "linalg.transpose",
    "linalg.broadcast",
    "linalg.reduce",
    "linalg.map",
    "linalg.contract",
    "linalg.elementwise",
    *(name for name in NAMED_OP_CLASSES if name != "linalg.fill"),
)
def _structured(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, LinalgStructuredOperation | MapOp)
    return _Structured(frame, op).run()


@handles("linalg.fill")
def _fill(frame: Frame, op: Operation) -> Sequence[Array]:
    value, output = frame.operands(op)
    # The body casts the value to the type of the elements.
    (cast_value,) = frame.run_region(op.regions[0], [value, np.asarray(0)])
    return [np.full(output.shape, cast_value, cast_value.dtype)]


@handles("linalg.index")
def _index(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, IndexOp)
    return [frame.loop_values[op.dim.value.data]]


@handles("linalg.softmax")
def _softmax(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, SoftmaxOp)
    x, axis = wide(frame.get(op.input)), op.dimension.value.data
    with np.errstate(all="ignore"):
        exponentials = np.exp(x - np.max(x, axis=axis, keepdims=True))
        result = exponentials / np.sum(exponentials, axis=axis, keepdims=True)
    return [frame.types.fit(result, element_type(op.input.type))]


class _Structured:
    """One run of a structured op."""

    def __init__(self, frame: Frame, op: LinalgStructuredOperation | MapOp):
        self.frame = frame
        self.op = op
        self.block: Block = op.body.block
        self.maps = [attr.data for attr in op.get_indexing_maps()]
        self.arrays = frame.operands(op)
        self.num_inputs = len(op.inputs)
        iterators = [attr.data for attr in op.get_iterator_types()]
        self.reductions = [i for i, kind in enumerate(iterators) if kind != IteratorType.PARALLEL]
        self.sizes = self._sizes(len(iterators))

    def _sizes(self, num_loops: int) -> tuple[int, ...]:
        sizes: list[int | None] = [None] * num_loops
        for array, map in zip(self.arrays, self.maps, strict=True):
            for expr, extent in zip(map.results, array.shape, strict=True):
                if isinstance(expr, AffineDimExpr):
                    known = sizes[expr.position]
                    if known is not None and known != extent:
                        raise EvaluationError(
                            f"{self.op.name}: a loop runs over {known} elements of one operand "
                            f"and {extent} of another"
                        )
                    sizes[expr.position] = extent
        if any(size is None for size in sizes):
            raise EvaluationError(f"{self.op.name}: the size of a loop follows from no operand")
        return tuple(cast("int", size) for size in sizes)

    def run(self) -> list[Array]:
        views = [
            strided_view(array, map, self.sizes)
            for array, map in zip(self.arrays, self.maps, strict=True)
        ]
        inputs, outputs = views[: self.num_inputs], views[self.num_inputs :]
        if not self.reductions:
            values = self._in_blocks(inputs, outputs)
        elif 0 in self.sizes:
            values = outputs
        else:
            values = (
                self._contraction(inputs, outputs)
                or self._reduction(inputs, outputs)
                or self._sequential(inputs, outputs)
            )
        results: list[Array] = []
        for value, array, map in zip(
            values, self.arrays[self.num_inputs :], self.maps[self.num_inputs :], strict=True
        ):
            result = np.array(array, order="C")
            target = strided_view(result, map, self.sizes)
            target[...] = np.broadcast_to(value, target.shape)
            results.append(result)
        return results

    def _run_body(
        self, args: Sequence[Array], offsets: Sequence[int], sizes: Sequence[int]
    ) -> list[Array]:
        """Run the body over a block of the loops."""
        return self._inner_frame(offsets, sizes).run_region(
            self.op.body, args[: len(self.block.args)]
        )

    def _inner_frame(self, offsets: Sequence[int], sizes: Sequence[int]) -> Frame:
        indices = zip(loop_indices(sizes), offsets, strict=True)
        loop_values = tuple(index + offset for index, offset in indices)
        outer = self.frame
        return Frame(outer.module, outer.types, outer.values, loop_values=loop_values)

    def _in_blocks(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
        """All loops parallel: run the body over blocks of the first loop that is long enough."""
        total = int(np.prod(self.sizes, dtype=np.int64))
        zeros = [0] * len(self.sizes)
        if total <= _BLOCK_ELEMENTS:
            return self._run_body([*inputs, *outputs], zeros, self.sizes)
        dim = max(range(len(self.sizes)), key=lambda i: self.sizes[i])
        step = max(1, _BLOCK_ELEMENTS * self.sizes[dim] // total)
        parts: list[list[Array]] = []
        for start in range(0, self.sizes[dim], step):
            stop = min(start + step, self.sizes[dim])
            sizes = (*self.sizes[:dim], stop - start, *self.sizes[dim + 1 :])
            offsets = [start if i == dim else 0 for i in range(len(sizes))]
            part = [_cut(view, dim, start, stop) for view in (*inputs, *outputs)]
            shape = [np.broadcast_to(v, sizes) for v in self._run_body(part, offsets, sizes)]
            parts.append(shape)
        return [np.concatenate(pieces, axis=dim) for pieces in zip(*parts, strict=True)]

    def _combiner(self) -> tuple[Operation, SSAValue] | None:
        """The op that combines the accumulator with a term, and the term, if the body ends so."""
        if len(self.block.args) != len(self.arrays) or len(self.arrays) != self.num_inputs + 1:
            return None
        accumulator = self.block.args[-1]
        terminator = self.block.last_op
        assert terminator is not None
        op = terminator.operands[0].owner
        if (
            not isinstance(op, Operation)
            or op.name not in _COMBINERS
            or op.parent is not self.block
        ):
            return None
        if not accumulator.has_one_use() or accumulator not in op.operands:
            return None
        lhs, rhs = op.operands
        return op, rhs if lhs is accumulator else lhs

    def _contraction(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[Array] | None:
        """acc + f(a) * g(b), with f and g casts, by einsum over views of the operands."""
        found = self._combiner()
        if found is None or found[0].name not in ("arith.addf", "arith.addi"):
            return None
        product = found[1].owner
        if not isinstance(product, Operation) or product.name not in ("arith.mulf", "arith.muli"):
            return None
        factors: list[Array] = []
        for factor in product.operands:
            value = self._cast_of_argument(factor, inputs)
            if value is None:
                return None
            factors.append(value.astype(np.int64) if value.dtype.kind in "bi" else wide(value))
        if len(factors) != 2:
            return None
        kept = [dim for dim in range(len(self.sizes)) if dim not in self.reductions]
        terms: list[Array] = []
        subscripts: list[list[int]] = []
        present: set[int] = set()
        for factor in factors:
            dims = [dim for dim, size in enumerate(factor.shape) if size != 1]
            subscripts.append(dims)
            present.update(dims)
            terms.append(factor.reshape([factor.shape[dim] for dim in dims]))
        out_dims = [dim for dim in kept if dim in present]
        with np.errstate(all="ignore"):
            total = np.einsum(
                terms[0], subscripts[0], terms[1], subscripts[1], out_dims, optimize=True
            )
            # A reduction loop that no factor depends on repeats the product.
            for dim in self.reductions:
                if dim not in present:
                    total = total * self.sizes[dim]
            total = total.reshape(
                [self.sizes[d] if d in out_dims else 1 for d in range(len(self.sizes))]
            )
            total = total + wide(outputs[0])
        return [self._fit(total)]

    def _cast_of_argument(self, value: SSAValue, inputs: Sequence[Array]) -> Array | None:
        """The whole operand behind a chain of casts of one input of the body."""
        owner = value.owner
        if owner is self.block:
            index = list(self.block.args).index(cast("Any", value))
            return inputs[index] if index < self.num_inputs else None
        if not isinstance(owner, Operation) or owner.name not in (
            "arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp",
        ):  # fmt: skip
            return None
        inner = self._cast_of_argument(owner.operands[0], inputs)
        return None if inner is None else FUNCTIONS[owner.name](owner, [inner], self.frame.types)

    def _fit(self, value: Array) -> Array:
        return self.frame.types.fit(value, element_type(self.op.operands[self.num_inputs].type))

    def _reduction(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[Array] | None:
        """combine(acc, f(inputs)): f over blocks of the loops, then one reduction of each block."""
        found = self._combiner()
        if found is None:
            return None
        combiner, term = found
        reduce = _COMBINERS[combiner.name]
        total = signed(wide(outputs[0]))
        parallel = math.prod(n for dim, n in enumerate(self.sizes) if dim not in self.reductions)
        first, *rest = self.reductions
        step = max(1, _BLOCK_ELEMENTS // max(1, parallel * math.prod(self.sizes[d] for d in rest)))
        for start in range(0, self.sizes[first], step):
            stop = min(start + step, self.sizes[first])
            sizes = (*self.sizes[:first], stop - start, *self.sizes[first + 1 :])
            offsets = [start if dim == first else 0 for dim in range(len(sizes))]
            part = [_cut(view, first, start, stop) for view in inputs]
            inner = self._inner_frame(offsets, sizes)
            inner.values.update(zip(self.block.args, part, strict=False))
            for body_op in self.block.ops:
                if body_op is not combiner and body_op is not self.block.last_op:
                    inner.run(body_op)
            values = signed(wide(inner.values[term]))
            # The reduction must see an element for each iteration, also of a loop not read.
            shape = [
                n if dim in self.reductions else (values.shape[dim] if values.ndim else 1)
                for dim, n in enumerate(sizes)
            ]
            with np.errstate(all="ignore"):
                reduced = reduce(
                    np.broadcast_to(values, shape), axis=tuple(self.reductions), keepdims=True
                )
                total = _combine(reduce, total, reduced)
        return [self._fit(total)]

    def _sequential(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
        """Any body: one point of the reduction loops after another, vectorized over the others."""
        accumulators = [np.asarray(view) for view in outputs]
        ranges = [range(self.sizes[dim]) for dim in self.reductions]
        sizes = tuple(1 if dim in self.reductions else n for dim, n in enumerate(self.sizes))
        for point in itertools.product(*ranges):
            at = dict(zip(self.reductions, point, strict=True))
            offsets = [at.get(dim, 0) for dim in range(len(self.sizes))]
            part = list(inputs)
            for dim, index in at.items():
                part = [_cut(view, dim, index, index + 1) for view in part]
            accumulators = self._run_body([*part, *accumulators], offsets, sizes)
        return accumulators


def _cut(view: Array, dim: int, start: int, stop: int) -> Array:
    """A range of one loop, unless the view does not depend on it."""
    if view.ndim == 0 or view.shape[dim] == 1:
        return view
    return view[(slice(None),) * dim + (slice(start, stop),)]


def _combine(reduce: Callable[..., Any], a: Array, b: Array) -> Array:
    shape = np.broadcast_shapes(a.shape, b.shape)
    return reduce(np.stack([np.broadcast_to(a, shape), np.broadcast_to(b, shape)]), axis=0)
