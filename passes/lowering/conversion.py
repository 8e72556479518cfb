"""State and helpers of `convert-to-spirv`: one function's values, constants, built-ins, types."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    UnitAttr,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.index_range import constant_int, is_non_negative
from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.gpu_matrix import MatrixOperand, MMAMatrixType

Handler = Callable[["FunctionConversion", Operation], "SSAValue | Sequence[SSAValue] | None"]
"""Converts an op: emits what it becomes and returns the value of each result."""


@dataclass
class ModuleGlobals:
    """The global variables of one `spirv.module`, built when first used."""

    names: set[str]
    variables: list[spirv.GlobalVariableOp] = field(default_factory=list[spirv.GlobalVariableOp])
    _built_ins: dict[spirv.BuiltIn, spirv.GlobalVariableOp] = field(
        default_factory=dict[spirv.BuiltIn, spirv.GlobalVariableOp]
    )

    def add(
        self,
        name: str,
        type_: spirv.PointerType,
        *,
        bind: tuple[int, int] | None = None,
        built_in: spirv.BuiltIn | None = None,
    ) -> spirv.GlobalVariableOp:
        """A variable under `name`, or under the name and a number where it is taken."""
        unique, count = name, 1
        while unique in self.names:
            unique, count = f"{name}_{count}", count + 1
        self.names.add(unique)
        variable = spirv.GlobalVariableOp(unique, type_, bind=bind, built_in=built_in)
        self.variables.append(variable)
        return variable

    def built_in(self, built_in: spirv.BuiltIn, type_: Attribute) -> spirv.GlobalVariableOp:
        """The input variable of a built-in."""
        if built_in not in self._built_ins:
            pointer = spirv.PointerType(type_, spirv.StorageClass.Input)
            name = built_in.name[0].lower() + built_in.name[1:]
            self._built_ins[built_in] = self.add(name, pointer, built_in=built_in)
        return self._built_ins[built_in]

    @property
    def inputs(self) -> list[str]:
        """Names of the input variables: the interface of the entry point."""
        return [variable.sym_name.data for variable in self._built_ins.values()]


@dataclass
class Buffer:
    """A memref as SPIR-V sees it: a pointer to an array of scalars or of vectors."""

    pointer: SSAValue
    element: Attribute
    width: int
    """Elements of the memref in one element of the array."""
    shape: tuple[int, ...]
    in_struct: bool
    """Whether the array is the only member of a struct (a bound buffer)."""


@dataclass
class FunctionConversion:
    """Converts the body of one function."""

    index: IntegerType
    variables: ModuleGlobals
    handlers: dict[str, Handler]
    live: set[Operation]
    workgroup_size: tuple[int, int, int]
    exact: bool
    """Decorate floating-point ops so that no driver fuses or reorders them."""
    entry: Block
    vulkan_memory: bool = False
    """Whether the module uses Vulkan's memory model, where shared accesses have to be marked."""
    block: Block = field(init=False)
    """Where ops are emitted."""
    location: LocationAttr | None = None
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    buffers: dict[SSAValue, Buffer] = field(default_factory=dict[SSAValue, Buffer])
    call: Callable[[str], spirv.FuncOp] | None = None
    """The converted function of a name."""
    _prologue: list[Operation] = field(default_factory=list[Operation])
    _cached: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])
    _indices: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """The constants that are indices."""
    _proved: dict[int, bool] = field(default_factory=dict[int, bool])
    _scopes: list[dict[object, SSAValue]] = field(
        default_factory=lambda: [dict[object, SSAValue]()]
    )

    def __post_init__(self) -> None:
        self.block = self.entry

    # ops

    def emit(self, op: Operation) -> SSAValue:
        """Add an op to the current block and return its first result."""
        self.add(op)
        return op.results[0]

    def add(self, op: Operation) -> None:
        """Add an op to the current block."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)

    def float_op(self, op: Operation) -> SSAValue:
        """Add a floating-point op, decorated against transformations where that is asked for."""
        if self.exact:
            op.attributes["no_contraction"] = UnitAttr()
        return self.emit(op)

    def pure(self, op_type: type[Operation], *operands: SSAValue) -> SSAValue:
        """The result of a pure op, computed once where it is in scope."""
        key = (op_type, *map(id, operands))
        return self.pure_keyed(key, lambda: make_op(op_type, operands))

    def pure_keyed(self, key: object, make: Callable[[], Operation]) -> SSAValue:
        """The result of a pure op that `key` stands for, computed once where it is in scope.

        Keys hold values by their `id`: the function keeps them, and hashing a value takes a call.
        """
        for scope in reversed(self._scopes):
            if (known := scope.get(key)) is not None:
                return known
        result = self.emit(make())
        self._scopes[-1][key] = result
        return result

    @contextmanager
    def within(self, block: Block) -> Generator[None]:
        """Emit into another block, in a scope of its own."""
        outer, self.block = self.block, block
        self._scopes.append({})
        yield
        self._scopes.pop()
        self.block = outer

    def convert_ops(self, source: Block) -> None:
        """Convert the live ops of a block but its terminator into the current block.

        Moved indices wait until something other than a place in memory needs them.
        """
        last = source.last_op
        for op in source.ops:
            if op is not last and op in self.live and not is_moved(op):
                self._convert(op)

    def _convert(self, op: Operation) -> None:
        handler = self.handlers.get(op.name)
        if handler is None:
            raise refuse(op, f"`{op.name}` cannot be converted to SPIR-V")
        outer, self.location = self.location, op.location
        results = handler(self, op)
        self.location = outer
        if results is None:
            return
        results = (results,) if isinstance(results, SSAValue) else results
        for old, new in zip(op.results, results, strict=False):
            self.values[old] = new
            if new.name_hint is None and old.name_hint is not None:
                new.name_hint = old.name_hint

    def finish(self) -> None:
        """Put constants, addresses and built-ins in front of the function's ops."""
        first = self.entry.first_op
        if self._prologue and first is not None:
            self.entry.insert_ops_before(self._prologue, first)

    # values

    def value(self, source: SSAValue) -> SSAValue:
        """What a value was converted to."""
        known = self.values.get(source)
        if known is not None:
            return known
        base, distance = moved_index(source)
        moved = self.pure(spirv.IAddOp, self.value(base), self.index_constant(distance))
        if moved.name_hint is None:
            moved.name_hint = source.name_hint
        return moved

    def is_non_negative(self, source: SSAValue) -> bool:
        """Whether an index that is being converted is proved not to be negative."""
        return is_non_negative(source, self._proved)

    def operands(self, op: Operation) -> list[SSAValue]:
        """What the operands of an op were converted to."""
        return [self.value(operand) for operand in op.operands]

    def once(self, key: object, make: Callable[[], Operation]) -> SSAValue:
        """A value of the prologue, made when first asked for."""
        if (known := self._cached.get(key)) is not None:
            return known
        op = make()
        self._prologue.append(op)
        self._cached[key] = op.results[0]
        return op.results[0]

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A scalar constant of a SPIR-V type."""
        if isinstance(type_, AnyFloat):
            return self.constant_attribute(FloatAttr(number, type_))
        assert isinstance(type_, IntegerType)
        integer = cast(IntegerType, type_)
        return self.constant_attribute(IntegerAttr(int(number), integer, truncate_bits=True))

    def constant_attribute(
        self, attr: IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr
    ) -> SSAValue:
        """A constant given by its attribute, whose type is a SPIR-V type."""
        # -0.0 and 0.0 are equal as numbers, and so are attributes that hold them
        key = repr(attr.value.data) if isinstance(attr, FloatAttr) else attr
        type_ = attr.get_type()
        return self.once((key, type_), lambda: spirv.ConstantOp(attr, type_))

    def index_constant(self, number: int) -> SSAValue:
        """A constant index."""
        if (known := self._indices.get(number)) is None:
            known = self._indices[number] = self.constant(number, self.index)
        return known

    def address(self, variable: spirv.GlobalVariableOp) -> SSAValue:
        """The pointer to a global variable."""
        return self.once(("address", variable), lambda: spirv.AddressOfOp(variable))

    def built_in(self, built_in: spirv.BuiltIn, dimension: int | None = None) -> SSAValue:
        """A built-in as an index: one component of a vector of three, or a scalar."""
        type_ = i32 if dimension is None else VectorType(i32, [3])
        variable = self.variables.built_in(built_in, type_)
        address = self.address(variable)
        result = self.once(("load", variable), lambda: spirv.LoadOp(address))
        if dimension is not None:
            vector = result
            result = self.once(
                (built_in, dimension), lambda: spirv.CompositeExtractOp(vector, [dimension])
            )
        if self.index != i32:
            narrow = result
            result = self.once(
                ("index", built_in, dimension), lambda: spirv.UConvertOp(narrow, self.index)
            )
        return result

    # types

    def type(self, source: Attribute, op: Operation, what: str = "") -> Attribute:
        """The SPIR-V type of a value's type; refuses what SPIR-V has not, at `op`."""
        if isinstance(source, VectorType):
            vector = cast("VectorType[Attribute]", source)
            shape = vector.get_shape()
            element = self.type(vector.element_type, op, what)
            if len(shape) == 1 and 1 <= shape[0] <= 4:
                return element if shape[0] == 1 else VectorType(element, shape)
            if is_copied(vector):
                return VectorType(i32, [4])
        elif isinstance(source, IndexType):
            return self.index
        elif isinstance(source, MMAMatrixType):
            use = _MATRIX_USES[source.role]
            return spirv.CooperativeMatrixType.get(
                source.rows, source.columns, source.element_type, use
            )
        elif isinstance(source, Float16Type | Float32Type) or source in _INTEGERS:
            return source
        subject = f"{what} holds" if what else f"`{op.name}` on"
        raise refuse(op, f"{subject} {source}, a type that kernels cannot compute with")

    def result_type(self, op: Operation) -> Attribute:
        """The SPIR-V type of an op's first result."""
        return self.type(op.results[0].type, op)


def is_moved(op: Operation) -> bool:
    """Whether an op moves an index by a positive constant."""
    return (
        op.name == "arith.addi"
        and isinstance(op.results[0].type, IndexType)
        and (constant_int(op.operands[1]) or 0) > 0
    )


def moved_index(value: SSAValue) -> tuple[SSAValue, int]:
    """An index as another one and how far it is moved from there."""
    distance = 0
    while isinstance(owner := value.owner, Operation) and is_moved(owner):
        value, distance = owner.operands[0], distance + (constant_int(owner.operands[1]) or 0)
    return value, distance


def make_op(op_type: type[Operation], operands: Sequence[SSAValue]) -> Operation:
    """An op of one of the spirv classes whose operands are all it takes."""
    if issubclass(op_type, spirv.UniformOp):
        # the constructor's checks cost more than all else here
        types = [op_type.result_type(operands[0].type)]
        return op_type.create(operands=operands, result_types=types)
    return op_type(*operands)


_MATRIX_USES = {
    MatrixOperand.A: spirv.CooperativeMatrixUse.MatrixA,
    MatrixOperand.B: spirv.CooperativeMatrixUse.MatrixB,
    MatrixOperand.C: spirv.CooperativeMatrixUse.MatrixAcc,
}

_INTEGERS = frozenset(IntegerType(width) for width in (1, 8, 16, 32, 64))


def is_copied(type_: Attribute) -> bool:
    """Whether values of a type are only copied: eight of 16 bits, for which SPIR-V has no vector.

    They travel as the four words of 32 bits that they lie in.
    """
    return type_ in (VectorType(Float16Type(), [8]), VectorType(IntegerType(16), [8]))


def width_of(type_: Attribute) -> int:
    """Components of a vector type; 1 for a scalar."""
    return type_.get_shape()[0] if isinstance(type_, VectorType) else 1
