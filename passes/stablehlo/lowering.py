"""A function's StableHLO ops turned into L1, one by one, in a new block.

The old ops keep their types, which say signed or unsigned; the new values are signless. A lowering
is a function of the op and this context that returns the new values of the op's results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ingot.compiler.analysis.constants import dense_constant, is_repeated, numpy_dtype
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.sizes import is_dynamic
from ingot.compiler.analysis.types import as_integer
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo import sizes
from ingot.passes.stablehlo.folding import fold
from ingot.passes.stablehlo.scalar import Scalar, constant

if TYPE_CHECKING:
    from ingot.passes.stablehlo.folding import Array
    from ingot.passes.stablehlo.sizes import Numbers

Lower = Callable[["Lowering", StableHLOOp], Sequence[SSAValue]]
"""Emits what computes an op, and returns the values of its results."""

ScalarRule = Callable[[StableHLOOp, Sequence[Scalar]], Scalar]
"""What an elementwise op does with the elements of its operands."""


def is_unsigned(type_: Attribute) -> bool:
    """Whether the elements of a type are unsigned integers."""
    element = as_integer(element_of(type_))
    return element is not None and element.signedness.data is Signedness.UNSIGNED


def is_complex(type_: Attribute) -> bool:
    """Whether the elements of a type are complex numbers."""
    return isinstance(element_of(type_), ComplexType)


def element_of(type_: Attribute) -> Attribute:
    """The element type of a tensor, or the type itself."""
    if isinstance(type_, TensorType):
        return cast("TensorType[Attribute]", type_).element_type
    return type_


def shape_of_type(type_: Attribute) -> tuple[int, ...]:
    """The shape of a tensor type."""
    assert isinstance(type_, TensorType)
    return tuple(type_.get_shape())


def signless(type_: Attribute) -> Attribute:
    """The type in L1: integers without a sign."""
    match type_:
        case TensorType():
            ranked: TensorType[Attribute] = type_
            return TensorType(signless(ranked.element_type), ranked.get_shape())
        case IntegerType():
            return IntegerType(type_.width.data)
        case _:
            return type_


def signless_tensor(type_: Attribute) -> TensorType[Attribute]:
    """`signless` of a tensor type."""
    result = signless(type_)
    assert isinstance(result, TensorType)
    return cast("TensorType[Attribute]", result)


@dataclass
class Lowering:
    """Where new ops go, and what the old values have become."""

    rules: Mapping[str, Lower]
    sized_rules: Collection[str]
    """The ops that may have sizes which a call decides."""
    scalar_rules: Mapping[str, ScalarRule]
    emit: Emitter
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    known: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, "Array"])
    """Small old values whose elements are known."""
    numbers: dict[SSAValue, Numbers] = field(default_factory=dict[SSAValue, "Numbers"])
    """Small old values of which the host computes elements from sizes; None for others."""
    has_sizes: bool = False
    """Whether a call decides sizes of the function."""
    spare: list[Operation] = field(default_factory=list[Operation])
    """What makes tensors of such elements, whether these are used or not."""

    def value(self, old: SSAValue) -> SSAValue:
        """The new value of an old one."""
        return self.values[old]

    def operands(self, op: StableHLOOp) -> list[SSAValue]:
        """The new values of an op's operands."""
        return [self.values[operand] for operand in op.ins]

    def result_type(self, op: StableHLOOp, index: int = 0) -> TensorType[Attribute]:
        """The new type of a result."""
        return signless_tensor(op.outs[index].type)

    def scalar(self, old: SSAValue) -> SSAValue:
        """The element of an old value of rank 0, as a scalar of the host where it is known."""
        known = self.splat(old)
        if known is not None:
            return self.emit.add(arith.ConstantOp(known)).result
        if old in self.numbers and (number := self.numbers[old].item()) is not None:
            return number
        new = self.value(old)
        return self.emit.add(
            tensor.ExtractOp(new, [], signless_tensor(old.type).element_type)
        ).result

    def signless_element(self, old: SSAValue) -> Attribute:
        """The element type in L1 of an old value."""
        return signless_tensor(old.type).element_type

    def splat(self, old: SSAValue) -> IntegerAttr | FloatAttr | None:
        """The element, signless, of an old value whose elements are known to be equal."""
        array = self.known.get(old)
        if array is None:
            return splat_of(old)
        first = array.reshape(-1)[:1]
        if not first.size or not bool((array == first).all() or array.size == 1):
            return None
        element = signless_tensor(old.type).element_type
        is_float = isinstance(element, AnyFloat)
        return constant(float(first[0]) if is_float else int(first[0]), element)

    def ops(self, ops: Sequence[Operation], last: Callable[[Operation], None]) -> None:
        """Lower a block's ops in order; `last` handles the terminator."""
        for op in ops[:-1]:
            self._op(op)
        self.emit = Emitter(self.emit.builder, ops[-1].location)
        last(ops[-1])

    def region(
        self, region: Region, last: Callable[[Operation], None], arguments: bool = True
    ) -> Region:
        """A new region of L1 ops; `last` emits the terminator."""
        block = Block(arg_types=[signless(a.type) for a in region.block.args] if arguments else [])
        if arguments:
            for old, new in zip(region.block.args, block.args, strict=True):
                self.values[old] = new
        outer = self.emit
        self.emit = Emitter.at_end(block, outer.location)
        self.ops(list(region.block.ops), last)
        self.emit = outer
        return Region(block)

    def _op(self, op: Operation) -> None:
        check_types(op)
        self.emit = Emitter(self.emit.builder, op.location)
        folded = fold(op, self.known)
        if folded is not None:
            self.known[op.results[0]] = folded
        if folded is not None and isinstance(op, StableHLOOp):
            literal = dense_constant(folded, signless_tensor(op.outs[0].type).element_type)
            results: Sequence[SSAValue] = self.emit.add(arith.ConstantOp(literal)).results
        elif (numbers := sizes.compute(self, op)) is not None and sizes.is_complete(numbers):
            results = [self._tensor_of(op, numbers)]
        elif isinstance(op, StableHLOOp):
            results = self._results(op)
        else:
            results = self._other(op)
        for old, new in zip(op.results, results, strict=True):
            new.name_hint = new.name_hint or old.name_hint
            self.values[old] = new

    def _tensor_of(self, op: Operation, numbers: Numbers) -> SSAValue:
        """The tensor of elements that the host computes."""
        (result,) = op.results
        made = tensor.FromElementsOp.create(
            operands=list(numbers.reshape(-1)), result_types=[signless(result.type)]
        )
        self.spare.append(self.emit.add(made))
        return made.results[0]

    def _other(self, op: Operation) -> Sequence[SSAValue]:
        """A copy of an op of another dialect; StableHLO inside of it, as in a loop, is lowered."""
        if any(signless(result.type) != result.type for result in op.results):
            raise refuse(op, f"{op.name} of unsigned integers is not supported")
        if not any(isinstance(i, StableHLOOp) for region in op.regions for i in region.walk()):
            return self.emit.builder.insert(op.clone(self.values)).results

        def last(terminator: Operation) -> None:
            self.emit.builder.insert(terminator.clone(self.values))

        regions = [self.region(region, last) for region in op.regions]
        copy = op.clone_without_regions(self.values)
        for empty, region in zip(copy.regions, regions, strict=True):
            region.move_blocks(empty)
        return self.emit.builder.insert(copy).results

    def _results(self, op: StableHLOOp) -> Sequence[SSAValue]:
        if op.name not in self.sized_rules and any(map(is_dynamic, (*op.ins, *op.outs))):
            raise refuse(
                op,
                f"{op.name} of dynamic shape is not supported yet",
                "export the program with static shapes",
            )
        rule = self.rules.get(op.name)
        if rule is None:
            raise refuse(op, f"{op.name} is not supported yet")
        return rule(self, op)

    # Bodies of reductions and the like

    def inline(
        self, emit: Emitter, region: Region, arguments: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The scalars that a region on tensors of rank 0 computes from scalars."""
        known: dict[SSAValue, Scalar] = {
            old: Scalar(emit, new, is_unsigned(old.type))
            for old, new in zip(region.block.args, arguments, strict=True)
        }

        def scalar_of(old: SSAValue) -> Scalar:
            if (found := known.get(old)) is None:
                outer, self.emit = self.emit, emit
                found = known[old] = Scalar(emit, self.scalar(old), is_unsigned(old.type))
                self.emit = outer
            return found

        for op in region.block.ops:
            if op.name == "stablehlo.return":
                return [scalar_of(value).ssa for value in op.operands]
            parent = region.block.parent_op()
            where = parent.name if parent is not None else "a region"
            if any(shape_of_type(v.type) != () for v in (*op.operands, *op.results)):
                raise refuse(op, f"{op.name} of tensors inside {where} is not supported")
            if op.name in ("stablehlo.constant", "arith.constant"):
                continue  # scalar_of finds its value
            if op.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim"):
                known[op.results[0]] = scalar_of(op.operands[0])
                continue
            rule = self.scalar_rules.get(op.name)
            if rule is None or not isinstance(op, StableHLOOp):
                raise refuse(op, f"{op.name} inside {where} is not supported")
            known[op.results[0]] = rule(op, [scalar_of(value) for value in op.ins])
        raise AssertionError("a region ends in stablehlo.return")


def splat_of(value: SSAValue) -> IntegerAttr | FloatAttr | None:
    """The element, signless, of a constant whose elements are all equal."""
    if not isinstance(value.owner, Operation):
        return None
    if value.owner.name not in ("stablehlo.constant", "arith.constant"):
        return None
    literal = value.owner.properties.get("value")
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        return None
    element = signless_tensor(value.type).element_type
    if not isinstance(element, AnyFloat) and as_integer(element) is None:
        return None
    data: bytes = literal.data.data
    import numpy as np

    dtype = numpy_dtype(element)
    size = dtype.itemsize
    if not data or not is_repeated(data, size):
        return None
    number = np.frombuffer(data[:size], dtype)[0]
    return constant(float(number) if isinstance(element, AnyFloat) else int(number), element)


def check_types(op: Operation) -> None:
    """Refuse tensors that no lowering takes."""
    for value in (*op.operands, *op.results):
        check_type(value, value.type, f"{op.name} of")


def check_type(where: Operation | SSAValue, type_: Attribute, what: str) -> None:
    """Refuse a type that is quantized, of wide complex numbers, or no tensor."""
    if not isinstance(type_, TensorType):
        if "!stablehlo.token" in str(type_) or "tuple" in str(type_):
            raise refuse(
                where,
                f"{what} a {type_} is not supported: programs run on one device, and take and "
                "return tensors only",
            )
        return
    ranked = cast("TensorType[Attribute]", type_)
    element = ranked.element_type
    if "!quant" in str(element):
        raise refuse(
            where,
            f"{what} the quantized type {type_} is not supported",
            "export the program with quantization written out as integer arithmetic",
        )
    if isinstance(element, ComplexType) and cast("ComplexType", element) != ComplexType(f32):
        raise refuse(where, f"{what} a {type_} is not supported: complex numbers are complex<f32>")
