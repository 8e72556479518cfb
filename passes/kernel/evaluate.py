"""Evaluate elements of tiles: the heart of `kernel-vectorize`.

An `Evaluator` emits, at its insertion point, the code for one element (or one vector of elements)
of a tile, and of what it is computed from. Elements that were computed before in an enclosing scope
are used again, so a value that several ops read is loaded or computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    VectorType,
)
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.building import at_end
from ingot.compiler.analysis.captures import captured_values
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.structured import (
    element_type,
    indexing_maps,
    reduction_loops,
    shape_of,
)
from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp
from ingot.passes.kernel.body import Body
from ingot.passes.kernel.body_functions import BodyFunctions, can_be_called
from ingot.passes.kernel.emitter import Lanes, on_behalf_of_op
from ingot.passes.kernel.indices import linear_coefficients, result_index
from ingot.passes.kernel.linear import Linear, linear_of_expr
from ingot.passes.kernel.memory import MemoryEmitter, shift

ReduceAt = Callable[["Evaluator", GenericOp, SSAValue, Sequence[Linear], Lanes | None], SSAValue]


@dataclass
class Evaluator(MemoryEmitter):
    """Emits code at `builder`; see the module's docstring."""

    reduce_at: ReduceAt | None = None
    """Computes one element (or vector) of a reduction that was not computed ahead."""
    functions: BodyFunctions | None = None
    """Where long bodies go that are evaluated many times; None to emit them where they are used."""

    def element(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None = None
    ) -> SSAValue:
        """The element of the tile `value` at `index`, or the vector that starts there.

        A value that is the same in all lanes may be returned as a scalar.
        """
        key = (value, tuple(index), lanes)
        found = self.known(key)
        if found is None:
            found = self._of_known(value, index, lanes) or self._evaluate(value, index, lanes)
            self.scopes[-1].elements[key] = found
        return found

    def _of_known(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue | None:
        """A vector of elements that are not adjacent and that were all read before."""
        if lanes is None or lanes.dim == len(index) - 1:
            return None
        places = [tuple(shift(index, lanes.dim, i)) for i in range(lanes.width)]
        elements = [e for at in places if (e := self.known((value, at, None))) is not None]
        return self.from_elements(elements) if len(elements) == lanes.width else None

    def _evaluate(self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None) -> SSAValue:
        owner = value.owner
        match owner:
            case FillOp():
                return owner.inputs[0]
            case tensor.EmptyOp():
                return self.zero(element_type(value))
            case GenericOp() if not reduction_loops(owner):
                return self._inline_at(owner, value, index, lanes)
            case GenericOp() if self.reduce_at is not None and not self._is_computed(value):
                return self.reduce_at(self, owner, value, index, lanes)
            case _:
                view = self.view(value)
                if view is not None:
                    return self.load(view, index, lanes)
                return self._from_other_lanes(value, index, lanes)

    def _is_computed(self, value: SSAValue) -> bool:
        return any(key[0] is value for scope in self.scopes for key in scope.elements)

    def _from_other_lanes(
        self, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue:
        """Find a computed element under another grouping into vectors."""
        if lanes is None:
            for scope in reversed(self.scopes):
                for (other, start, grouping), code in scope.elements.items():
                    if other is not value or grouping is None:
                        continue
                    distance = _distance(start, index, grouping.dim)
                    if distance is not None and 0 <= distance < grouping.width:
                        return self.lane(code, distance)
            raise refuse(value, "internal: an element of a tile is used before it is computed")
        elements = [
            self.element(value, shift(index, lanes.dim, lane)) for lane in range(lanes.width)
        ]
        return self.from_elements(elements)

    def _inline_at(
        self, op: GenericOp, value: SSAValue, index: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue:
        result = result_index(value)
        out = indexing_maps(op)[len(op.inputs) + result]
        loops, loop_lanes = loops_of(out, index, lanes)
        values = self.inline(op, loops, loop_lanes)
        for other, code in zip(op.results, values, strict=True):
            if (
                other is not value
                and out == indexing_maps(op)[len(op.inputs) + list(op.results).index(other)]
            ):
                self.remember(other, index, lanes, code)
        return values[result]

    @on_behalf_of_op
    def inline(
        self,
        op: GenericOp,
        loops: Sequence[Linear],
        lanes: Lanes | None,
        accumulators: Sequence[SSAValue] | None = None,
        until: SSAValue | None = None,
    ) -> list[SSAValue]:
        """Emit the body of `op` at one point of its loops, or at `lanes.width` points along a loop.

        `accumulators` stand for the output arguments; without them those come from the outputs.
        Returns what the body yields, or only the body's value `until`.
        """
        block = op.body.block
        values: dict[SSAValue, SSAValue] = {}
        maps = indexing_maps(op)
        inputs = len(op.inputs)
        for i, (arg, operand, map_) in enumerate(zip(block.args, op.operands, maps, strict=True)):
            if not arg.uses:
                continue
            if i >= inputs and accumulators is not None:
                values[arg] = accumulators[i - inputs]
            else:
                values[arg] = self.operand_element(operand, map_, loops, lanes)
        # What is constant is worth more where it is used.
        known = any(isinstance(value.owner, ConstantOp) for value in values.values())
        if self.functions and not known and accumulators is None and can_be_called(op):
            return [self._called(self.functions, op, values, lanes)]
        partial = any(DYNAMIC_INDEX in shape_of(v) for v in op.operands)
        body = Body(self, values, loops, lanes, partial)
        if until is not None:
            for inner in block.ops:
                if until in values:
                    break
                body.emit(inner)
            return [values.get(until, until)]
        return body.emit_block(block)

    def _called(
        self,
        functions: BodyFunctions,
        op: GenericOp,
        values: dict[SSAValue, SSAValue],
        lanes: Lanes | None,
    ) -> SSAValue:
        """The result of a function that computes the body of `op`, made when first asked for."""
        width = None if lanes is None else lanes.width
        if not any(isinstance(value.type, VectorType) for value in values.values()):
            width = None
        passed = {argument: self.widen(value, width) for argument, value in values.items()}
        constants: list[ConstantOp] = []
        for value in captured_values(op.regions):
            if isinstance(value.owner, ConstantOp):
                constants.append(value.owner)
            else:
                passed[value] = self.replaced.get(value, value)
        function = functions.find(op, list(passed.values()))
        if function is None:
            block = Block(arg_types=[value.type for value in passed.values()])
            for argument, value in zip(block.args, passed, strict=True):
                argument.name_hint = value.name_hint
            inner = Evaluator(at_end(block), op.location)
            inside: dict[SSAValue, SSAValue] = dict(zip(passed, block.args, strict=True))
            for constant in constants:
                inside[constant.result] = inner.emit(constant.clone()).result
            (result,) = Body(inner, inside, [], lanes, partial=False).emit_block(op.body.block)
            function = functions.add(op, block, result)
        return self.emit(functions.call(function, list(passed.values()))).results[0]

    def operand_element(
        self, operand: SSAValue, map_: AffineMap, loops: Sequence[Linear], lanes: Lanes | None
    ) -> SSAValue:
        """The element of an operand that its map picks at a point of the loops."""
        index = [self._expr(map_, i, loops) for i in range(len(map_.results))]
        if lanes is None or lanes.dim not in map_.used_dims():
            return self.element(operand, index)
        if any(linear_coefficients(expr, map_.num_dims) is None for expr in map_.results):
            # Remainders and quotients take steps of their own from lane to lane.
            points = [shift(loops, lanes.dim, lane) for lane in range(lanes.width)]
            return self.from_elements(
                [
                    self.element(operand, [self._expr(map_, i, at) for i in range(len(index))])
                    for at in points
                ]
            )
        moved = [self._expr(map_, i, shift(loops, lanes.dim, 1)) for i in range(len(map_.results))]
        return self.strided(
            operand, index, [m + i * -1 for m, i in zip(moved, index, strict=True)], lanes
        )

    def strided(
        self, source: SSAValue, index: Sequence[Linear], steps: Sequence[Linear], lanes: Lanes
    ) -> SSAValue:
        """A vector of elements whose index moves by `steps` from lane to lane."""
        moving = [i for i, step in enumerate(steps) if step.known != 0]
        if len(moving) == 1 and steps[moving[0]].known == 1:
            return self.element(source, index, Lanes(moving[0], lanes.width))
        elements: list[SSAValue] = []
        for lane in range(lanes.width):
            at = [i + s * lane for i, s in zip(index, steps, strict=True)]
            elements.append(self.element(source, at))
        return self.from_elements(elements)

    def _expr(self, map_: AffineMap, result: int, loops: Sequence[Linear]) -> Linear:
        expr = map_.results[result]
        form = linear_of_expr(expr, loops)
        if form is not None:
            return form
        dims = [self.materialize(loop) for loop in loops]
        used = sorted(expr.used_dims())
        renumbered = [
            AffineDimExpr(used.index(i)) if i in used else AffineDimExpr(0)
            for i in range(len(dims))
        ]
        single = AffineMap(len(used), 0, (expr.replace_dims_and_symbols(renumbered, []),))
        apply = affine.ApplyOp([dims[i] for i in used], AffineMapAttr(single))
        return Linear.of(self.emit(apply).result)


def loops_of(
    out: AffineMap, index: Sequence[Linear], lanes: Lanes | None
) -> tuple[list[Linear], Lanes | None]:
    """The loops, and the loop of the lanes, that compute a result's element or vector at `index`.

    `out` is the result's map. Loops that it does not use are zero.
    """
    loops = [Linear()] * out.num_dims
    loop_lanes = None
    for position, (expr, form) in enumerate(zip(out.results, index, strict=True)):
        assert isinstance(expr, AffineDimExpr), "results are indexed by plain loops"
        loops[expr.position] = form
        if lanes is not None and lanes.dim == position:
            loop_lanes = Lanes(expr.position, lanes.width)
    return loops, loop_lanes


def _distance(start: Sequence[Linear], index: Sequence[Linear], dim: int) -> int | None:
    """How far `index` is from `start` along `dim`, if that is the only difference."""
    distance = 0
    for i, (a, b) in enumerate(zip(start, index, strict=True)):
        step = (b + a * -1).known
        if step is None or (i != dim and step != 0):
            return None
        if i == dim:
            distance = step
    return distance
