"""`triangular_solve` and `cholesky`, one column a step of a loop on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf, tensor
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.generics import Emitter, elementwise, loop_indices
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.scalar import Scalar
from ingot.passes.stablehlo.shapes import transpose

Step = Callable[[Emitter, SSAValue, Scalar, "list[Scalar]", Scalar], Scalar]
"""An element of the next matrix: from the matrix, the step, its position and its value."""


def _loop(low: Lowering, start: SSAValue, steps: int, step: Step) -> SSAValue:
    """`steps` times a generic on the matrix, which computes each element from the old matrix."""
    emit = low.emit
    type_ = tensor_type(start)
    rank = type_.get_num_dims()
    first, last, one = emit.index(0), emit.index(steps), emit.index(1)
    block = Block(arg_types=[first.type, type_])
    inner = Emitter.at_end(block, emit.location)
    number, matrix = block.args

    def body(e: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = [Scalar(e, loop) for loop in loop_indices(e, rank)]
        return [step(e, matrix, Scalar(e, number), loops, Scalar(e, args[0])).ssa]

    result = elementwise(inner, type_, [matrix], [AffineMap.identity(rank)], body)
    inner.add(scf.YieldOp(result))
    return emit.add(scf.ForOp(first, last, one, [start], Region(block))).results[0]


def _read(emit: Emitter, matrix: SSAValue, position: Sequence[Scalar]) -> Scalar:
    element = tensor_type(matrix).element_type
    indices = [index.ssa for index in position]
    return Scalar(emit, emit.add(tensor.ExtractOp(matrix, indices, element)).result)


@dataclass(frozen=True)
class Triangle:
    """What is solved: A x = b from the `left`, else x A = b."""

    left: bool
    lower: bool
    """Which triangle of A counts, before A is transposed."""
    unit: bool
    """Whether the diagonal is of ones, whatever A holds there."""
    form: str
    """NO_TRANSPOSE, TRANSPOSE or ADJOINT."""


def triangular_solve(low: Lowering, a: SSAValue, b: SSAValue, system: Triangle) -> SSAValue:
    """Substitution: step i divides row i of the unknowns, and takes it out of the rows after it.

    A system from the right is one from the left of the transposes, read in place.
    """
    form = system.form
    transposed = form in ("TRANSPOSE", "ADJOINT")
    swapped = transposed == system.left
    lower = system.lower != swapped
    shape = tensor_type(b).get_shape()
    row_dim = len(shape) - (2 if system.left else 1)
    size = shape[row_dim]
    if 0 in shape:
        return b

    def element(emit: Emitter, position: Sequence[Scalar]) -> Scalar:
        value = _read(emit, a, position)
        return value.conjugate() if form == "ADJOINT" else value

    def step(
        emit: Emitter, matrix: SSAValue, number: Scalar, at: list[Scalar], old: Scalar
    ) -> Scalar:
        i = number if lower else size - 1 - number
        batch, row = at[:-2], at[row_dim]
        unknown = _read(emit, matrix, [*at[:row_dim], i, *at[row_dim + 1 :]])
        if not system.unit:
            unknown = unknown / element(emit, [*batch, i, i])
        factor = element(emit, [*batch, *((i, row) if swapped else (row, i))])
        after = row.gt(i) if lower else row.lt(i)
        rest = after.select(old - factor * unknown, old)
        return row.eq(i).select(unknown, rest)

    return _loop(low, b, size, step)


def lower_triangular_solve(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`triangular_solve` as the properties say."""
    system = Triangle(
        op.flag("left_side"),
        op.flag("lower"),
        op.flag("unit_diagonal"),
        op.word("transpose_a", "NO_TRANSPOSE"),
    )
    a, b = low.operands(op)
    return [triangular_solve(low, a, b, system)]


def cholesky(low: Lowering, a: SSAValue, lower: bool) -> SSAValue:
    """Step k divides column k by the root of its diagonal element, and takes its product with
    itself out of the columns after it. The other triangle stays as it is, as LAPACK leaves it."""
    shape = tensor_type(a).get_shape()
    rank, size = len(shape), shape[-1]
    if 0 in shape:
        return a
    swap = [*range(rank - 2), rank - 1, rank - 2]
    start = a if lower else transpose(low.emit, a, swap)

    def step(emit: Emitter, matrix: SSAValue, k: Scalar, at: list[Scalar], old: Scalar) -> Scalar:
        *batch, row, column = at
        root = _read(emit, matrix, [*batch, k, k]).real.call("math.sqrt").to(old.type)
        in_row = _read(emit, matrix, [*batch, row, k]) / root
        in_column = (_read(emit, matrix, [*batch, column, k]) / root).conjugate()
        later = column.gt(k).select(old - in_row * in_column, old)
        here = row.eq(column).select(root, in_row)
        value = column.eq(k).select(here, later)
        # Rows above k are finished.
        return (row.lt(k) | column.gt(row)).select(old, value)

    result = _loop(low, start, size, step)
    return result if lower else transpose(low.emit, result, swap)


def lower_cholesky(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`cholesky` of the lower or the upper triangle."""
    return [cholesky(low, low.value(op.ins[0]), op.flag("lower"))]


LOWERINGS: dict[str, Lower] = {
    "stablehlo.triangular_solve": lower_triangular_solve,
    "stablehlo.cholesky": lower_cholesky,
}
