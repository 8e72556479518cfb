"""What the host program computes of the sizes of its arguments, as registers of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import element_bytes, tensor_type
from ingot.compiler.dialects import arith, plan
from ingot.compiler.dialects.host import DispatchOp
from ingot.compiler.dialects.linalg import FillOp

Number = int | plan.RegisterAttr

_FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a // b if b else 0,
    "remainder": lambda a, b: a % b if b else 0,
    "minimum": min,
    "maximum": max,
    "equal": lambda a, b: int(a == b),
    "less": lambda a, b: int(a < b),
}

_BINARY: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "subtract",
    arith.MuliOp: "multiply",
    arith.FloorDivSIOp: "divide",
    arith.MinSIOp: "minimum",
    arith.MaxSIOp: "maximum",
    arith.AndIOp: "minimum",
    arith.OrIOp: "maximum",
}
"""The last two on truth values only."""


@dataclass
class HostNumbers:
    """Numbers by what they are computed from: what is equal by construction is one register."""

    shaped_like: Mapping[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Of what control flow passes on, the value that has its sizes (`shaped_like` makes it)."""
    setup: list[plan.SetupOp] = field(default_factory=list["plan.SetupOp"])
    count: int = 0
    _known: dict[tuple[object, ...], plan.RegisterAttr] = field(
        default_factory=dict[tuple[object, ...], plan.RegisterAttr]
    )
    _sizes: set[Number] = field(default_factory=set["Number"])
    """The sizes of arguments, which are not negative."""
    _checked: set[Number] = field(default_factory=set["Number"])

    def _new(self) -> plan.RegisterAttr:
        self.count += 1
        return plan.RegisterAttr(IntAttr(self.count - 1))

    def argument_size(self, argument: int, dim: int) -> Number:
        """The size of a dimension of an argument of the function."""
        key = ("size", argument, dim)
        if key not in self._known:
            self._known[key] = self._new()
            self._sizes.add(self._known[key])
            self.setup.append(plan.SizeOp(self._known[key], argument, dim))
        return self._known[key]

    def compute(self, operation: str, lhs: Number, rhs: Number) -> Number:
        """What an operation of the bundle makes of two numbers."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return _FOLDED[operation](lhs, rhs)
        if operation in ("add", "subtract", "multiply", "divide"):
            neutral = 0 if operation in ("add", "subtract") else 1
            if rhs == neutral:
                return lhs
            if lhs == neutral and operation in ("add", "multiply"):
                return rhs
        if operation == "equal" and lhs == rhs:
            return 1
        key = (operation, lhs, rhs)
        if key not in self._known:
            self._known[key] = self._new()
            sides = plan.number(lhs), plan.number(rhs)
            self.setup.append(plan.ComputeOp(self._known[key], operation, *sides))
        return self._known[key]

    def copy_of(self, value: Number) -> plan.RegisterAttr:
        """A register of its own that holds a number."""
        target = self._new()
        self.setup.append(plan.ComputeOp(target, "add", plan.number(value), IntAttr(0)))
        return target

    def product(self, numbers: Sequence[Number]) -> Number:
        """The product of numbers, the known ones first; from 2^31 on it may be less than it is.

        So it never wraps around, and a check that it is below 2^31 holds when it should.
        """
        result: Number = prod(n for n in numbers if isinstance(n, int))
        unknown = [n for n in numbers if not isinstance(n, int)]
        for number in unknown:
            result = self.compute("multiply", number, result)
            if len(unknown) > 1:
                result = self.compute("minimum", result, 1 << 31)
        return result

    def check(self, condition: Number, message: str, like: Operation) -> None:
        """Refuse calls where `condition` is 0; a program where it always is."""
        if condition == 0:
            raise refuse(like, message)
        if not isinstance(condition, int) and condition not in self._checked:
            self._checked.add(condition)
            self.setup.append(plan.CheckOp(plan.number(condition), message))

    def check_not_negative(self, size: Number, like: Operation) -> None:
        """Refuse calls where a size that was computed is negative."""
        if size not in self._sizes:
            negative = self.compute("less", size, 0)
            message = "a tensor would have a negative size"
            self.check(self.compute("equal", negative, 0), message, like)

    def sizes(self, value: SSAValue) -> list[Number]:
        """The sizes of a tensor."""
        return [self._size(value, dim) for dim in range(len(shape_of(value)))]

    def check_same_sizes(
        self, value: SSAValue, other: SSAValue, what: str, like: Operation
    ) -> None:
        """Refuse calls where a tensor has other sizes than one that is planned for."""
        for dim, (size, wanted) in enumerate(
            zip(self.sizes(value), self.sizes(other), strict=True)
        ):
            if size != wanted:
                equal = self.compute("equal", size, wanted)
                self.check(equal, f"{what} in dimension {dim}", like)

    def byte_size(self, value: SSAValue) -> Number:
        """Bytes of a tensor."""
        width = element_bytes(tensor_type(value).element_type)
        return self.product([*self.sizes(value), width])

    def _size(self, value: SSAValue, dim: int) -> Number:
        extent = shape_of(value)[dim]
        if extent >= 0:
            return extent
        if value in self.shaped_like:
            return self._size(self.shaped_like[value], dim)
        if isinstance(value, BlockArgument):
            return self.argument_size(value.index, dim)
        owner = value.owner
        open_dims = [d for d, s in enumerate(shape_of(value)) if s < 0]
        match owner:
            case tensor.EmptyOp():
                return self.scalar(owner.dynamic_sizes[open_dims.index(dim)])
            case FillOp():
                return self._size(owner.outputs[0], dim)
            case tensor.CastOp():
                return self._size(owner.source, dim)
            case DispatchOp():
                before = 0
                for result in owner.res:
                    if result is value:
                        break
                    before += sum(s < 0 for s in shape_of(result))
                return self.scalar(owner.result_sizes[before + open_dims.index(dim)])
            case tensor.CollapseShapeOp():
                groups = _groups(owner)
                return self.product([self._size(owner.src, d) for d in groups[dim]])
            case tensor.ExpandShapeOp():
                return self._expanded(owner, dim)
            case _:
                assert isinstance(owner, Operation)
                raise refuse(owner, f"the size of what {owner.name} makes is not known to the host")

    def _expanded(self, op: tensor.ExpandShapeOp, dim: int) -> Number:
        """An open size of an expansion: what is left of the source's when the others are known,
        and else what the op says; the call is refused where the sizes do not fit."""
        (group,) = [g for g in _groups(op) if dim in g]
        whole = self._size(op.src, _groups(op).index(group))
        shape = shape_of(op.result)
        rest = prod(shape[d] for d in group if shape[d] >= 0)
        open_dims = [d for d, size in enumerate(shape) if size < 0]
        if sum(d in group for d in open_dims) == 1:
            size = self.compute("divide", whole, rest)
            fits = self.compute("equal", self.compute("multiply", size, rest), whole)
            self.check(fits, f"a size must be a multiple of {rest} to be split", op)
            return size
        given = dict(zip(open_dims, map(self.scalar, op.dynamic_output_shape), strict=True))
        for d in group:
            if d in given:
                self.check_not_negative(given[d], op)
        split = self.product([rest, *(given[d] for d in group if d in given)])
        fits = self.compute("equal", split, whole)
        self.check(fits, "a dimension is split into sizes whose product is not its size", op)
        return given[dim]

    def scalar(self, value: SSAValue) -> Number:
        """A scalar that the host computes of sizes; refuses what it cannot."""
        number = int_of(value)
        if number is not None:
            return abs(number) if _is_truth(value) else number
        owner = value.owner
        match owner:
            case tensor.DimOp():
                dim = int_of(owner.index)
                if dim is not None:
                    return self._size(owner.source, dim)
            case arith.IndexCastOp() | arith.ExtUIOp() | arith.ExtSIOp() | arith.TruncIOp():
                # A size fits every integer that a program casts it to.
                if not _is_truth(owner.operands[0]) and not _is_truth(owner.results[0]):
                    return self.scalar(owner.operands[0])
            case arith.CmpiOp():
                return self._compare(owner)
            case arith.SelectOp():
                return self._select(owner)
            case arith.DivUIOp() | arith.DivSIOp() | arith.RemUIOp() | arith.RemSIOp():
                return self._divide(owner)
            case arith.CeilDivSIOp() | arith.CeilDivUIOp():
                lhs, rhs = map(self.scalar, owner.operands)
                up = self.compute("subtract", self.compute("add", lhs, rhs), 1)
                return self.compute("divide", up, rhs)
            case Operation() if type(owner) in _BINARY:
                truth = isinstance(owner, arith.AndIOp | arith.OrIOp)
                if truth == _is_truth(value):
                    lhs, rhs = map(self.scalar, owner.operands)
                    return self.compute(_BINARY[type(owner)], lhs, rhs)
            case _:
                pass
        name = owner.name if isinstance(owner, Operation) else "a block argument"
        raise refuse(
            value,
            f"the host cannot compute {name} for a size or a check",
            "sizes are computed by integer arithmetic from the sizes of the arguments",
        )

    def _divide(self, op: Operation) -> Number:
        """A quotient or remainder of numbers that are not negative: all roundings agree."""
        lhs, rhs = map(self.scalar, op.operands)
        for side in (lhs, rhs):
            negative = self.compute("less", side, 0)
            self.check(
                self.compute("equal", negative, 0), "a size is divided as a negative number", op
            )
        remainder = isinstance(op, arith.RemUIOp | arith.RemSIOp)
        return self.compute("remainder" if remainder else "divide", lhs, rhs)

    def _compare(self, op: arith.CmpiOp) -> Number:
        lhs, rhs = map(self.scalar, op.operands)
        predicate = op.predicate.value.data
        if predicate > 5:
            # Unsigned: the same for what is not negative.
            for side in (lhs, rhs):
                negative = self.compute("less", side, 0)
                self.check(
                    self.compute("equal", negative, 0),
                    "a size is compared as a negative number",
                    op,
                )
            predicate -= 4
        match predicate:
            case 0:
                return self.compute("equal", lhs, rhs)
            case 1:
                return self.compute("equal", self.compute("equal", lhs, rhs), 0)
            case 2:
                return self.compute("less", lhs, rhs)
            case 3:
                return self.compute("equal", self.compute("less", rhs, lhs), 0)
            case 4:
                return self.compute("less", rhs, lhs)
            case _:
                return self.compute("equal", self.compute("less", lhs, rhs), 0)

    def _select(self, op: arith.SelectOp) -> Number:
        condition, lhs, rhs = map(self.scalar, op.operands)
        if isinstance(condition, int):
            return lhs if condition else rhs
        difference = self.compute("subtract", lhs, rhs)
        return self.compute("add", rhs, self.compute("multiply", condition, difference))


def _groups(op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> list[list[int]]:
    return [[index.value.data for index in group] for group in op.reassociation]


def _is_truth(value: SSAValue) -> bool:
    return str(value.type) == "i1"
