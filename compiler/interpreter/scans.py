"""The scans of L1 and of torch-mlir: a loop along the dimension, vectorized over the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, Region

from ingot.compiler.dialects import ingot, tm_tensor
from ingot.compiler.interpreter.frame import Frame, handles
from ingot.compiler.interpreter.values import Array


def _combine(frame: Frame, body: Region, accumulator: Array, element: Array) -> Array:
    (combined,) = frame.run_region(body, [accumulator, element])
    return np.broadcast_to(combined, accumulator.shape)


@handles("ingot.scan")
def _scan(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, ingot.ScanOp)
    source = np.moveaxis(frame.get(op.input), op.dimension.value.data, 0)
    accumulator = frame.get(op.init)
    result = np.empty(source.shape, accumulator.dtype)
    for i, element in enumerate(source):
        element = np.asarray(element)
        before = accumulator
        accumulator = _combine(frame, op.body, accumulator, element)
        result[i] = accumulator if op.inclusive is not None else before
    return [np.moveaxis(result, 0, op.dimension.value.data), accumulator]


@handles("tm_tensor.scan", "iree_linalg_ext.scan")
def _tm_scan(frame: Frame, op: Operation) -> Sequence[Array]:
    """Inclusive starts from the first element, exclusive from the accumulator's contents."""
    assert isinstance(op, tm_tensor.ScanLike) and op.dimension is not None
    dimension = op.dimension.value.data
    source = np.moveaxis(frame.get(op.inputs[0]), dimension, 0)
    accumulator = frame.get(op.outputs[1])
    inclusive = op.inclusive is not None and bool(op.inclusive.value.data)
    result = np.empty(source.shape, accumulator.dtype)
    for i in range(len(source)):
        if i == 0:
            result[0] = source[0] if inclusive else accumulator
        else:
            element = np.asarray(source[i if inclusive else i - 1])
            accumulator = _combine(frame, op.body, np.asarray(result[i - 1]), element)
            result[i] = accumulator
    if inclusive and len(source) == 1:
        accumulator = np.asarray(result[0])
    return [np.moveaxis(result, 0, dimension), accumulator]
