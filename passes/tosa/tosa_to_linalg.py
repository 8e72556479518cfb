"""Turn TOSA into structured ops on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerType,
    ModuleOp,
    Signedness,
    UnrankedTensorType,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.structured import indexing_maps, shape_of
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.analysis.types import shape_of_type
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.tosa import CondIfOp, TosaOp, WhileLoopOp
from ingot.passes.tosa.control import lower_cond_if, lower_while_loop
from ingot.passes.tosa.elementwise import ROWS, lower_elementwise
from ingot.passes.tosa.fourier import lower_fft, lower_rfft
from ingot.passes.tosa.layout import (
    lower_concat,
    lower_constant,
    lower_gather,
    lower_identity,
    lower_pad,
    lower_reshape,
    lower_reverse,
    lower_scatter,
    lower_slice,
    lower_tile,
    lower_transpose,
)
from ingot.passes.tosa.pooling import lower_avg_pool, lower_max_pool
from ingot.passes.tosa.products import (
    lower_convolution,
    lower_depthwise,
    lower_fully_connected,
    lower_matmul,
    lower_transpose_convolution,
)
from ingot.passes.tosa.quantized import lower_apply_scale, lower_rescale, lower_table
from ingot.passes.tosa.reductions import lower_argmax, lower_reduction
from ingot.passes.tosa.resize import lower_resize

Lowering = Callable[[TosaOp, Emitter], Sequence[SSAValue]]
"""Emits what an op computes, and returns the values that take its results' place."""

LOWERINGS: dict[str, Lowering] = {
    **dict.fromkeys(ROWS, lower_elementwise),
    "tosa.apply_scale": lower_apply_scale,
    "tosa.argmax": lower_argmax,
    "tosa.avg_pool2d": lower_avg_pool,
    "tosa.concat": lower_concat,
    "tosa.const": lower_constant,
    "tosa.conv2d": lower_convolution,
    "tosa.conv3d": lower_convolution,
    "tosa.depthwise_conv2d": lower_depthwise,
    "tosa.fft2d": lower_fft,
    "tosa.fully_connected": lower_fully_connected,
    "tosa.gather": lower_gather,
    "tosa.identity": lower_identity,
    "tosa.matmul": lower_matmul,
    "tosa.max_pool2d": lower_max_pool,
    "tosa.pad": lower_pad,
    "tosa.reduce_all": lower_reduction,
    "tosa.reduce_any": lower_reduction,
    "tosa.reduce_max": lower_reduction,
    "tosa.reduce_min": lower_reduction,
    "tosa.reduce_product": lower_reduction,
    "tosa.reduce_sum": lower_reduction,
    "tosa.rescale": lower_rescale,
    "tosa.reshape": lower_reshape,
    "tosa.resize": lower_resize,
    "tosa.reverse": lower_reverse,
    "tosa.rfft2d": lower_rfft,
    "tosa.scatter": lower_scatter,
    "tosa.slice": lower_slice,
    "tosa.table": lower_table,
    "tosa.tile": lower_tile,
    "tosa.transpose": lower_transpose,
    "tosa.transpose_conv2d": lower_transpose_convolution,
}
"""Every op that has a lowering."""


RANKS: dict[str, tuple[int, ...]] = {
    "tosa.avg_pool2d": (4,),
    "tosa.conv2d": (4, 4, 1),
    "tosa.conv3d": (5, 5, 1),
    "tosa.depthwise_conv2d": (4, 4, 1),
    "tosa.fft2d": (3, 3),
    "tosa.fully_connected": (2, 2, 1),
    "tosa.gather": (3, 2),
    "tosa.matmul": (3, 3),
    "tosa.max_pool2d": (4,),
    "tosa.resize": (4,),
    "tosa.rfft2d": (3,),
    "tosa.scatter": (3, 2, 3),
    "tosa.transpose_conv2d": (4, 4, 1),
}
"""The ranks of the first operands, where TOSA fixes them; results have that of the first."""


DYNAMIC = frozenset(
    {
        *ROWS,
        *(name for name in LOWERINGS if name.startswith("tosa.reduce_")),
        "tosa.argmax",
        "tosa.fully_connected",
        "tosa.identity",
        "tosa.matmul",
        "tosa.reshape",
        "tosa.transpose",
    }
)
"""The ops that take tensors with sizes that a call decides."""


UNSIGNED = frozenset(
    {
        "tosa.concat",
        "tosa.const",
        "tosa.gather",
        "tosa.identity",
        "tosa.pad",
        "tosa.rescale",
        "tosa.reshape",
        "tosa.reverse",
        "tosa.slice",
        "tosa.tile",
        "tosa.transpose",
    }
)
"""The ops that take unsigned types: they move elements, or say by themselves what is unsigned."""


def _check_ranks(op: TosaOp) -> None:
    ranks = RANKS.get(op.name, ())
    named = [*zip(op.ins, ranks, strict=False), *((r, ranks[0]) for r in op.results if ranks)]
    for value, rank in named:
        if len(shape_of_type(value.type)) != rank:
            raise refuse(op, f"{op.name} takes a tensor of rank {rank} here, not {value.type}")


def _check_loops(op: TosaOp, generic: GenericOp) -> None:
    """Refuse operands whose sizes do not agree: a loop would run past one of them."""
    extents: dict[int, int] = {}
    for operand, map_ in zip(generic.operands, indexing_maps(generic), strict=True):
        shape = shape_of(operand)
        agrees = len(shape) == len(map_.results) and all(
            extents.setdefault(expr.position, size) == size
            for size, expr in zip(shape, map_.results, strict=True)
            if isinstance(expr, AffineDimExpr)
        )
        if not agrees:
            types = ", ".join(str(value.type) for value in (*op.operands, *op.results))
            raise refuse(op, f"{op.name}: the shapes of {types} do not fit together")


def _check_type(op: Operation, value: SSAValue) -> None:
    """Refuse tensors whose shape or element type a lowering cannot read."""
    any_type: Attribute = value.type
    if isinstance(any_type, UnrankedTensorType):
        raise refuse(op, f"{op.name} of {value.type} is not supported: the rank must be known")
    type_ = as_tensor_type(any_type)
    if type_ is None:
        return
    if DYNAMIC_INDEX in type_.get_shape() and op.name not in DYNAMIC:
        raise refuse(
            op,
            f"{op.name} of the dynamic shape {type_} is not supported",
            "export the program with static shapes",
        )
    if isinstance(type_.element_type, UnregisteredAttr):
        raise refuse(
            op,
            f"{op.name} of {type_}: elements of a type of another dialect are not supported",
            "replace quantized types by integers, as `tosa-strip-quant-types` does",
        )
    match type_.element_type:
        case IntegerType(signedness=sign) if sign.data is not Signedness.SIGNLESS:
            if sign.data is Signedness.UNSIGNED and op.name in UNSIGNED:
                return
            raise refuse(
                op,
                f"{op.name} of {type_}: integers with a sign in their type are not supported",
                "run `mlir-opt --tosa-convert-integer-type-to-signless`",
            )
        case _:
            pass


def _lower(op: TosaOp) -> None:
    for value in (*op.operands, *op.results):
        _check_type(op, value)
    if op.name == "tosa.custom":
        name, domain = op.word("operator_name"), op.word("domain_name")
        raise refuse(
            op,
            f"tosa.custom: the operator '{name}' of the domain '{domain}' is not known",
            "express it by other ops before compiling",
        )
    _check_ranks(op)
    before = op.prev_op
    replacements = LOWERINGS[op.name](op, Emitter.before(op))
    new = op.prev_op
    while new is not before and new is not None:
        if isinstance(new, GenericOp):
            _check_loops(op, new)
        new = new.prev_op
    for result, value in zip(op.results, replacements, strict=True):
        value.name_hint = value.name_hint or result.name_hint
        if value.type != result.type:
            raise refuse(op, f"{op.name} computes a {value.type}, not a {result.type}")
        result.replace_all_uses_with(value)
    erase(op)


def _lower_control(op: CondIfOp | WhileLoopOp) -> None:
    new = lower_cond_if(op) if isinstance(op, CondIfOp) else lower_while_loop(op)
    for result, value in zip(op.results, new.results, strict=True):
        value.name_hint = result.name_hint
        result.replace_all_uses_with(value)
    erase(op)


@dataclass(frozen=True)
class TosaToLinalgPass(ModulePass):
    """Turn TOSA, in the form that `tosa-upgrade` leaves, into linalg, tensor, arith and scf
    (TOSA to L1).

    Elementwise ops broadcast; sums of floats are accumulated in f32; integers are computed as the
    specification says, to the bit.

        %2 = tosa.add %0, %1 : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
    becomes
        %2 = linalg.generic {(d0, d1) -> (d0, d1), (d0, d1) -> (0, d1), ...} { arith.addf }
    """

    name = "tosa-to-linalg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for what is not supported."""
        for function in host_functions(op):
            shapes: list[TosaOp] = []
            for inner in list(function.body.walk()):
                if isinstance(inner, CondIfOp | WhileLoopOp):
                    _lower_control(inner)
                elif isinstance(inner, TosaOp):
                    if inner.name == "tosa.const_shape":
                        shapes.append(inner)
                    else:
                        _lower(inner)
            for shape in shapes:
                if shape.results[0].uses:
                    raise refuse(shape, "a list of sizes is used by an op that takes tensors")
                erase(shape)
