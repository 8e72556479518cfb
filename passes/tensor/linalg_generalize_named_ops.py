"""Turn linalg's named ops into `linalg.generic`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.types import as_tensor, element_type
from ingot.compiler.dialects.linalg import (
    FillOp,
    GenericOp,
    IteratorTypeAttr,
    MapOp,
    SoftmaxOp,
    YieldOp,
)
from ingot.compiler.dialects.linalg.bodies import Emit

_Body = Callable[[BlockArgument, BlockArgument], list[Operation]]
"""The ops of a body over its first two arguments; the last one is yielded."""


def set_location(op: Operation, like: Operation) -> None:
    """Give `op` and what its regions hold the location of the op that it replaces."""
    op.location = like.location
    for region in op.regions:
        for inner in region.walk():
            inner.location = like.location


class GeneralizeStructuredOp(RewritePattern):
    """A named structured op becomes a generic with its maps, its iterators and its hidden body."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, LinalgStructuredOperation | MapOp) or isinstance(
            op, GenericOp | FillOp
        ):
            return
        maps, iterators = op.get_indexing_maps(), op.get_iterator_types()
        num_operands = len(op.operands)
        inputs, outputs = op.operands[: len(op.inputs)], op.operands[len(op.inputs) :]
        body = op.body.block
        # A `linalg.map` up to LLVM 21 does not take the element of its output.
        for operand in op.operands[len(body.args) : num_operands]:
            body.insert_arg(element_type(operand.type), len(body.args))
        region = op.body
        region.detach_block(body)
        generic = GenericOp(
            inputs, outputs, Region(body), maps, iterators, [r.type for r in op.results]
        )
        set_location(generic, op)
        rewriter.replace(op, generic)


class CastFilledValue(RewritePattern):
    """A fill whose value has another type than the elements gets a cast of the value before it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FillOp, rewriter: PatternRewriter) -> None:
        value, to = op.inputs[0], element_type(op.outputs[0].type)
        if value.type == to:
            return
        casts = Block()
        converted = Emit(casts).cast(value, to)
        new_ops = list(casts.ops)
        for new_op in new_ops:
            new_op.detach()
            new_op.location = op.location
        fill = FillOp([converted], op.outputs, [r.type for r in op.results])
        set_location(fill, op)
        rewriter.replace(op, [*new_ops, fill])


class DecomposeSoftmax(RewritePattern):
    """Softmax becomes the row maximum, the exponentials, their sum and the quotients."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SoftmaxOp, rewriter: PatternRewriter) -> None:
        type = as_tensor(op.input.type)
        if type is None or not isinstance(type.element_type, AnyFloat):
            raise refuse(op, f"linalg.softmax of {op.input.type} is not supported: use floats")
        decomposition = _Softmax(op, cast("TensorType[AnyFloat]", type))
        rewriter.replace(op, decomposition.ops, [decomposition.result])


class _Softmax:
    """Builds the ops of one softmax in order."""

    def __init__(self, op: SoftmaxOp, type: TensorType[AnyFloat]):
        self.location = op.location
        self.ops: list[Operation] = []
        self.element = type.element_type
        self.rank = len(type.get_shape())
        self.dimension = op.dimension.value.data
        self.row_dims = [dim for dim in range(self.rank) if dim != self.dimension]

        x = op.input
        maximum = self._reduce(x, float("-inf"), arith.MaximumfOp)
        exponentials = self._map(
            x, maximum, op.output, lambda a, b: [s := arith.SubfOp(a, b), math.ExpOp(s.result)]
        )
        total = self._reduce(exponentials, 0.0, arith.AddfOp)
        self.result = self._map(exponentials, total, op.output, lambda a, b: [arith.DivfOp(a, b)])

    def _add(self, op: Operation) -> SSAValue:
        op.location = self.location
        for region in op.regions:
            for inner in region.walk():
                inner.location = self.location
        self.ops.append(op)
        return op.results[0]

    def _reduce(
        self, x: SSAValue, init: float, combine: type[arith.MaximumfOp] | type[arith.AddfOp]
    ) -> SSAValue:
        shape = cast("TensorType[Attribute]", x.type).get_shape()
        sizes: list[SSAValue] = []
        for dim in self.row_dims:
            if shape[dim] < 0:
                index = self._add(arith.ConstantOp(IntegerAttr(dim, IndexType())))
                sizes.append(self._add(tensor.DimOp(x, index)))
        row_type = TensorType(self.element, [shape[dim] for dim in self.row_dims])
        empty = self._add(tensor.EmptyOp(sizes, row_type))
        value = self._add(arith.ConstantOp(FloatAttr(init, self.element)))
        filled = self._add(FillOp([value], [empty]))
        iterators = [
            IteratorTypeAttr.reduction() if dim == self.dimension else IteratorTypeAttr.parallel()
            for dim in range(self.rank)
        ]
        maps = [AffineMap.identity(self.rank), self._row_map()]
        return self._generic([x], filled, maps, iterators, lambda a, acc: [combine(acc, a)])

    def _map(self, x: SSAValue, row: SSAValue, output: SSAValue, body: _Body) -> SSAValue:
        identity = AffineMap.identity(self.rank)
        iterators = [IteratorTypeAttr.parallel()] * self.rank
        return self._generic(
            [x, row], output, [identity, self._row_map(), identity], iterators, body
        )

    def _row_map(self) -> AffineMap:
        return AffineMap(self.rank, 0, tuple(AffineExpr.dimension(dim) for dim in self.row_dims))

    def _generic(
        self,
        inputs: list[SSAValue],
        output: SSAValue,
        maps: list[AffineMap],
        iterators: list[IteratorTypeAttr],
        body: _Body,
    ) -> SSAValue:
        block = Block(arg_types=[self.element] * len(maps))
        block.add_ops(ops := body(block.args[0], block.args[1]))
        block.add_op(YieldOp(ops[-1].results[0]))
        attrs = [AffineMapAttr(map) for map in maps]
        return self._add(
            GenericOp(inputs, [output], Region(block), attrs, iterators, [output.type])
        )


@dataclass(frozen=True)
class LinalgGeneralizeNamedOps(ModulePass):
    """Named linalg ops become `linalg.generic`; fills stay, with a value of the element type.

    Expects and leaves L1 (and the linalg that front ends produce).

    ```mlir
    %c = linalg.matmul ins(%a, %b : ...) outs(%init : ...) -> tensor<4x8xf32>
    // becomes
    %c = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (k, n), ...]} ...
    ```
    """

    name = "linalg-generalize-named-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(
            GreedyRewritePatternApplier(
                [GeneralizeStructuredOp(), CastFilledValue(), DecomposeSoftmax()]
            ),
            apply_recursively=False,
        ).rewrite_module(op)
