"""`affine.apply`, `affine.min` and `affine.max` on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation

from ingot.compiler.interpreter.frame import Frame, handles
from ingot.compiler.interpreter.indexing import evaluate_expr
from ingot.compiler.interpreter.values import Array


def _results(frame: Frame, op: Operation) -> list[Array]:
    map = cast("AffineMapAttr", op.properties["map"]).data
    operands = frame.operands(op)
    dims, symbols = operands[: map.num_dims], operands[map.num_dims :]
    return [evaluate_expr(expr, dims, symbols).astype(np.int64) for expr in map.results]


@handles("affine.apply")
def _apply(frame: Frame, op: Operation) -> Sequence[Array]:
    return _results(frame, op)


@handles("affine.min")
def _min(frame: Frame, op: Operation) -> Sequence[Array]:
    first, *rest = _results(frame, op)
    for other in rest:
        first = np.minimum(first, other)
    return [np.asarray(first)]


@handles("affine.max")
def _max(frame: Frame, op: Operation) -> Sequence[Array]:
    first, *rest = _results(frame, op)
    for other in rest:
        first = np.maximum(first, other)
    return [np.asarray(first)]
