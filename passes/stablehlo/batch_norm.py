"""Batch normalization: inference, training and gradient (StableHLO spec, "batch_norm_*")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import FloatAttr, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.generics import Emitter, elementwise, fill, make_generic
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.scalar import Scalar, constant

Compute = Callable[[Sequence[Scalar]], Scalar]


@dataclass(frozen=True)
class _Norm:
    """The tensor's type, its feature dimension, and generics over both kinds of tensors."""

    emit: Emitter
    type: TensorType[Attribute]
    feature: int
    epsilon: float

    @classmethod
    def of(cls, low: Lowering, op: StableHLOOp) -> _Norm:
        epsilon = op.properties.get("epsilon")
        value = epsilon.value.data if isinstance(epsilon, FloatAttr) else 0.0
        type_ = tensor_type(low.value(op.ins[0]))
        return cls(low.emit, type_, op.int("feature_index"), value)

    @property
    def rank(self) -> int:
        return self.type.get_num_dims()

    @property
    def features(self) -> TensorType[Attribute]:
        """The type of a value for each feature."""
        return TensorType(self.type.element_type, [self.type.get_shape()[self.feature]])

    @property
    def count(self) -> float:
        """How many elements a feature has."""
        shape = self.type.get_shape()
        return float(prod(shape) // max(shape[self.feature], 1))

    def _maps(self, inputs: Sequence[SSAValue]) -> list[AffineMap]:
        whole = AffineMap.identity(self.rank)
        feature = AffineMap(self.rank, 0, (AffineExpr.dimension(self.feature),))
        return [whole if tensor_type(v).get_num_dims() == self.rank else feature for v in inputs]

    def each(self, inputs: Sequence[SSAValue], compute: Compute) -> SSAValue:
        """A function of every element; inputs for each feature are repeated."""
        # With one dimension, which is the feature's, both kinds are read alike.
        return elementwise(
            self.emit,
            self.type,
            inputs,
            self._maps(inputs),
            lambda e, args: [_run(compute, e, args)],
        )

    def per_feature(self, inputs: Sequence[SSAValue], compute: Compute) -> SSAValue:
        """A function of values for each feature."""
        maps = [AffineMap.identity(1)] * len(inputs)
        return elementwise(
            self.emit, self.features, inputs, maps, lambda e, args: [_run(compute, e, args)]
        )

    def total(self, inputs: Sequence[SSAValue], compute: Compute) -> SSAValue:
        """The sum of a function over the elements of each feature."""
        element = self.type.element_type
        zero = self.emit.add(arith.ConstantOp(constant(0, element))).result
        block = Block(arg_types=[element] * (len(inputs) + 1))
        inner = Emitter.at_end(block, self.emit.location)
        value = _run(compute, inner, block.args[:-1])
        inner.add(YieldOp(inner.add(arith.AddfOp(block.args[-1], value)).result))
        iterators = [
            IteratorTypeAttr.parallel() if dim == self.feature else IteratorTypeAttr.reduction()
            for dim in range(self.rank)
        ]
        output = AffineMap(self.rank, 0, (AffineExpr.dimension(self.feature),))
        return make_generic(
            self.emit,
            inputs,
            [fill(self.emit, zero, self.features)],
            [*self._maps(inputs), output],
            iterators,
            Region(block),
        ).results[0]


def _run(compute: Compute, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    return compute([Scalar(emit, arg) for arg in args]).ssa


def _normalize(norm: _Norm, values: Sequence[SSAValue]) -> SSAValue:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""

    def compute(args: Sequence[Scalar]) -> Scalar:
        x, scale, offset, mean, variance = args
        deviation = (variance + norm.epsilon).call("math.sqrt")
        return (x - mean) / deviation * scale + offset

    return norm.each(values, compute)


def lower_inference(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """By a mean and a variance that are given."""
    return [_normalize(_Norm.of(low, op), low.operands(op))]


def lower_training(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """By the mean and the variance of the batch, which are results too."""
    norm = _Norm.of(low, op)
    x, scale, offset = low.operands(op)
    mean = norm.per_feature([norm.total([x], lambda a: a[0])], lambda a: a[0] / norm.count)
    squares = norm.total([x, mean], lambda a: (a[0] - a[1]) * (a[0] - a[1]))
    variance = norm.per_feature([squares], lambda a: a[0] / norm.count)
    return [_normalize(norm, [x, scale, offset, mean, variance]), mean, variance]


def lower_grad(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The gradients with respect to operand, scale and offset."""
    norm = _Norm.of(low, op)
    x, scale, mean, variance, grad = low.operands(op)
    count, epsilon = norm.count, norm.epsilon
    grad_offset = norm.total([grad], lambda a: a[0])
    with_centered = norm.total([grad, x, mean], lambda a: a[0] * (a[1] - a[2]))
    grad_scale = norm.per_feature(
        [with_centered, variance], lambda a: a[0] / (a[1] + epsilon).call("math.sqrt")
    )

    def operand(args: Sequence[Scalar]) -> Scalar:
        element, center, spread, gain, out, total, product = args
        shifted = spread + epsilon
        sum_ = out * count - total - product * (element - center) / shifted
        return gain / shifted.call("math.sqrt") / count * sum_

    values = [x, mean, variance, scale, grad, grad_offset, with_centered]
    return [norm.each(values, operand), grad_scale, grad_offset]


LOWERINGS: dict[str, Lower] = {
    "stablehlo.batch_norm_inference": lower_inference,
    "stablehlo.batch_norm_training": lower_training,
    "stablehlo.batch_norm_grad": lower_grad,
}
