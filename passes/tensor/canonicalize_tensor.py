"""Fold what needs no computation: constants, reshapes, casts, copies, dead ops."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ingot.compiler.analysis.constants import is_repeated
from ingot.compiler.analysis.generics import (
    Emitter,
    empty,
    fill,
    reshape,
    reshape_steps,
)
from ingot.compiler.analysis.reshapes import reassociation
from ingot.compiler.analysis.rewriting import ClassRewriter, ClassRules
from ingot.compiler.analysis.scalar_folding import FOLDED, fold, int_of
from ingot.compiler.analysis.sizes import is_dynamic, is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.expand_shape import ExpandShapeOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp

from .generic_patterns import GENERIC_PATTERNS
from .index_patterns import INDEX_PATTERNS, FoldDelinearized, FoldNestedQuotients

Reshape = tensor.CollapseShapeOp | tensor.ExpandShapeOp


class FoldScalars(RewritePattern):
    """Compute scalar arith ops of constants."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        folded = fold(op)
        if isinstance(folded, SSAValue):
            rewriter.replace(op, [], [folded])
        elif folded is not None:
            constant = Emitter(rewriter, op.location).add(arith.ConstantOp(folded))
            rewriter.replace(op, [], [constant.result])


class FoldReshape(RewritePattern):
    """Merge chains of reshapes; reshape what a tensor is made of instead of the tensor."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, Reshape):
            return
        emit = Emitter(rewriter, op.location)
        source, shape = op.src, shape_of(op.result)
        owner = source.owner
        if shape_of(source) == shape:
            rewriter.replace(op, [], [source])
        elif isinstance(owner, tensor.EmptyOp):
            rewriter.replace(op, [], [empty(emit, tensor_type(op.result))])
        elif isinstance(owner, FillOp):
            rewriter.replace(op, [], [fill(emit, owner.inputs[0], tensor_type(op.result))])
        elif isinstance(owner, arith.ConstantOp):
            constant = emit.add(_retyped(owner, tensor_type(op.result)))
            rewriter.replace(op, [], [constant.result])
        elif isinstance(owner, Reshape):
            already_short = isinstance(owner, tensor.CollapseShapeOp) and isinstance(
                op, tensor.ExpandShapeOp
            )
            if reshape_steps(shape_of(owner.src), shape) < 2 or not already_short:
                rewriter.replace(op, [], [reshape(emit, owner.src, shape)])


def _retyped(constant: arith.ConstantOp, type_: TensorType[Attribute]) -> arith.ConstantOp:
    """The same data under another shape."""
    value = constant.value
    if isinstance(value, DenseResourceAttr):
        return arith.ConstantOp(DenseResourceAttr(value.resource_handle, type_))
    assert isinstance(value, DenseIntOrFPElementsAttr)
    return arith.ConstantOp(DenseIntOrFPElementsAttr(type_, value.data))  # pyright: ignore


class FoldCast(RewritePattern):
    """A cast to the type that the source has changes nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.CastOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.dest.type:
            rewriter.replace(op, [], [op.source])


class FoldDim(RewritePattern):
    """The size of a static dimension is a constant; others are those that a tensor is made with."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.DimOp, rewriter: PatternRewriter) -> None:
        dim = int_of(op.index)
        shape = shape_of(op.source)
        if dim is None or not 0 <= dim < len(shape):
            return
        owner = op.source.owner
        if shape[dim] >= 0:
            size = IntegerAttr(shape[dim], IndexType())
            rewriter.replace(op, arith.ConstantOp(size))
        elif isinstance(owner, tensor.EmptyOp):
            number = sum(size < 0 for size in shape[:dim])
            rewriter.replace(op, [], [owner.dynamic_sizes[number]])
        elif isinstance(owner, GenericOp | FillOp):
            number = [r is op.source for r in owner.results].index(True)
            rewriter.replace(op, tensor.DimOp(owner.outputs[number], op.index))
        elif isinstance(owner, tensor.CastOp):
            rewriter.replace(op, tensor.DimOp(owner.source, op.index))


class SplatConstantToFill(RewritePattern):
    """A constant tensor of one value is a fill, which a kernel makes by itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter) -> None:
        value = op.value
        if isinstance(value, DenseIntOrFPElementsAttr) and isinstance(op.result.type, TensorType):
            scalar_attr = _splat_value(value)
            if scalar_attr is None:
                return
            emit = Emitter(rewriter, op.location)
            scalar = emit.add(arith.ConstantOp(scalar_attr))
            rewriter.replace(op, [], [fill(emit, scalar.result, tensor_type(op.result))])


def _splat_value(
    value: DenseIntOrFPElementsAttr,
) -> IntegerAttr | FloatAttr | None:
    """The one element that all elements equal; compares bytes, since constants may be large."""
    data = value.data.data
    count = prod(value.get_shape())
    if count == 0:
        return None
    width = len(data) // count
    if not is_repeated(data, width):
        return None
    return next(iter(value.iter_attrs()))


class FillFromEmpty(RewritePattern):
    """A fill overwrites all that was there."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FillOp, rewriter: PatternRewriter) -> None:
        init = op.outputs[0]
        if not isinstance(init.owner, tensor.EmptyOp):
            op.operands[1] = empty(Emitter(rewriter, op.location), tensor_type(init))
            rewriter.notify_op_modified(op)


class FoldExtract(RewritePattern):
    """An element of a filled tensor is the scalar that it was filled with."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.tensor.owner, FillOp):
            rewriter.replace(op, [], [op.tensor.owner.inputs[0]])


class ExtractThroughReshape(RewritePattern):
    """Read an element of a reshaped tensor from its source, where that takes no division."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractOp, rewriter: PatternRewriter) -> None:
        reshaped = op.tensor.owner
        if is_dynamic(op.tensor):
            return
        emit = Emitter(rewriter, op.location)
        if isinstance(reshaped, tensor.ExpandShapeOp):
            indices = self._linear(op, reshaped, emit)
        elif isinstance(reshaped, tensor.CollapseShapeOp):
            indices = self._with_unit_dims(op, reshaped, emit)
        else:
            return
        if indices is not None:
            element = tensor.ExtractOp(reshaped.src, indices, op.result.type)
            rewriter.replace(op, [], [emit.add(element).result])

    @staticmethod
    def _linear(
        op: tensor.ExtractOp, reshaped: tensor.ExpandShapeOp, emit: Emitter
    ) -> list[SSAValue] | None:
        shape = shape_of(op.tensor)
        groups = reassociation(shape, shape_of(reshaped.src))
        if groups is None:
            return None
        indices: list[SSAValue] = []
        for group in groups:
            varying = [dim for dim in group if shape[dim] != 1]
            index = op.indices[varying[0]] if varying else emit.index(0)
            for dim in varying[1:]:
                scaled = emit.add(arith.MuliOp(index, emit.index(shape[dim]))).result
                index = emit.add(arith.AddiOp(scaled, op.indices[dim])).result
            indices.append(index)
        return indices

    @staticmethod
    def _with_unit_dims(
        op: tensor.ExtractOp, reshaped: tensor.CollapseShapeOp, emit: Emitter
    ) -> list[SSAValue] | None:
        source = shape_of(reshaped.src)
        groups = reassociation(source, shape_of(op.tensor))
        if groups is None or any(sum(source[d] != 1 for d in g) > 1 for g in groups):
            return None
        index_of = {d: op.indices[i] for i, g in enumerate(groups) for d in g if source[d] != 1}
        return [index_of[d] if d in index_of else emit.index(0) for d in range(len(source))]


_RESHAPE = (FoldReshape(),)

PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = {
    GenericOp: (*GENERIC_PATTERNS, *INDEX_PATTERNS),
    FillOp: (FillFromEmpty(),),
    arith.ConstantOp: (SplatConstantToFill(),),
    arith.AddiOp: (FoldScalars(), FoldDelinearized()),
    arith.DivUIOp: (FoldScalars(), FoldNestedQuotients()),
    tensor.CollapseShapeOp: _RESHAPE,
    tensor.ExpandShapeOp: _RESHAPE,
    ExpandShapeOp: _RESHAPE,
    tensor.CastOp: (FoldCast(),),
    tensor.DimOp: (FoldDim(),),
    tensor.ExtractOp: (FoldExtract(), ExtractThroughReshape()),
}
"""What may rewrite an op, by its class; every other op may fold as a scalar."""

_SHAPED = (GenericOp, FillOp, tensor.CollapseShapeOp, tensor.ExpandShapeOp, ExpandShapeOp)
"""Ops whose patterns make tensors of the shapes that types have: not for sizes of a call."""


def _rules(op_type: type[Operation]) -> ClassRules:
    """The patterns of a class of ops."""
    if op_type in PATTERNS:
        applies = _has_static_shapes if issubclass(op_type, _SHAPED) else None
        return ClassRules(patterns=PATTERNS[op_type], applies=applies)
    return ClassRules(patterns=(FoldScalars(),) if issubclass(op_type, FOLDED) else ())


def _has_static_shapes(op: Operation) -> bool:
    return not is_sized(op)


@dataclass(frozen=True)
class CanonicalizeTensorPass(ModulePass):
    """Bring ops on tensors into one form each, and fold those that compute nothing (L1 to L1).

        %e = tensor.expand_shape %x ... : tensor<4xf32> into tensor<4x1xf32>
        %c = tensor.collapse_shape %e ... : tensor<4x1xf32> into tensor<4xf32>
        %f = linalg.fill ...; linalg.generic ins(%c, %f) { add }
    becomes
        linalg.generic ins(%x) { add %in, %scalar }
    """

    name = "canonicalize-tensor"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite until nothing changes."""
        ClassRewriter(_rules).rewrite(op.body)
