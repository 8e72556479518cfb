"""Products of matrices, factorizations, Fourier transforms and normalizations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, ComplexType
from xdsl.ir import SSAValue

from ingot.compiler.dialects.stablehlo.attributes import DotAttr
from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    agree,
    different,
    first,
    line,
    result_is,
    shape,
    tensor,
    text,
)

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


def _dot_general(op: StableHLOOp) -> str | None:
    numbers = op.properties.get("dot_dimension_numbers")
    if not isinstance(numbers, DotAttr):
        return None
    left_batch, right_batch, left_sum, right_sum = map(numbers.list_of, numbers.LISTS)
    return _product(op, (left_batch, right_batch), (left_sum, right_sum))


def _dot(op: StableHLOOp) -> str | None:
    left, right = (len(shape(value)) for value in op.ins)
    if not {left, right} <= {1, 2}:
        return f"needs operands of 1 or 2 dimensions, but has {op.ins[0].type} and {op.ins[1].type}"
    return _product(op, ((), ()), ((left - 1,), (0,)))


def _product(
    op: StableHLOOp,
    batch: tuple[Sequence[int], Sequence[int]],
    summed: tuple[Sequence[int], Sequence[int]],
) -> str | None:
    left, right = (shape(value) for value in op.ins)
    for word, pair in (("batch", batch), ("contracting", summed)):
        if len(pair[0]) != len(pair[1]):
            return f"pairs {len(pair[0])} and {len(pair[1])} {word} dimensions"
        for numbers, sizes in zip(pair, (left, right), strict=True):
            if (broken := different(f"{word} dimensions", numbers, len(sizes))) is not None:
                return broken
        for one, other in zip(*pair, strict=True):
            if not agree([left[one]], [right[other]]):
                return f"pairs dimensions of {left[one]} and {right[other]} elements"
    if any(set(batch[side]) & set(summed[side]) for side in range(2)):
        return "needs batch dimensions that are not contracting dimensions, but both have some"
    free = [
        [size for dim, size in enumerate(sizes) if dim not in (*batch[side], *summed[side])]
        for side, sizes in enumerate((left, right))
    ]
    return result_is(op, [*(left[dim] for dim in batch[0]), *free[0], *free[1]])


def square(value: SSAValue) -> str | None:
    """Matrices with as many rows as columns, in the last two dimensions."""
    sizes = shape(value)
    if len(sizes) < 2 or not agree(sizes[-1:], sizes[-2:-1]):
        return f"needs square matrices, but has {value.type}"
    return None


def _cholesky(op: StableHLOOp) -> str | None:
    return square(op.ins[0]) or result_is(op, shape(op.ins[0]))


def _triangular_solve(op: StableHLOOp) -> str | None:
    matrix, right = op.ins
    return (
        solves(matrix, right, op.flag("left_side"))
        or (
            "needs transpose_a of NO_TRANSPOSE, TRANSPOSE or ADJOINT"
            if op.word("transpose_a") == "TRANSPOSE_INVALID"
            else None
        )
        or result_is(op, shape(right))
    )


def solves(matrix: SSAValue, right: SSAValue, left_side: bool) -> str | None:
    """What a system of equations needs of its matrix and its other side."""
    if (broken := square(matrix)) is not None:
        return broken
    system, unknowns = shape(matrix), shape(right)
    fits = len(system) == len(unknowns) and agree(system[:-2], unknowns[:-2])
    if not fits or not agree(system[-1:], [unknowns[-2 if left_side else -1]]):
        return f"cannot solve {matrix.type} for {right.type}"
    return None


def _is_complex(value: SSAValue) -> bool:
    type_ = tensor(value.type)
    return type_ is not None and isinstance(type_.element_type, ComplexType)


def _fft(op: StableHLOOp) -> str | None:
    lengths, kind = list(op.ints("fft_length") or ()), op.word("fft_type")
    source = shape(op.ins[0])
    count = len(lengths)
    if not 1 <= count <= min(3, len(source)) or any(length < 1 for length in lengths):
        most = min(3, len(source))
        return f"needs 1 to {most} lengths of at least 1, but has {lengths}"
    for word, value, real in (("takes", op.ins[0], "RFFT"), ("makes", op.outs[0], "IRFFT")):
        if _is_complex(value) == (kind == real):
            numbers = "real" if kind == real else "complex"
            return f"{word} {numbers} numbers by {kind}, but has {value.type}"
    half = [*lengths[:-1], lengths[-1] // 2 + 1]
    taken, made = half if kind == "IRFFT" else lengths, half if kind == "RFFT" else lengths
    if not agree(source[-count:], taken):
        return f"transforms {text(taken)} points by {kind}, but has {op.ins[0].type}"
    return result_is(op, [*source[:-count], *made])


def _batch_norm(op: StableHLOOp) -> str | None:
    """All but the first operand, and a gradient's last, hold a number for each feature."""
    sizes, feature = shape(op.ins[0]), op.int("feature_index")
    if not 0 <= feature < len(sizes):
        return f"needs feature_index of 0 to {len(sizes) - 1}, but has {feature}"
    is_grad = op.name == "stablehlo.batch_norm_grad"
    features = op.ins[1:4] if is_grad else op.ins[1:]
    if len(op.outs) != (1 if op.name == "stablehlo.batch_norm_inference" else 3):
        return f"cannot have {len(op.outs)} results"
    if is_grad and not agree(shape(op.ins[4]), sizes):
        return f"needs a gradient of {text(sizes)}, but has {op.ins[4].type}"
    return first(
        (
            *(line("a number for each feature", value, sizes[feature]) for value in features),
            result_is(op, sizes),
            *(result_is(op, [sizes[feature]], i) for i in range(1, len(op.outs))),
        )
    )


def _top_k(op: StableHLOOp) -> str | None:
    return largest(op, op.int("k"))


def largest(op: StableHLOOp, k: int, dimension: int = -1) -> str | None:
    """What the k largest elements along a dimension need of their operand and two results."""
    if not op.ins or len(op.outs) != 2:
        return f"makes 2 results of an operand, but has {len(op.ins)} and {len(op.outs)}"
    sizes = list(shape(op.ins[0]))
    if not -len(sizes) <= dimension < len(sizes):
        return f"has no dimension {dimension} in {op.ins[0].type}"
    length = sizes[dimension]
    if k < 0 or (length != DYNAMIC_INDEX and k > length):
        return f"cannot take {k} of {length} elements"
    sizes[dimension] = k
    return result_is(op, sizes, 0) or result_is(op, sizes, 1)


RULES: dict[str, Rule] = {
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dot": _dot,
    "stablehlo.cholesky": _cholesky,
    "stablehlo.triangular_solve": _triangular_solve,
    "stablehlo.fft": _fft,
    "stablehlo.batch_norm_inference": _batch_norm,
    "stablehlo.batch_norm_training": _batch_norm,
    "stablehlo.batch_norm_grad": _batch_norm,
    "chlo.top_k": _top_k,
}
