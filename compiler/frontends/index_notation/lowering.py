"""Index notation to L1: a function `main` of generics on tensors.

A statement becomes one `linalg.generic` over its indices: those of the target are parallel, the
others are reduced. What its maps cannot say, the body reads by `tensor.extract` (gathers, wrapped
indices); finishers, updates and chains of contractions are generics of their own. Sums and products
of 16-bit floats are kept in f32.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.analysis.generics import Emitter, elementwise, empty, fill, make_generic
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.frontends.index_notation.affine import Affine, affine
from ingot.compiler.frontends.index_notation.order import contraction_steps, union
from ingot.compiler.frontends.index_notation.reducers import Reducer
from ingot.compiler.frontends.index_notation.scalars import Array, Body
from ingot.compiler.frontends.index_notation.statement import (
    check_statement,
    element_type,
)
from ingot.compiler.frontends.index_notation.syntax import (
    Access,
    Blank,
    Call,
    Expression,
    Name,
    Program,
    Statement,
    substitute_blank,
    walk,
)
from ingot.compiler.frontends.index_notation.target import write_target
from ingot.compiler.frontends.index_notation.types import (
    accumulator,
    concrete,
    is_float,
    number_of,
)


def lower_program(program: Program) -> ModuleOp:
    """The module of a program: `main` takes the arguments and returns the results, in order.

    Raises `Refusal`, at the place in the notation, for what is wrong with it.
    """
    start = program.statements[0].place.location
    arguments: list[tuple[str, Attribute, tuple[int, ...]]] = []
    for declared in program.arguments:
        if any(name == declared.name for name, *_ in arguments):
            raise Refusal(f"{declared.name} is declared twice", declared.place.location)
        arguments.append((declared.name, element_type(declared), declared.shape))
    types = [TensorType(element, shape) for _, element, shape in arguments]
    block = Block(arg_types=types)
    arrays: dict[str, Array] = {}
    taken: set[str] = set()
    for argument, (name, element, shape) in zip(block.args, arguments, strict=True):
        argument.name_hint = _hint(name, taken)
        arrays[name] = Array(argument, element, shape, (program.base,) * len(shape))
    for statement in program.statements:
        _Lowering(program, statement, arrays, block, taken).run()
    results = [arrays[name].value for name in _returned(program, arrays)]
    Emitter.at_end(block, start).add(func.ReturnOp(*results))
    signature = FunctionType.from_lists(types, [value.type for value in results])
    function = func.FuncOp("main", signature, Region(block))
    function.location = start
    _mark_without_gradient(function, program)
    return ModuleOp([function])


def _mark_without_gradient(function: func.FuncOp, program: Program) -> None:
    """Put `ingot.nograd` on the arguments that `@nograd` names."""
    declared = [argument.name for argument in program.arguments]
    for name in program.nograd:
        if name.name not in declared:
            raise Refusal(f"there is no argument {name.name}", name.place.location)
    marked = {name.name for name in program.nograd}
    if marked:
        function.arg_attrs = ArrayAttr(
            [DictionaryAttr({NO_GRADIENT: UnitAttr()} if n in marked else {}) for n in declared]
        )


def _returned(program: Program, arrays: dict[str, Array]) -> list[str]:
    """What `@return` says; otherwise what is assigned and not read by a later statement."""
    for name in program.returned:
        if name.name not in arrays:
            raise Refusal(f"there is no array {name.name} to return", name.place.location)
    if program.returned:
        return [name.name for name in program.returned]
    last = {s.target.array: position for position, s in enumerate(program.statements)}
    return [
        name
        for name, position in last.items()
        if not any(name in _read(statement) for statement in program.statements[position + 1 :])
    ]


def _read(statement: Statement) -> set[str]:
    parts = [statement.value, *statement.target.indices]
    if statement.finisher is not None:
        parts.append(statement.finisher)
    found: set[str] = set()
    for part in parts:
        for inner in walk(part):
            match inner:
                case Access(array=name) | Name(name=name):
                    found.add(name)
                case _:
                    pass
    return found


def _hint(name: str, taken: set[str]) -> str:
    """The name in letters that IR prints: `θ` is `theta`; numbered where two become one."""
    plain = "".join(c if c.isascii() else _spelled(c) for c in name)
    hint, count = plain, 1
    while hint in taken:
        count += 1
        hint = f"{plain}_{count}"
    taken.add(hint)
    return hint


def _spelled(character: str) -> str:
    words = unicodedata.name(character, "LETTER").lower().replace("-", " ").split()
    return words[-1] if words[:1] == ["greek"] else "_".join(words)


NO_GRADIENT = "ingot.nograd"
"""The attribute of arguments that `linalg-differentiate` leaves out."""


@dataclass(frozen=True)
class _Factor:
    """A factor of a product, and the indices that occur in it."""

    expression: Expression
    indices: frozenset[str]


class _Lowering:
    """One statement; leaves its target in `arrays`."""

    def __init__(
        self,
        program: Program,
        statement: Statement,
        arrays: dict[str, Array],
        block: Block,
        taken: set[str],
    ) -> None:
        declared = {d.name: d for d in program.outputs}.get(statement.target.array)
        self._checked = check_statement(statement, dict(arrays), program.base, declared)
        self._reorder = program.reorder
        self._arrays = arrays
        self._taken = taken
        self._emit = Emitter.at_end(block, statement.place.location)
        self._scope = self._checked.scope
        self._partial: dict[str, Array] = {}

    def run(self) -> None:
        """Emit the statement."""
        checked = self._checked
        name = checked.statement.target.array
        old = None if checked.is_new else self._arrays[name]
        values = self._values()
        result = write_target(self._emit, checked, values, old)
        result.name_hint = _hint(name, self._taken)
        firsts = old.firsts if old else (checked.base,) * len(checked.shape)
        self._arrays[name] = Array(result, checked.element, checked.shape, firsts)

    def _values(self) -> SSAValue:
        """One value for each combination of the target's indices, in the target's type."""
        checked = self._checked
        value, finisher = checked.statement.value, checked.statement.finisher
        if not checked.summed:
            whole = value if finisher is None else substitute_blank(finisher, value)
            return self._pointwise(whole, checked.left, checked.element)
        type_ = self._scope.type_of(value)
        if checked.reducer not in ("&", "|"):
            type_ = number_of(type_)
        element = concrete(type_)
        wide = accumulator(element) if checked.reducer in ("+", "*") else element
        summed = checked.summed
        if checked.reducer == "+" and is_float(wide) and self._reorder:
            value, summed = self._contracted(value, wide)
        reduced = self._reduce(value, checked.left, summed, checked.reducer, wide)
        if finisher is None and wide == checked.element:
            return reduced
        finisher = finisher or Blank(value.place)
        name = f"%{len(self._partial)}"
        self._add_partial(name, reduced, wide, checked.left)
        read = Access(value.place, name, tuple(Name(value.place, i) for i in checked.left))
        if element != wide:
            self._scope = replace(self._scope, blank=wide)
        return self._pointwise(substitute_blank(finisher, read), checked.left, checked.element)

    def _contracted(self, value: Expression, wide: Attribute) -> tuple[Expression, tuple[str, ...]]:
        """The value with chains of contractions evaluated before, where that pays, and the indices
        that are still to be summed."""
        checked = self._checked
        every = [_Factor(f, self._indices(f)) for f in _product(value)]
        scalars = [factor for factor in every if not factor.indices]
        factors = [factor for factor in every if factor.indices]
        sizes = {name: checked.extent(name) for name in (*checked.left, *checked.summed)}
        missing = frozenset(checked.summed) - union(f.indices for f in factors)
        if missing:
            return value, checked.summed
        steps = contraction_steps([f.indices for f in factors], checked.left, sizes)
        for step in steps or ():
            chosen = [factors[position] for position in step.factors]
            factors = [f for position, f in enumerate(factors) if position not in step.factors]
            gone = tuple(sorted(union(f.indices for f in chosen) - set(step.kept)))
            product = _multiplied([f.expression for f in chosen])
            if gone:
                tensor_ = self._reduce(product, step.kept, gone, "+", wide)
            else:
                tensor_ = self._pointwise(product, step.kept, wide)
            name = f"%{len(self._partial)}"
            self._add_partial(name, tensor_, wide, step.kept)
            place = chosen[0].expression.place
            read = Access(place, name, tuple(Name(place, i) for i in step.kept))
            factors.append(_Factor(read, frozenset(step.kept)))
        if not steps:
            return value, checked.summed
        rest = union(f.indices for f in factors)
        summed = tuple(name for name in checked.summed if name in rest)
        return _multiplied([f.expression for f in (*scalars, *factors)]), summed

    def _indices(self, expression: Expression) -> frozenset[str]:
        names = (inner.name for inner in walk(expression) if isinstance(inner, Name))
        return frozenset(name for name in names if self._scope.is_index(name))

    def _add_partial(
        self, name: str, value: SSAValue, element: Attribute, kept: tuple[str, ...]
    ) -> None:
        """Make an intermediate array readable under `name`, which no program can write."""
        shape = tuple(self._checked.extent(i) for i in kept)
        firsts = tuple(self._scope.ranges[i][0] for i in kept)
        self._partial[name] = Array(value, element, shape, firsts)
        self._scope = replace(self._scope, arrays={**self._scope.arrays, **self._partial})

    # Generics

    def _pointwise(self, value: Expression, loops: tuple[str, ...], element: Attribute) -> SSAValue:
        """A tensor of `value` with a dimension for each loop."""
        type_ = TensorType(element, [self._checked.extent(name) for name in loops])
        accesses, inputs, maps = self._inputs(value, loops)

        def body(inner: Emitter, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            loaded = dict(zip(accesses, args, strict=True))
            return [Body(self._scope, inner, loops, loaded).value(value, element)]

        return elementwise(self._emit, type_, inputs, maps, body)

    def _reduce(
        self,
        value: Expression,
        kept: tuple[str, ...],
        summed: tuple[str, ...],
        reducer_name: str,
        element: Attribute,
    ) -> SSAValue:
        """A tensor with a dimension for each of `kept`: `value` reduced over `summed`."""
        reducer = Reducer(reducer_name, element)
        loops = (*kept, *summed)
        type_ = TensorType(element, [self._checked.extent(name) for name in kept])
        init = fill(self._emit, reducer.neutral(self._emit), type_)
        accesses, inputs, maps = self._inputs(value, loops)
        plain = {e.position for m in maps for e in m.results if isinstance(e, AffineDimExpr)}
        for position in range(len(kept), len(loops)):
            if position not in plain:  # a loop whose extent no operand shows
                extent = [self._checked.extent(loops[position])]
                inputs.append(empty(self._emit, TensorType(i1, extent)))
                shown = AffineExpr.dimension(position)
                maps.append(AffineMap(len(loops), 0, (shown,)))
        elements = [tensor_type(value).element_type for value in inputs]
        block = Block(arg_types=[*elements, element])
        inner = Emitter.at_end(block, self._emit.location)
        loaded = dict(zip(accesses, block.args, strict=False))
        new = Body(self._scope, inner, loops, loaded).value(value, element)
        inner.add(YieldOp(reducer.combine(inner, block.args[-1], new)))
        output = AffineMap(len(loops), 0, tuple(map(AffineExpr.dimension, range(len(kept)))))
        iterators = [IteratorTypeAttr.parallel()] * len(kept)
        iterators += [IteratorTypeAttr.reduction()] * len(summed)
        return make_generic(
            self._emit, inputs, [init], [*maps, output], iterators, Region(block)
        ).results[0]

    def _inputs(
        self, value: Expression, loops: tuple[str, ...]
    ) -> tuple[list[Access], list[SSAValue], list[AffineMap]]:
        """The accesses that maps can say, each with the tensor and the map that read it."""
        accesses: list[Access] = []
        tensors: list[SSAValue] = []
        maps: list[AffineMap] = []
        for inner in walk(value):
            access = inner
            if isinstance(inner, Name) and inner.name in self._scope.arrays:
                access = Access(inner.place, inner.name, ())
            if not isinstance(access, Access) or access in accesses:
                continue
            array = self._scope.arrays[access.array]
            written = [affine(index, self._scope.is_index) for index in access.indices]
            known = [expression for expression in written if expression is not None]
            if len(known) < len(written):
                continue
            window, firsts = self._window(array, known, loops)
            accesses.append(access)
            tensors.append(window)
            results = tuple(
                self._map_result(expression, first, loops)
                for expression, first in zip(known, firsts, strict=True)
            )
            maps.append(AffineMap(len(loops), 0, results))
        return accesses, tensors, maps

    def _window(
        self, array: Array, indices: list[Affine], loops: tuple[str, ...]
    ) -> tuple[SSAValue, tuple[int, ...]]:
        """The array, cut where an index alone runs over a part of a dimension.

        A loop that a map shows alone runs over the whole dimension, so the rest must go.
        """
        ranges = self._scope.ranges
        firsts = list(array.firsts)
        sizes = list(array.shape)
        offsets = [0] * len(sizes)
        for position, expression in enumerate(indices):
            if list(expression.coefficients.values()) != [1]:
                continue
            (name,) = expression.coefficients
            low = ranges[name][0] + expression.constant
            extent = self._checked.extent(name)
            if extent == 0:
                firsts[position], sizes[position] = low, 0
            elif expression.plain or (low == firsts[position] and extent < sizes[position]):
                offsets[position] = low - firsts[position]
                firsts[position], sizes[position] = low, extent
        if sizes == list(array.shape):
            return array.value, tuple(firsts)
        ones = [1] * len(sizes)
        type_ = TensorType(array.element, sizes)
        cut = tensor.ExtractSliceOp(array.value, offsets, sizes, ones, type_)
        return self._emit.add(cut).result, tuple(firsts)

    def _map_result(self, expression: Affine, first: int, loops: tuple[str, ...]) -> AffineExpr:
        constant = expression.constant - first
        result: AffineExpr | None = None
        for name, factor in expression.coefficients.items():
            constant += factor * self._scope.ranges[name][0]
            dimension = AffineExpr.dimension(loops.index(name))
            term = dimension if factor == 1 else dimension * factor
            result = term if result is None else result + term
        if result is None:
            return AffineConstantExpr(constant)
        return result if constant == 0 else result + constant


def _product(expression: Expression) -> list[Expression]:
    """The factors of a product, in order."""
    match expression:
        case Call(function="*", operands=operands):
            return [factor for operand in operands for factor in _product(operand)]
        case _:
            return [expression]


def _multiplied(factors: list[Expression]) -> Expression:
    result = factors[0]
    for factor in factors[1:]:
        result = Call(factor.place, "*", (result, factor))
    return result
