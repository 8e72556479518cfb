"""Canonical forms of one `linalg.generic`: what it reads and starts from, and its body."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, TensorType, i32
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ingot.compiler.analysis.affine_maps import dims_given
from ingot.compiler.analysis.generics import Emitter, empty, fill
from ingot.compiler.analysis.structured import indexing_maps, is_parallel, loop_extents, shape_of
from ingot.compiler.analysis.subexpressions import eliminate_subexpressions
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import FillOp, GenericOp, YieldOp


def set_operands(
    op: GenericOp,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
) -> None:
    """Change what `op` reads and starts from, in place; the block arguments are the caller's."""
    op.operands = [*inputs, *outputs]
    sizes = DenseArrayBase.from_list(i32, [len(inputs), len(outputs)])
    op.properties["operandSegmentSizes"] = sizes
    op.properties["indexing_maps"] = ArrayAttr([AffineMapAttr(m) for m in maps])


def drop_inputs(op: GenericOp, positions: set[int]) -> None:
    """Remove inputs whose block arguments are unused, in place.

    A loop whose extent no other operand gives keeps it through an input that is only a shape
    (`tensor.empty`), as poolings have it.
    """
    block = op.body.block
    maps = indexing_maps(op)
    extents = loop_extents(op)
    kept = [i for i in range(len(op.operands)) if i not in positions]
    missing = sorted(dims_given(maps) - dims_given(maps[i] for i in kept))
    element = tensor_type(op.operands[0]).element_type
    for position in sorted(positions, reverse=True):
        block.erase_arg(block.args[position])
    inputs = [op.operands[i] for i in kept if i < len(op.inputs)]
    new_maps = [maps[i] for i in kept]
    outputs = list(op.outputs)
    if missing:
        shape = TensorType(element, [extents[d] for d in missing])
        block.insert_arg(element, len(inputs))
        new_maps.insert(
            len(inputs), AffineMap(len(extents), 0, tuple(AffineDimExpr(d) for d in missing))
        )
        inputs.append(empty(Emitter.before(op), shape))
    set_operands(op, inputs, outputs, new_maps)


class CaptureScalarInputs(RewritePattern):
    """Use a scalar input in the body as it is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        scalars = [i for i, v in enumerate(op.inputs) if not isinstance(v.type, TensorType)]
        if not scalars:
            return
        block = op.body.block
        inputs, maps = list(op.inputs), indexing_maps(op)
        for position in reversed(scalars):
            block.args[position].replace_all_uses_with(inputs[position])
            block.erase_arg(block.args[position])
            del inputs[position], maps[position]
        set_operands(op, inputs, list(op.outputs), maps)
        rewriter.notify_op_modified(op)


class ShareBodyOps(RewritePattern):
    """Compute equal ops of the body once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        def note(erased: Operation) -> None:
            rewriter.has_done_action = True
            rewriter.handle_operation_removal(erased)

        block = op.body.block
        if block.first_op is not block.last_op:
            eliminate_subexpressions(op.body, note)


class FillInputToScalar(RewritePattern):
    """Read the scalar of a filled input instead of the tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        for argument, operand in zip(op.body.block.args, op.inputs, strict=False):
            if isinstance(operand.owner, FillOp) and argument.uses:
                argument.replace_all_uses_with(operand.owner.inputs[0])
                rewriter.notify_op_modified(op)


class DropUnusedInputs(RewritePattern):
    """Drop inputs that the body does not use, unless they alone give a loop its extent."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        maps = indexing_maps(op)
        unused: set[int] = set()
        for i, operand in enumerate(op.inputs):
            if op.body.block.args[i].uses:
                continue
            others = [m for j, m in enumerate(maps) if j != i and j not in unused]
            only_shape = isinstance(operand.owner, tensor.EmptyOp)
            if not only_shape or dims_given([maps[i]]) <= dims_given(others):
                unused.add(i)
        if unused:
            drop_inputs(op, unused)
            rewriter.notify_op_modified(op)


class ShareEqualInputs(RewritePattern):
    """Read a tensor once when two inputs read the same elements of it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if share_equal_inputs(op):
            rewriter.notify_op_modified(op)


def share_equal_inputs(op: GenericOp) -> bool:
    """Let inputs that read the same elements share one block argument, in place."""
    first: dict[tuple[SSAValue, AffineMap], int] = {}
    shared: set[int] = set()
    args = op.body.block.args
    for i, (operand, map_) in enumerate(zip(op.inputs, indexing_maps(op), strict=False)):
        known = first.setdefault((operand, map_), i)
        if known != i and (args[i].uses or not isinstance(operand.owner, tensor.EmptyOp)):
            args[i].replace_all_uses_with(args[known])
            shared.add(i)
    if shared:
        drop_inputs(op, shared)
    return bool(shared)


class DropUnreadInits(RewritePattern):
    """Start from `tensor.empty` where the body does not read what was there."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        count = len(op.inputs)
        for i, init in enumerate(op.outputs):
            if op.body.block.args[count + i].uses or isinstance(init.owner, tensor.EmptyOp):
                continue
            op.operands[count + i] = empty(Emitter(rewriter, op.location), tensor_type(init))
            rewriter.notify_op_modified(op)


class ElementwiseInitToInput(RewritePattern):
    """Without a reduction, what the body reads of its output is one more input."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if not all(is_parallel(op)):
            return
        block = op.body.block
        for i, init in enumerate(op.outputs):
            count = len(op.inputs)
            argument = block.args[count + i]
            if not argument.uses:
                continue
            maps = indexing_maps(op)
            new = block.insert_arg(argument.type, count)
            argument.replace_all_uses_with(new)
            outputs = list(op.outputs)
            outputs[i] = empty(Emitter(rewriter, op.location), tensor_type(init))
            moved = [*maps[:count], maps[count + i], *maps[count:]]
            set_operands(op, [*op.inputs, init], outputs, moved)
            rewriter.notify_op_modified(op)


class FoldIdentity(RewritePattern):
    """A generic that only copies its input in place, or yields one constant, is not needed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        block = op.body.block
        if not all(is_parallel(op)) or len(op.results) != 1:
            return
        if not _is_permutation(indexing_maps(op)[-1]):
            return
        terminator = block.last_op
        assert isinstance(terminator, YieldOp)
        value = terminator.operands[0]
        maps = indexing_maps(op)
        if isinstance(value, BlockArgument) and value.block is block:
            if value.index >= len(op.inputs):
                return
            source = op.inputs[value.index]
            if source.type == op.result_types[0] and maps[value.index] == maps[-1]:
                rewriter.replace(op, [], [source])
            return
        constant = value.owner
        if not isinstance(constant, Operation):
            return
        if constant.parent_block() is block:
            if not isinstance(constant, arith.ConstantOp):
                return
            copy = constant.clone()
            rewriter.insert(copy)
            value = copy.result
        filled = fill(Emitter(rewriter, op.location), value, tensor_type(op.results[0]))
        rewriter.replace(op, [], [filled])


def _is_permutation(map_: AffineMap) -> bool:
    return len(dims_given([map_])) == len(map_.results) == map_.num_dims


class FoldEmptyLoops(RewritePattern):
    """A reduction over nothing is its init; a result without elements needs no computation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        extents = loop_extents(op)
        if prod(extents) != 0:
            return
        emit = Emitter(rewriter, op.location)
        results = [
            empty(emit, tensor_type(result)) if prod(shape_of(result)) == 0 else init
            for init, result in zip(op.outputs, op.results, strict=True)
        ]
        rewriter.replace(op, [], results)


GENERIC_PATTERNS: tuple[RewritePattern, ...] = (
    CaptureScalarInputs(),
    FoldEmptyLoops(),
    ElementwiseInitToInput(),
    DropUnreadInits(),
    FillInputToScalar(),
    ShareBodyOps(),
    ShareEqualInputs(),
    DropUnusedInputs(),
    FoldIdentity(),
)
