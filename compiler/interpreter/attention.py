"""torch-mlir's attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from ingot.compiler.dialects.tm_tensor import AttentionOp
from ingot.compiler.interpreter.frame import Frame, handles
from ingot.compiler.interpreter.values import Array


@handles("tm_tensor.attention")
def _attention(frame: Frame, op: Operation) -> Sequence[Array]:
    """softmax(q k^T / sqrt(d) + mask) v in f64; a row that sees no key is 0."""
    assert isinstance(op, AttentionOp)
    query, key, value, *masks = (np.asarray(frame.get(v)) for v in op.inputs)
    wide = [array.astype(np.float64) for array in (query, key, value)]
    scores = wide[0] @ np.swapaxes(wide[1], -1, -2) / np.sqrt(query.shape[-1])
    for mask in masks:
        scores = scores + (np.where(mask, 0.0, -np.inf) if mask.dtype == np.bool_ else mask)
    highest = np.max(scores, axis=-1, keepdims=True, initial=-1e300)
    weights = np.exp(scores - highest)
    total = np.sum(weights, axis=-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)
    return [(weights @ wide[2]).astype(query.dtype)]
