"""Recognize attention: products of queries and keys, a softmax of them over the keys, and the sum
of values with its weights. Pure functions on structured ops.

What is recognized is what can be computed key by key (online softmax, Milakov and Gimelshein,
https://arxiv.org/abs/1805.02867; FlashAttention, https://arxiv.org/abs/2205.14135):

    score[q, k]  = sum over d of query[q, d] * key[k, d]
    logit[q, k]  = any elementwise function of the score (scale, mask, bias)
    weight[q, k] = exp(logit - reference(max over k of logit)), times or divided by row values
    result[q, v] = sum over k of weight[q, k] * value[k, v]

where row values are functions of reductions over the keys of one query: the sum of the
exponentials, or of anything that does not depend on the maximum.

Two matrix products in a row have the same form without the softmax: weight[q, k] is any elementwise
function of score[q, k].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.cost import body_cost
from ingot.compiler.analysis.expressions import (
    Apply,
    Expressions,
    Index,
    Leaf,
    Origin,
    Scalar,
    float_constant,
    plain_index,
)
from ingot.compiler.analysis.structured import (
    Combiner,
    Contraction,
    element_type,
    indexing_maps,
    is_parallel,
    loop_extents,
    match_combiner,
    match_contraction,
    reduction_loops,
    users_of,
)
from ingot.compiler.dialects.linalg import GenericOp

CHEAP = 8
"""Cost of an elementwise op (see `cost.py`) up to which it is computed where it is read."""


@dataclass(frozen=True)
class Step:
    """What is done to a weight, which is also done to the sum of weighted values."""

    kind: Literal["div", "mul", "zero_where", "zero_unless"]
    row: Origin
    """The divisor, factor or condition: a value of one query."""


@dataclass(frozen=True)
class RowReduction:
    """A reduction over the keys of one query."""

    op: GenericOp
    combiner: Combiner
    exponentials: bool
    """It sums the exponentials; else what it combines does not depend on the maximum."""
    loops: tuple[int, ...]
    """For each loop of `op` that of the product."""


@dataclass(frozen=True)
class Attention:
    """Attention, as the ops that compute it. Loops are those of `product`."""

    scores: GenericOp
    query: int
    """Which input of `scores` holds the queries; the other one holds the keys."""
    score_loops: tuple[int | None, ...]
    """For each loop of `scores` that of `product`; None for the loop over a head's elements."""
    maximum: RowReduction | None
    """None where weights are a function of their score alone; then there are no sums and steps."""
    reference: Origin | None
    """What is subtracted from logits; None when it is the maximum itself."""
    base: str
    """`math.exp` or `math.exp2`."""
    sums: tuple[RowReduction, ...]
    """The other reductions of rows."""
    steps: tuple[Step, ...]
    """From the exponential outwards."""
    product: GenericOp
    weights: int
    """Which input of `product` holds the weights; the other one holds the values."""
    batch_loops: tuple[int, ...]
    """Loops of `product` over queries that have keys of their own."""
    row_loops: tuple[int, ...]
    """Loops of `product` over queries that share keys."""
    value_loop: int
    key_loop: int
    members: tuple[GenericOp, ...]
    """Every op, in program order."""

    @property
    def exponential(self) -> Operation:
        """The op that takes the exponentials; where there are several, one that sums or uses them.

        For where in the source the weights come from.
        """
        found = [op for member in self.members for op in member.body.walk() if op.name == self.base]
        if len(found) == 1:
            return found[0]
        return next((r.op for r in self.sums if r.exponentials), self.product)

    @property
    def row_loop(self) -> int:
        """The loop over queries that threads share out."""
        extents = loop_extents(self.product)
        return next((i for i in reversed(self.row_loops) if extents[i] != 1), self.row_loops[-1])

    @property
    def work(self) -> int:
        """Multiplications and additions of both products."""
        extents = loop_extents(self.product)
        head = loop_extents(self.scores)[self.score_loops.index(None)]
        rows = prod(extents[i] for i in (*self.batch_loops, *self.row_loops))
        return 2 * rows * extents[self.key_loop] * (head + extents[self.value_loop])

    @property
    def values(self) -> SSAValue:
        """The values, as `product` reads them."""
        return self.product.inputs[1 - self.weights]


def match_attention(product: GenericOp, *, softmax: bool = True) -> Attention | None:
    """The attention that ends in the contraction `product`; its other ops have no other users.

    Without `softmax`, two products in a row.
    """
    contraction = match_contraction(product)
    if contraction is None or len(contraction.k) != 1 or not is_float_sum(product):
        return None
    for weights in (0, 1):
        rows, columns = (contraction.m, contraction.n)[:: 1 if weights == 0 else -1]
        if len(columns) == 1 and rows:
            matcher = _Matcher(product, weights, contraction, rows, columns[0])
            found = matcher.match() if softmax else matcher.match_products()
            if found is not None:
                return found
    return None


def is_float_sum(op: GenericOp) -> bool:
    """Whether all operands are floats of at most 32 bits."""
    return all(
        isinstance(element_type(v), Float32Type | Float16Type | BFloat16Type) for v in op.operands
    )


class _Matcher:
    def __init__(
        self,
        product: GenericOp,
        weights: int,
        contraction: Contraction,
        rows: tuple[int, ...],
        column: int,
    ) -> None:
        self.product = product
        self.weights = weights
        self.batch = contraction.batch
        self.rows = (*contraction.batch, *rows)
        self.column = column
        (self.key,) = contraction.k
        self.expressions = Expressions(len(product.iterator_types.data))

    def match_products(self) -> Attention | None:
        """Two products in a row."""
        weight = self._weight()
        scores = None if weight is None else self._scores(weight)
        return None if scores is None else self._attention(scores)

    def match(self) -> Attention | None:
        """An attention with a softmax."""
        expressions = self.expressions
        weight = self._weight()
        stripped = None if weight is None else self._strip(weight)
        if stripped is None:
            return None
        steps, exponential = stripped
        difference = expressions.apply(exponential, "math.exp", "math.exp2")
        operands = difference and expressions.apply(difference[0], "arith.subf")
        if operands is None:
            return None
        logit, reference = operands
        row_values = [reference, *(number for _, number in steps)]
        if any(expressions.depends_on(number, self.key) for number in row_values):
            return None
        scores = self._scores(logit)
        reductions = self._reductions(row_values, logit, exponential)
        if scores is None or reductions is None:
            return None
        maximum, sums = reductions
        origins = [expressions.origins.get(number) for _, number in steps]
        if any(origin is None for origin in origins):
            return None
        node = expressions.nodes[exponential]
        assert isinstance(node, Apply)
        return self._attention(
            scores,
            maximum=maximum,
            reference=self._reference(reference, maximum),
            base=node.name,
            sums=sums,
            steps=tuple(
                Step(kind, o) for (kind, _), o in zip(steps, origins, strict=True) if o is not None
            )[::-1],
        )

    def _weight(self) -> int | None:
        index = indexing_maps(self.product)[self.weights].results
        return self.expressions.element(self.product.inputs[self.weights], index)

    def _attention(
        self,
        scores: tuple[GenericOp, int, tuple[int | None, ...]],
        maximum: RowReduction | None = None,
        reference: Origin | None = None,
        base: str = "",
        sums: tuple[RowReduction, ...] = (),
        steps: tuple[Step, ...] = (),
    ) -> Attention | None:
        roots = [scores[0], *(s.op for s in sums)]
        if maximum is not None:
            roots.append(maximum.op)
        members = self._members(roots)
        if members is None:
            return None
        return Attention(
            scores=scores[0],
            query=scores[1],
            score_loops=scores[2],
            maximum=maximum,
            reference=reference,
            base=base,
            sums=sums,
            steps=steps,
            product=self.product,
            weights=self.weights,
            batch_loops=self.batch,
            row_loops=self.rows[len(self.batch) :],
            value_loop=self.column,
            key_loop=self.key,
            members=members,
        )

    def _strip(
        self, number: int
    ) -> tuple[list[tuple[Literal["div", "mul", "zero_where", "zero_unless"], int]], int] | None:
        """The steps from a weight inwards, and the exponential under them."""
        expressions = self.expressions
        steps: list[tuple[Literal["div", "mul", "zero_where", "zero_unless"], int]] = []
        while True:
            number = expressions.without_casts(number)
            if expressions.apply(number, "math.exp", "math.exp2"):
                return steps, number
            if operands := expressions.apply(number, "arith.divf"):
                steps.append(("div", operands[1]))
                number = operands[0]
            elif operands := expressions.apply(number, "arith.mulf"):
                first, second = operands
                if expressions.depends_on(second, self.key):
                    first, second = second, first
                steps.append(("mul", second))
                number = first
            elif operands := expressions.apply(number, "arith.select"):
                condition, lhs, rhs = operands
                if float_constant(expressions.nodes[lhs]) == 0:
                    steps.append(("zero_where", condition))
                    number = rhs
                elif float_constant(expressions.nodes[rhs]) == 0:
                    steps.append(("zero_unless", condition))
                    number = lhs
                else:
                    return None
            else:
                return None

    def _scores(self, logit: int) -> tuple[GenericOp, int, tuple[int | None, ...]] | None:
        """The contraction of queries and keys, its input that holds the queries, and its loops."""
        found = [
            leaf
            for leaf in self.expressions.leaves(logit)
            if isinstance(leaf, Leaf)
            and isinstance(leaf.tensor.owner, GenericOp)
            and self._over_keys(leaf.index)
            and match_contraction(leaf.tensor.owner) is not None
        ]
        if len(found) != 1:
            return None
        op = found[0].tensor.owner
        loops = plain_index(found[0].index)
        assert isinstance(op, GenericOp)
        contraction = match_contraction(op)
        if contraction is None or len(contraction.k) != 1 or not is_float_sum(op):
            return None
        if loops is None or set(loops) != {*self.rows, self.key}:
            return None
        # Loop of the scores -> loop of the product, through the result that one writes and the
        # other reads.
        written = indexing_maps(op)[-1].results
        own = {
            e.position: loop
            for e, loop in zip(written, loops, strict=True)
            if isinstance(e, AffineDimExpr)
        }
        # Rows share their keys: none may depend on a row of its own.
        if not {own.get(loop) for loop in contraction.batch} <= set(self.batch):
            return None
        for query, keys in ((0, contraction.n), (1, contraction.m)):
            if [own.get(loop) for loop in keys] == [self.key]:
                return op, query, tuple(own.get(i) for i in range(len(op.iterator_types.data)))
        return None

    def _over_keys(self, index: Index) -> bool:
        return any(self.key in e.used_dims() for e in index)

    def _reductions(
        self, row_values: Iterable[int], logit: int, exponential: int
    ) -> tuple[RowReduction, tuple[RowReduction, ...]] | None:
        """The maximum, and the other reductions that row values are made of."""
        expressions = self.expressions
        maxima: list[RowReduction] = []
        sums: list[RowReduction] = []
        seen: set[GenericOp] = set()
        for number in row_values:
            for leaf in expressions.leaves(number):
                op = leaf.tensor.owner if isinstance(leaf, Leaf) else None
                if not isinstance(op, GenericOp) or op in seen or not reduction_loops(op):
                    continue
                assert isinstance(leaf, Leaf)
                combined = self._combined(op, leaf.index)
                if combined is None:
                    continue  # a reduction of something else, which is read
                seen.add(op)
                combiner, contribution, loops = combined
                if combiner.name in ("maximumf", "maxnumf") and contribution == logit:
                    maxima.append(RowReduction(op, combiner, False, loops))
                    continue
                summed = expressions.without_casts(contribution) == exponential
                sums.append(RowReduction(op, combiner, combiner.name == "add" and summed, loops))
        if len(maxima) != 1:
            return None
        for reduction in sums:
            if reduction.exponentials:
                continue
            if reduction.combiner.contribution.type not in (f32, i1, i32):
                return None  # threads exchange words
            if self._reads_rows(reduction.op, seen):
                return None
        return maxima[0], tuple(sums)

    def _reads_rows(self, op: GenericOp, reductions: set[GenericOp]) -> bool:
        """Whether what `op` combines depends on one of the reductions of the row."""
        stack: list[SSAValue] = list(op.inputs)
        while stack:
            owner = stack.pop().owner
            if isinstance(owner, GenericOp):
                if owner in reductions:
                    return True
                if all(is_parallel(owner)):
                    stack.extend(owner.operands)
        return False

    def _combined(
        self, op: GenericOp, index: Index
    ) -> tuple[Combiner, int, tuple[int, ...]] | None:
        """The combiner of a reduction over the keys of the query at `index`, what it combines, and
        for each of its loops that of the product."""
        combiner = match_combiner(op)
        loops = reduction_loops(op)
        at = plain_index(index)
        written = plain_index(indexing_maps(op)[-1].results)
        if combiner is None or len(loops) != 1 or at is None or written is None:
            return None
        if set(at) != set(self.rows):
            return None
        own = [self.key] * len(op.iterator_types.data)
        for loop, dim in zip(written, at, strict=True):
            own[loop] = dim
        dims = tuple(AffineDimExpr(dim) for dim in own)
        contribution = self.expressions.of(op, combiner.contribution, dims)
        if contribution is None or not self.expressions.depends_on(contribution, self.key):
            return None
        return combiner, contribution, tuple(own)

    def _reference(self, number: int, maximum: RowReduction) -> Origin | None:
        """None when `number` is the maximum, perhaps compared once more with minus infinity."""
        expressions = self.expressions
        current = expressions.without_casts(number)
        if operands := expressions.apply(current, "arith.maximumf", "arith.maxnumf"):
            constants = [float_constant(expressions.nodes[i]) for i in operands]
            if float("-inf") in constants:
                current = operands[1 - constants.index(float("-inf"))]
        node = expressions.nodes[current]
        if isinstance(node, Leaf) and node.tensor.owner is maximum.op:
            return None
        return expressions.origins[number]

    def _members(self, roots: list[GenericOp]) -> tuple[GenericOp, ...] | None:
        """The ops of the attention, with what is computed on the way; None when one of those that
        depend on the scores is needed elsewhere, too."""
        members = {*roots, self.product, *self.expressions.producers}
        for op in list(members):
            for operand in op.operands:
                self._add_cheap(operand, members)
        dependent = self._dependent(roots[0], members)
        changed = True
        while changed:
            changed = False
            for op in list(members):
                if op is self.product or users_of(op) <= members:
                    continue
                if op in dependent:
                    return None
                members.discard(op)
                changed = True
        for leaf in (n for n in self.expressions.nodes if isinstance(n, Scalar)):
            if isinstance(leaf.value.type, TensorType) and leaf.value.owner in dependent:
                return None
        block = self.product.parent_block()
        assert block is not None
        ordered = [op for op in block.ops if isinstance(op, GenericOp) and op in members]
        return tuple(ordered) if len(ordered) == len(members) else None

    def _add_cheap(self, value: SSAValue, members: set[GenericOp]) -> None:
        """Add the elementwise ops that make `value` at little cost."""
        owner = value.owner
        if not isinstance(owner, GenericOp) or owner in members or not all(is_parallel(owner)):
            return
        if body_cost(owner) <= CHEAP:
            members.add(owner)
            for operand in owner.operands:
                self._add_cheap(operand, members)

    def _dependent(self, scores: GenericOp, members: set[GenericOp]) -> set[Operation]:
        """The members that the scores reach."""
        reached: set[Operation] = {scores}
        block = scores.parent_block()
        assert block is not None
        for op in block.ops:
            if op in members and any(v.owner in reached for v in op.operands):
                reached.add(op)
        return reached
