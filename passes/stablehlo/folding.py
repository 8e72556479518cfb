"""Values that are known while compiling: small constants, and what is computed from them.

torch-mlir writes sizes and scales as arithmetic on constants, often in f64, and the dynamic forms
of ops take their sizes as operands: both need the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ComplexType, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.constants import constant_array, numpy_dtype
from ingot.compiler.analysis.types import as_tensor
from ingot.compiler.dialects.stablehlo.base import StableHLOOp

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]

MOST_ELEMENTS = 64
"""Larger results are left to the device."""

Fold = Callable[[StableHLOOp, Sequence["Array"], "tuple[tuple[int, ...], np.dtype[Any]]"], "Array"]


def fold(op: Operation, known: dict[SSAValue, Array]) -> Array | None:
    """The value of the only result of an op, if it is small and all operands are known."""
    type_ = as_tensor(op.results[0].type) if len(op.results) == 1 else None
    if type_ is None or isinstance(type_.element_type, ComplexType):
        return None
    shape = tuple(type_.get_shape())
    count = 1
    for size in shape:
        count *= size
    if DYNAMIC_INDEX in shape or count > MOST_ELEMENTS:
        return None
    if op.name in ("stablehlo.constant", "arith.constant"):
        value = op.properties.get("value")
        if not isinstance(value, DenseIntOrFPElementsAttr):
            return None
        try:
            return constant_array(cast("Attribute", value))
        except ValueError:
            return None
    if op.name == "stablehlo.get_dimension_size":
        return _dimension_size(op)
    rule = _FOLDS.get(op.name)
    if rule is None or not isinstance(op, StableHLOOp):
        return None
    if not op.ins or any(operand not in known for operand in op.ins):
        return None
    import numpy as np

    try:
        dtype = numpy_dtype(type_.element_type)
        with np.errstate(all="ignore"):
            result = rule(op, [known[operand] for operand in op.ins], (shape, dtype))
    except (ValueError, _NotFolded):
        return None
    return result if result.dtype == dtype and result.shape == shape else None


def _dimension_size(op: Operation) -> Array | None:
    import numpy as np

    assert isinstance(op, StableHLOOp)
    source, result = as_tensor(op.ins[0].type), as_tensor(op.outs[0].type)
    assert source is not None and result is not None
    size = source.get_shape()[op.int("dimension")]
    return None if size < 0 else np.array(size, numpy_dtype(result.element_type))


class _NotFolded(Exception):
    """The value is one that the compiler leaves to the device."""


def _convert(op: StableHLOOp, args: Sequence[Array], to: tuple[tuple[int, ...], Any]) -> Array:
    import numpy as np

    (x,) = args
    dtype = to[1]
    if dtype == np.bool_:
        return x != 0
    if x.dtype.kind not in "iub" and dtype.kind in "iu":
        wide = x.astype(np.float64)
        limits = np.iinfo(dtype)
        if not bool(np.all((wide > float(limits.min) - 1) & (wide < float(limits.max)))):
            raise _NotFolded
        return np.trunc(wide).astype(dtype)
    return x.astype(dtype)


def _broadcast(op: StableHLOOp, args: Sequence[Array], to: tuple[tuple[int, ...], Any]) -> Array:
    import numpy as np

    shape, _ = to
    dims = op.ints("broadcast_dimensions") or ()
    spread = [1] * len(shape)
    for size, dim in zip(args[0].shape, dims, strict=True):
        spread[dim] = size
    return np.broadcast_to(args[0].reshape(spread), shape)


def _slice(op: StableHLOOp, args: Sequence[Array], to: tuple[tuple[int, ...], Any]) -> Array:
    bounds = zip(
        op.ints("start_indices") or (),
        op.ints("limit_indices") or (),
        op.ints("strides") or (1,) * args[0].ndim,
        strict=True,
    )
    return args[0][tuple(slice(*bound) for bound in bounds)]


def _concatenate(op: StableHLOOp, args: Sequence[Array], to: tuple[tuple[int, ...], Any]) -> Array:
    import numpy as np

    return np.concatenate(args, axis=op.int("dimension"))


def _arithmetic(function: str, kinds: str) -> Fold:
    """An op that NumPy's function computes alike on these kinds of types."""

    def run(op: StableHLOOp, args: Sequence[Array], to: tuple[tuple[int, ...], Any]) -> Array:
        import numpy as np

        kind = "f" if args[0].dtype.kind == "V" else args[0].dtype.kind
        if kind not in kinds:
            raise _NotFolded
        compute: Callable[..., Array] = getattr(np, function)
        return np.asarray(compute(*args)).astype(args[0].dtype, copy=False)

    return run


MOVES: dict[str, Fold] = {
    "stablehlo.reshape": lambda op, args, to: args[0].reshape(to[0]),
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.slice": _slice,
    "stablehlo.concatenate": _concatenate,
}
"""Ops that put elements elsewhere, whatever the elements are."""

_FOLDS: dict[str, Fold] = {
    **MOVES,
    "stablehlo.convert": _convert,
    "stablehlo.add": _arithmetic("add", "iuf"),
    "stablehlo.subtract": _arithmetic("subtract", "iuf"),
    "stablehlo.multiply": _arithmetic("multiply", "iuf"),
    "stablehlo.divide": _arithmetic("divide", "f"),
    "stablehlo.maximum": _arithmetic("maximum", "iu"),
    "stablehlo.minimum": _arithmetic("minimum", "iu"),
    "stablehlo.ceil": _arithmetic("ceil", "f"),
    "stablehlo.floor": _arithmetic("floor", "f"),
    "stablehlo.negate": _arithmetic("negative", "if"),
}
