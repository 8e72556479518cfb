"""`custom_call`: the targets that name something StableHLO can say; all others are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, fill, loop_indices
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.host import CheckOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.compiler.dialects.stablehlo.operations import CompareOp, CustomCallOp
from ingot.compiler.dialects.stablehlo.shapes.common import result_is
from ingot.compiler.dialects.stablehlo.shapes.products import largest, solves, square
from ingot.passes.stablehlo.factorizations import Triangle, cholesky, triangular_solve
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.scalar import Scalar, literal
from ingot.passes.stablehlo.sort import top_k

Call = Callable[[Lowering, CustomCallOp], Sequence[SSAValue]]


def _options(op: CustomCallOp, *names: str) -> dict[str, int]:
    """The integers of the first attribute dictionary of these names that the call has."""
    for name in names:
        found = op.attributes.get(name, op.properties.get(name))
        if isinstance(found, DictionaryAttr):
            data = cast("Mapping[str, Attribute]", found.data)
            return {k: v.value.data for k, v in data.items() if isinstance(v, IntegerAttr)}
    return {}


def _check(op: CustomCallOp, broken: str | None) -> None:
    """Refuse a call of a known target that is not as the target needs it."""
    if broken is not None:
        raise refuse(op, f"stablehlo.custom_call @{op.target} {broken}")


def _option(op: CustomCallOp, options: Mapping[str, int], name: str, *known: int) -> int:
    """An integer that a target needs; one of those that are known, where some are given."""
    value = options.get(name)
    if value is None:
        raise refuse(op, f"stablehlo.custom_call @{op.target} needs `{name}`")
    if known and value not in known:
        raise refuse(op, f"stablehlo.custom_call @{op.target} cannot have {value} for `{name}`")
    return value


def _as_it_is(low: Lowering, op: CustomCallOp) -> Sequence[SSAValue]:
    """What says where a tensor lives returns it."""
    if len(op.ins) != 1 or [v.type for v in op.outs] != [op.ins[0].type]:
        raise _refusal(op)
    return low.operands(op)


def _top_k(low: Lowering, op: CustomCallOp) -> Sequence[SSAValue]:
    """`mhlo.topk`: the k largest or smallest of each row."""
    options = _options(op, "mhlo.attributes", "mhlo.backend_config", "backend_config")
    k = _option(op, options, "k")
    _check(op, largest(op, k))
    return top_k(low, op.ins[0], k, options.get("largest", 1) != 0)


def _approximate_top_k(low: Lowering, op: CustomCallOp) -> Sequence[SSAValue]:
    """The exact answer is the best approximation; the positions are those of an iota."""
    options = _options(op, "mhlo.backend_config", "backend_config")
    dimension, k = options.get("reduction_dim"), options.get("top_k")
    direction = _direction(op)
    positions = op.ins[1].owner if len(op.ins) == 4 else None
    is_iota = isinstance(positions, Operation) and positions.name == "stablehlo.iota"
    if dimension is None or k is None or direction is None or not is_iota:
        raise _refusal(op)
    _check(op, largest(op, k, dimension))
    return top_k(low, op.ins[0], k, direction == "GT", dimension)


def _direction(op: CustomCallOp) -> str | None:
    """How the function that a call names compares its first two arguments."""
    if len(op.computations) != 1:
        return None
    function = SymbolTable.lookup_symbol(op, op.computations[0])
    if not isinstance(function, func.FuncOp):
        return None
    block = function.body.block
    first = block.first_op
    if not isinstance(first, CompareOp) or list(first.ins) != list(block.args[:2]):
        return None
    return first.word("comparison_direction")


_UPPER, _LOWER, _LEFT, _RIGHT, _UNIT, _ANY = map(ord, "ULLRUN")
_FORMS = {ord("N"): "NO_TRANSPOSE", ord("T"): "TRANSPOSE", ord("C"): "ADJOINT"}


def _potrf(low: Lowering, op: CustomCallOp) -> Sequence[SSAValue]:
    """LAPACK's Cholesky, and whether the matrix was not positive definite.

    A pivot that is not positive makes all after it NaN, the last one at the latest.
    """
    options = _options(op, "mhlo.backend_config")
    lower = _option(op, options, "uplo", _LOWER, _UPPER) == _LOWER
    if len(op.ins) != 1 or len(op.outs) != 2:
        raise _refusal(op)
    sizes = shape_of(op.ins[0])
    broken = square(op.ins[0]) or result_is(op, sizes, 0) or result_is(op, sizes[:-2], 1)
    _check(op, broken)
    result = cholesky(low, low.value(op.ins[0]), lower)
    type_ = low.result_type(op, 1)
    last = shape_of(result)[-1] - 1
    if last < 0:
        zero = literal(low.emit, 0, type_.element_type)
        return [result, fill(low.emit, zero.ssa, type_)]
    element = low.result_type(op).element_type

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        at = [*loop_indices(emit, type_.get_num_dims()), emit.index(last), emit.index(last)]
        pivot = Scalar(emit, emit.add(tensor.ExtractOp(result, at, element)).result).real
        failed = ~pivot.gt(0.0)
        return [failed.to(type_.element_type).ssa]

    return [result, elementwise(low.emit, type_, [], [], body)]


def _trsm(low: Lowering, op: CustomCallOp) -> Sequence[SSAValue]:
    """BLAS's triangular solve."""
    options = _options(op, "mhlo.backend_config")
    system = Triangle(
        left=_option(op, options, "side", _LEFT, _RIGHT) == _LEFT,
        lower=_option(op, options, "uplo", _LOWER, _UPPER) == _LOWER,
        unit=_option(op, options, "diag", _UNIT, _ANY) == _UNIT,
        form=_FORMS[_option(op, options, "trans_x", *_FORMS)],
    )
    if len(op.ins) != 2 or len(op.outs) != 1:
        raise _refusal(op)
    matrix, right = op.ins
    _check(op, solves(matrix, right, system.left) or result_is(op, shape_of(right)))
    a, b = low.operands(op)
    return [triangular_solve(low, a, b, system)]


def _shape_assertion(low: Lowering, op: CustomCallOp) -> Sequence[SSAValue]:
    """A check when the function is called; what the message says of numbers is left out."""
    message = op.attributes.get("error_message")
    text = message.data if isinstance(message, StringAttr) else "the sizes do not fit"
    sentences = [sentence for sentence in text.split(". ") if "{" not in sentence]
    if not op.ins or (op.ins[0] not in low.numbers and op.ins[0] not in low.known):
        raise _refusal(op)
    condition = low.scalar(op.ins[0])
    if int_of(condition) is None or int_of(condition) == 0:
        low.emit.add(CheckOp(condition, ". ".join(sentences)))
    return ()


_TARGETS: dict[str, Call] = {
    **dict.fromkeys(
        (
            "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint",
            "annotate_device_placement", "xla.sdy.FuncResultSharding",
        ),
        _as_it_is,
    ),
    **dict.fromkeys(("mhlo.topk", "topk", "TopK"), _top_k),
    "shape_assertion": _shape_assertion,
    "ApproxTopK": _approximate_top_k,
    **dict.fromkeys(("lapack_spotrf_ffi", "lapack_cpotrf_ffi"), _potrf),
    **dict.fromkeys(("lapack_strsm_ffi", "lapack_ctrsm_ffi"), _trsm),
}  # fmt: skip
"""Markers, the largest of rows, and what JAX takes from LAPACK where StableHLO has its own op."""


def _refusal(op: CustomCallOp) -> Exception:
    if op.target.startswith("lapack_"):
        hint = (
            "compute the factorization outside of the compiled part; where JAX has one of its own, "
            'jax.jit(f).trace(...).lower(lowering_platforms=("tpu",)) writes it out'
        )
    else:
        hint = (
            "write the function with operations that StableHLO has, or compute it outside of the "
            "compiled part"
        )
    return refuse(
        op, f"stablehlo.custom_call @{op.target} calls code that is not in the program", hint
    )


def lower_custom_call(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """By the name of the target."""
    assert isinstance(op, CustomCallOp)
    call = _TARGETS.get(op.target)
    if call is None:
        raise _refusal(op)
    return call(low, op)


LOWERINGS: dict[str, Lower] = {"stablehlo.custom_call": lower_custom_call}
