"""Emit code in nested scopes, and use again what was emitted before."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from xdsl.builder import Builder
from xdsl.dialects import affine, vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    UnknownLoc,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from ingot.compiler.analysis.structured import (
    element_type,
)
from ingot.compiler.dialects.arith import (
    ConstantOp,
)
from ingot.compiler.dialects.vector import FromElementsOp
from ingot.passes.kernel.indices import Index, fold_below
from ingot.passes.kernel.linear import Linear, linear_of


@dataclass(frozen=True)
class Lanes:
    """A vector of `width` consecutive elements along dimension (or loop) `dim`."""

    dim: int
    width: int


Key = tuple[SSAValue, tuple[Linear, ...], Lanes | None]

T = TypeVar("T")
OperationT = TypeVar("OperationT", bound=Operation)
EmitterT = TypeVar("EmitterT", bound="Emitter")
P = ParamSpec("P")


@dataclass
class Scope:
    """What was computed in one block."""

    elements: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])
    shared: dict[Hashable, object] = field(default_factory=dict[Hashable, object])


@dataclass
class Emitter:
    """Emits ops at `builder`, and remembers in which block it emitted what."""

    builder: Builder
    location: LocationAttr = field(default_factory=UnknownLoc)
    """Where in the source that comes from which is emitted now; see `on_behalf_of`."""
    scopes: list[Scope] = field(default_factory=lambda: [Scope()])
    replaced: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Index values of loops that are being rebuilt, old to new."""
    below: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Index values that are not negative and smaller than a number."""

    def __post_init__(self) -> None:
        self.builder = self._at(self.builder.insertion_point)

    def _at(self, place: InsertPoint) -> Builder:
        """A builder that knows no location but that of the emitter."""
        return Builder(place, operation_insertion_handler=[self._locate])

    def _locate(self, op: Operation) -> None:
        if isinstance(op.location, UnknownLoc):
            op.location = self.location

    @contextmanager
    def on_behalf_of(self, op: Operation) -> Generator[None]:
        """Emit what computes `op`: it gets the location of `op`, unless it has its own."""
        outer, self.location = self.location, op.location
        try:
            yield
        finally:
            self.location = outer

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Emit at the end of `block`, and forget what is computed there afterwards."""
        saved = self.builder
        self.builder = self._at(InsertPoint.at_end(block))
        self.scopes.append(Scope())
        try:
            yield
        finally:
            self.scopes.pop()
            self.builder = saved

    @contextmanager
    def anew(self) -> Generator[None]:
        """Compute elements again that were computed before: `replaced` has changed since."""
        saved = self.scopes
        self.scopes = [Scope(shared=scope.shared) for scope in saved]
        try:
            yield
        finally:
            self.scopes = saved

    def known(self, key: Key) -> SSAValue | None:
        """What an enclosing scope computed for `key`."""
        for scope in reversed(self.scopes):
            if key in scope.elements:
                return scope.elements[key]
        return None

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returned for `key` in this scope or an enclosing one, or its result now."""
        for scope in reversed(self.scopes):
            if key in scope.shared:
                return cast(T, scope.shared[key])
        made = make()
        self.scopes[-1].shared[key] = made
        return made

    def remember(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None, code: SSAValue
    ):
        """Let later requests for an element use `code`."""
        self.scopes[-1].elements[(value, tuple(index), lanes)] = code

    def emit(self, op: OperationT) -> OperationT:
        """Insert an op at the insertion point."""
        return self.builder.insert(op)

    def linear(self, value: SSAValue | int) -> Linear:
        """The linear form of an index value, in terms of the values that exist after rebuilding."""
        form = Linear.of(value) if isinstance(value, int) else linear_of(value)
        result = Linear((), form.constant)
        for atom, coefficient in form.terms:
            new = self.replaced.get(atom)
            result = result + (Linear.of(atom) if new is None else linear_of(new)) * coefficient
        return result

    def size(self, value: Index) -> Index:
        """The size of a tile, known where the loops that it depends on are at a known place."""
        if isinstance(value, SSAValue) and isinstance(value.owner, affine.MinOp):
            numbers = [self.linear(operand).known for operand in value.owner.operands]
            known = [number for number in numbers if number is not None]
            if len(known) == len(numbers):
                return min(value.owner.map.data.eval(known, []))
        return value

    def stays_below(self, form: Linear, end: int) -> bool:
        """Whether a form is known to be neither negative nor `end` or more."""
        largest = form.constant
        if largest < 0:
            return False
        for atom, coefficient in form.terms:
            if coefficient < 0 or atom not in self.below:
                return False
            largest += coefficient * (self.below[atom] - 1)
        return largest < end

    def index_value(self, value: SSAValue | int) -> SSAValue:
        """An index value that may depend on rebuilt loops, as an SSA value at this point."""
        if isinstance(value, int):
            return self.materialize(Linear.of(value))
        owner = value.owner
        if isinstance(owner, affine.MinOp):
            operands = tuple(self.index_value(v) for v in owner.operands)
            return value if operands == owner.operands else self.pure(_minimum, operands, owner.map)
        if isinstance(owner, affine.ApplyOp):
            return self.materialize(self.linear(value))
        return self.replaced.get(value, value)

    def materialize(self, form: Linear) -> SSAValue:
        """An index value that holds a linear form."""
        return self.once(form, lambda: form.materialize(self.builder))

    def pure(self, make: Callable[P, Operation], *args: P.args, **kwargs: P.kwargs) -> SSAValue:
        """The result of the op that `make` returns, whose value depends on the arguments alone.

        It is emitted once in a scope, so `make` has to be the same object each time: a class or a
        function of a module.
        """
        key = (make, args, *kwargs.items())
        return self.once(key, lambda: self.emit(make(*args, **kwargs)).results[0])

    def apply(self, expr: AffineExpr, operand: SSAValue) -> SSAValue:
        """The value of an affine expression of one index, computed once in a scope.

        Of an index in a known range only what changes it there is computed.
        """
        end = self.below.get(operand)
        if end is None:
            return self.pure(_apply, expr, operand)
        expr, least, most = fold_below(expr, end)
        if isinstance(expr, AffineConstantExpr):
            return self.index_value(expr.value)
        value = operand if isinstance(expr, AffineDimExpr) else self.pure(_apply, expr, operand)
        if least >= 0:
            self.below[value] = most + 1
        return value

    def form(self, expr: AffineExpr, operand: SSAValue) -> Linear:
        """The value of an affine expression of one index as a form."""
        return linear_of(self.apply(expr, operand))

    def zero(self, element: Attribute) -> SSAValue:
        """A zero of a scalar type."""
        return self.constant(0, element)

    def constant(self, number: float | int, element: Attribute) -> SSAValue:
        """An `arith.constant` of a scalar type."""
        if isinstance(element, AnyFloat):
            return self.pure(ConstantOp, FloatAttr(float(number), element))
        assert isinstance(number, int)
        return self.pure(ConstantOp, IntegerAttr(number, element))  # pyright: ignore

    def from_elements(self, elements: Sequence[SSAValue]) -> SSAValue:
        """A vector of scalars."""
        type_ = VectorType(elements[0].type, [len(elements)])
        return self.pure(FromElementsOp, tuple(elements), type_)

    def lane(self, value: SSAValue, lane: int) -> SSAValue:
        """One element of a vector; a scalar stands for a vector of equal elements."""
        if not isinstance(value.type, VectorType):
            return value
        return self.pure(vector.ExtractOp, value, (lane,), element_type(value))

    def widen(self, value: SSAValue, width: int | None) -> SSAValue:
        """A value as a vector of `width` equal elements, or as it is when it is one already."""
        if width is None or isinstance(value.type, VectorType):
            return value
        return self.pure(vector.BroadcastOp, value, VectorType(value.type, [width]))


def _apply(expr: AffineExpr, operand: SSAValue) -> Operation:
    return affine.ApplyOp([operand], AffineMapAttr(AffineMap(1, 0, (expr,))))


def _minimum(operands: Sequence[SSAValue], map_: AffineMapAttr) -> Operation:
    return affine.MinOp(operands, map_)


def on_behalf_of_op(
    function: Callable[Concatenate[EmitterT, OperationT, P], T],
) -> Callable[Concatenate[EmitterT, OperationT, P], T]:
    """What a function of an emitter and an op emits gets the location of the op."""

    @wraps(function)
    def emitting(emitter: EmitterT, op: OperationT, *args: P.args, **kwargs: P.kwargs) -> T:
        with emitter.on_behalf_of(op):
            return function(emitter, op, *args, **kwargs)

    return emitting
