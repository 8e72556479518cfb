"""What elements of tensors are computed from, as expressions that can be compared.

Elementwise ops are looked through, whichever op a computation sits in: `x * 2` is one expression
whether an op of its own or its reader computes it. Pure functions on IR.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ingot.compiler.analysis.affine_maps import permutation_of, simplify
from ingot.compiler.analysis.structured import indexing_maps, is_parallel
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, YieldOp

Index = tuple[AffineExpr, ...]


@dataclass(frozen=True)
class Leaf:
    """The element at `index` of a tensor that no elementwise op makes."""

    tensor: SSAValue
    index: Index


@dataclass(frozen=True)
class Position:
    """The value of an affine expression of the loops."""

    expr: AffineExpr


@dataclass(frozen=True)
class Number:
    """A scalar constant."""

    value: IntegerAttr | FloatAttr


@dataclass(frozen=True)
class Scalar:
    """A scalar, or a tensor read by computed indices, that comes from above."""

    value: SSAValue


@dataclass(frozen=True)
class Apply:
    """An op on other expressions, by their numbers."""

    name: str
    properties: Hashable
    types: tuple[Attribute, ...]
    operands: tuple[int, ...]


Node = Leaf | Position | Number | Scalar | Apply


@dataclass(frozen=True)
class Origin:
    """Where an expression is computed: `value` in the body of `op`, whose loop i is `loops[i]`."""

    op: GenericOp
    value: SSAValue
    loops: Index


@dataclass
class Expressions:
    """Numbers expressions, equal ones alike. All affine expressions are over `num_dims` loops."""

    num_dims: int
    nodes: list[Node] = field(default_factory=list[Node])
    origins: dict[int, Origin] = field(default_factory=dict[int, Origin])
    """Where an expression was met first, for those that some body holds."""
    producers: dict[GenericOp, None] = field(default_factory=dict[GenericOp, None])
    """The elementwise ops that were looked through."""
    _numbers: dict[Node, int] = field(default_factory=dict[Node, int])
    _known: dict[tuple[SSAValue, Index], int | None] = field(
        default_factory=dict[tuple[SSAValue, Index], "int | None"]
    )

    def element(self, tensor: SSAValue, index: Index) -> int | None:
        """The element of a tensor; None where an op on the way has no plain form (regions)."""
        owner = tensor.owner
        if isinstance(owner, FillOp):
            return self._outside(owner.inputs[0])
        if isinstance(owner, GenericOp) and all(is_parallel(owner)):
            number = next(i for i, result in enumerate(owner.results) if result is tensor)
            written = permutation_of(indexing_maps(owner)[len(owner.inputs) + number])
            if written is not None and len(written) == len(owner.iterator_types.data):
                self.producers[owner] = None
                loops = tuple(index[written.index(loop)] for loop in range(len(written)))
                terminator = owner.body.block.last_op
                assert isinstance(terminator, YieldOp)
                return self.of(owner, terminator.operands[number], loops)
        return self._number(Leaf(tensor, index))

    def of(self, op: GenericOp, value: SSAValue, loops: Index) -> int | None:
        """A value of the body of `op`, or one from above, where loop i of `op` is `loops[i]`."""
        key = (value, loops)
        if key not in self._known:
            self._known[key] = self._make(op, value, loops)
        found = self._known[key]
        if found is not None:
            self.origins.setdefault(found, Origin(op, value, loops))
        return found

    def _make(self, op: GenericOp, value: SSAValue, loops: Index) -> int | None:
        block = op.body.block
        if isinstance(value, BlockArgument):
            if value.block is not block:
                return self._outside(value)
            map_ = indexing_maps(op)[value.index]
            index = tuple(
                simplify(e.replace_dims_and_symbols(loops, ()), self.num_dims) for e in map_.results
            )
            return self.element(op.operands[value.index], index)
        owner = value.owner
        assert isinstance(owner, Operation)
        if owner.parent_block() is not block:
            return self._outside(value)
        if isinstance(owner, IndexOp):
            return self._number(Position(loops[owner.dim.value.data]))
        if isinstance(owner, arith.ConstantOp):
            return self._outside(value)
        if owner.regions or len(owner.results) != 1:
            return None
        operands: list[int] = []
        for operand in owner.operands:
            number = self.of(op, operand, loops)
            if number is None:
                return None
            operands.append(number)
        properties = tuple(sorted(owner.properties.items(), key=lambda item: item[0]))
        types = tuple(owner.result_types)
        return self._number(Apply(owner.name, properties, types, tuple(operands)))

    def _outside(self, value: SSAValue) -> int:
        if isinstance(value.owner, arith.ConstantOp):
            constant = value.owner.value
            if isinstance(constant, IntegerAttr | FloatAttr):
                return self._number(Number(constant))
        return self._number(Scalar(value))

    def _number(self, node: Node) -> int:
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[node]

    def apply(self, number: int, *names: str) -> tuple[int, ...] | None:
        """The operands of an expression that applies one of the ops `names`."""
        node = self.nodes[number]
        return node.operands if isinstance(node, Apply) and node.name in names else None

    def without_casts(self, number: int) -> int:
        """The expression under conversions between types of floats."""
        while (operands := self.apply(number, "arith.extf", "arith.truncf")) is not None:
            number = operands[0]
        return number

    def leaves(self, number: int) -> Iterator[Leaf | Position | Scalar]:
        """What an expression is made of, each once."""
        stack, seen = [number], {number}
        while stack:
            node = self.nodes[stack.pop()]
            if isinstance(node, Apply):
                new = [i for i in dict.fromkeys(node.operands) if i not in seen]
                seen.update(new)
                stack.extend(reversed(new))
            elif not isinstance(node, Number):
                yield node

    def depends_on(self, number: int, loop: int) -> bool:
        """Whether an expression has another value where `loop` is elsewhere."""
        for leaf in self.leaves(number):
            exprs: Sequence[AffineExpr] = ()
            if isinstance(leaf, Leaf):
                exprs = leaf.index
            elif isinstance(leaf, Position):
                exprs = (leaf.expr,)
            if any(loop in e.used_dims() for e in exprs):
                return True
        return False


def float_constant(node: Node) -> float | None:
    """The float that a node is."""
    if isinstance(node, Number) and isinstance(node.value, FloatAttr):
        return node.value.value.data
    return None


def plain_index(index: Index) -> tuple[int, ...] | None:
    """The loops that an index is made of, when each is one loop and none comes twice."""
    loops = tuple(e.position for e in index if isinstance(e, AffineDimExpr))
    return loops if len(loops) == len(index) == len(set(loops)) else None
