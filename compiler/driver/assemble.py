"""From a planned module and its compiled kernels to the bundle's model.

The plan maps one to one on the bundle's commands; what is added here is what only the driver knows:
indices of kernels and constants, grids, binding names and types, source positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Region

from ingot.compiler.analysis.constants import constant_array, dense_data
from ingot.compiler.analysis.diagnostics import file_line_col
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.dialects import dispatch, plan
from ingot.targets.bundle import model

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr

    from ingot.compiler.driver.kernels import CompiledKernel
    from ingot.targets.profiles import TargetProfile

_INTEGERS: dict[tuple[int, bool], model.DType] = {
    (1, False): model.DType.I1,
    (4, False): model.DType.I4,
    (8, False): model.DType.I8,
    (16, False): model.DType.I16,
    (32, False): model.DType.I32,
    (64, False): model.DType.I64,
    (8, True): model.DType.UI8,
    (16, True): model.DType.UI16,
    (32, True): model.DType.UI32,
    (64, True): model.DType.UI64,
}

_REPACKED = (model.DType.I1, model.DType.I4)
"""Element types that a `dense` attribute stores in another way than a bundle."""

_STORAGE: dict[plan.Storage, model.BufferKind] = {
    "argument": model.BufferKind.ARGUMENT,
    "result": model.BufferKind.RESULT,
    "constant": model.BufferKind.CONSTANT,
    "transient": model.BufferKind.TRANSIENT,
}

_ACCESS: dict[str, model.Access] = {
    "read": model.Access.READ,
    "write": model.Access.WRITE,
    "read_write": model.Access.READ_WRITE,
}


@dataclass(frozen=True)
class KernelSignature:
    """What the dispatch level knows of a kernel: inputs, then results, and where it comes from."""

    types: tuple[model.TensorType, ...]
    names: tuple[str, ...]
    location: str


def dtype_of(type_: Attribute) -> model.DType:
    """The bundle's name of an element type; `index` is stored as i64.

    Raises `KeyError` for a type that no bundle holds: earlier passes refuse those.
    """
    match type_:
        case Float32Type():
            return model.DType.F32
        case Float16Type():
            return model.DType.F16
        case BFloat16Type():
            return model.DType.BF16
        case IndexType():
            return model.DType.I64
        case ComplexType(element_type=Float32Type()):
            return model.DType.C64
        case IntegerType():
            unsigned = type_.signedness.data is Signedness.UNSIGNED
            return _INTEGERS[type_.width.data, unsigned]
        case _:
            raise KeyError(f"no element type of a bundle: {type_}")


def tensor_type(type_: Attribute) -> model.TensorType:
    """The bundle's form of a ranked tensor or memref type, or of a scalar as rank 0."""
    if isinstance(type_, TensorType | MemRefType):
        ranked = cast("TensorType[Attribute] | MemRefType[Attribute]", type_)
        shape = tuple(max(size, -1) for size in ranked.get_shape())
        return model.TensorType(dtype_of(ranked.element_type), shape)
    return model.TensorType(dtype_of(type_), ())


def position(location: LocationAttr | None) -> str:
    """`file:line:col` with the file's base name, so that folders do not change the bytes."""
    place = file_line_col(location)
    if place is None:
        return ""
    name, line, column = place
    return f"{PurePath(name).name}:{line}:{column}"


def access_of(text: str) -> model.Access:
    """The bundle's form of an entry of `ingot.access`."""
    return _ACCESS[text]


def functions(module: ModuleOp) -> tuple[model.Function, ...]:
    """The signatures of the planned functions, in order."""
    return tuple(_function(program) for program in plan.programs(module))


def _function(program: plan.ProgramOp) -> model.Function:
    type_ = program.function_type
    return model.Function(
        name=program.sym_name.data,
        arguments=tuple(tensor_type(t) for t in type_.inputs),
        results=tuple(tensor_type(t) for t in type_.outputs),
        argument_names=_names(program.arg_names),
        result_names=_names(program.result_names),
    )


def _names(names: ArrayAttr[StringAttr] | None) -> tuple[str, ...]:
    return tuple(name.data for name in names) if names is not None else ()


def kernel_signatures(module: ModuleOp) -> dict[str, KernelSignature]:
    """The kernels of a module at the dispatch level by symbol."""
    found: dict[str, KernelSignature] = {}
    for op in kernel_functions(module):
        types = (*op.function_type.inputs, *op.function_type.outputs)
        names = cast("ArrayAttr[StringAttr]", op.attributes[dispatch.NAMES])
        found[op.sym_name.data] = KernelSignature(
            types=tuple(map(tensor_type, types)),
            names=_names(names),
            location=position(op.location),
        )
    return found


def variant(
    module: ModuleOp,
    kernels: Sequence[CompiledKernel],
    profile: TargetProfile,
    math: str,
    constants: ConstantPool,
) -> model.Variant:
    """The program for one target; its constants are added to `constants`."""
    constant_index = [
        constants.add(c.sym_name.data, tensor_type(c.type), constant_bytes(c))
        for c in plan.constants(module)
    ]

    def ref(range_: plan.RangeAttr) -> model.BufferRef:
        storage, index = range_.place
        place = constant_index[index] if storage == "constant" else index
        offset, length = operand(range_.offset), operand(range_.length)
        return model.BufferRef(_STORAGE[storage], place, offset, length)

    def body(program: plan.ProgramOp) -> model.FunctionBody:
        known = program.registers.value.data if program.registers is not None else 0
        commands = _Commands(ref, kernels, known)
        sizes = program.result_sizes.data if program.result_sizes is not None else ()
        return model.FunctionBody(
            commands=commands.of(program.body),
            transient_size=program.transient_size.value.data,
            transient_lower_bound=program.transient_lower_bound.value.data,
            registers=commands.registers,
            setup=tuple(map(setup, program.setup())),
            transient=operand(program.arena) if program.arena is not None else 0,
            result_sizes=tuple(map(operand, sizes)),
        )

    bodies = tuple(map(body, plan.programs(module)))
    return model.Variant(
        target=profile.name,
        api=profile.api,
        family=profile.family,
        simd_width=profile.simd_width,
        math_mode=math,
        msl_version=profile.msl_version or (0, 0),
        kernels=tuple(kernel.kernel for kernel in kernels),
        bodies=bodies,
        required_features=tuple(sorted(set[str]().union(*(k.features for k in kernels)))),
    )


def operand(number: plan.Number) -> model.Operand:
    """The bundle's form of a number of the plan."""
    if isinstance(number, plan.RegisterAttr):
        return model.Register(number.index.data)
    return number.data


def setup(op: plan.SetupOp) -> model.Setup:
    """The bundle's form of what the host computes first."""
    match op:
        case plan.SizeOp():
            target = model.Register(op.target.index.data)
            return model.Size(target, op.argument.value.data, op.dimension.value.data)
        case plan.ComputeOp():
            target = model.Register(op.target.index.data)
            operation = model.Operation[op.operation.data.upper()]
            return model.Compute(target, operation, operand(op.lhs), operand(op.rhs))
        case plan.CheckOp():
            return model.Check(operand(op.condition), op.message.data)


class _Commands:
    """Turns a plan's commands into the bundle's; what decides is loaded into a register each."""

    def __init__(
        self,
        ref: Callable[[plan.RangeAttr], model.BufferRef],
        kernels: Sequence[CompiledKernel],
        registers: int,
    ) -> None:
        self._ref = ref
        self._grids = [kernel.grid for kernel in kernels]
        self._index = {kernel.name: index for index, kernel in enumerate(kernels)}
        self.registers = registers

    def of(self, region: Region) -> tuple[model.Command, ...]:
        """The commands of a region."""
        return tuple(c for op in plan.commands_of(region) for c in self._command(op))

    def _command(self, op: plan.CommandOp) -> Iterator[model.Command]:
        match op:
            case plan.DispatchOp():
                index = self._index[op.kernel_name]
                bindings = tuple(map(self._ref, op.bindings))
                yield model.Dispatch(index, self._groups(op, index), bindings)
            case plan.FillOp():
                yield model.Fill(self._ref(op.target), op.pattern.data)
            case plan.CopyOp():
                yield model.Copy(self._ref(op.source), self._ref(op.target))
            case plan.StoreOp():
                yield model.Store(self._ref(op.target), operand(op.value))
            case plan.BarrierOp():
                yield model.Barrier()
            case plan.LoopOp():
                if op.times is not None:
                    yield model.Loop(op.times.value.data, self.of(op.body))
                    return
                assert op.count is not None
                load = self._load(op.count)
                yield load
                yield model.Loop(load.target, self.of(op.body))
            case plan.WhileOp():
                load = self._load(op.proceed)
                yield model.While((*self.of(op.condition), load), load.target, self.of(op.body))
            case plan.IfOp():
                load = self._load(op.condition)
                yield load
                yield model.If(load.target, self.of(op.then), self.of(op.otherwise))

    def _groups(
        self, op: plan.DispatchOp, kernel: int
    ) -> tuple[model.Operand, model.Operand, model.Operand]:
        if op.groups is None:
            return self._grids[kernel]
        x, y, z = map(operand, op.groups)
        return x, y, z

    def _load(self, source: plan.RangeAttr) -> model.Load:
        self.registers += 1
        return model.Load(model.Register(self.registers - 1), self._ref(source))


def constant_bytes(constant: plan.ConstantOp) -> bytes:
    """The data as the bundle stores it: row-major, i1 as one byte, two i4 to a byte.

    What the program holds in this form already is not copied.
    """
    import numpy as np

    dtype = dtype_of(constant.type.element_type)
    stored = dense_data(constant.value)
    if stored is not None and dtype not in _REPACKED:
        return stored
    values = constant_array(constant.value, constant.type)
    if dtype is model.DType.I4:
        nibbles = np.append(values.reshape(-1).view(np.uint8) & 15, np.uint8(0))
        pairs = nibbles[: values.size + values.size % 2].reshape(-1, 2)
        return (pairs[:, 0] | pairs[:, 1] << 4).tobytes()
    return np.ascontiguousarray(values).tobytes()


class ConstantPool:
    """The constants of a bundle: one entry for equal data of equal type, in order of first use."""

    def __init__(self) -> None:
        self._entries: list[model.Constant] = []
        self._by_content: dict[tuple[model.TensorType, bytes], int] = {}

    def add(self, name: str, type_: model.TensorType, data: bytes) -> int:
        """Index of the constant in the bundle."""
        key = (type_, data)
        if key not in self._by_content:
            self._by_content[key] = len(self._entries)
            self._entries.append(model.Constant(name, type_, data))
        return self._by_content[key]

    def entries(self) -> tuple[model.Constant, ...]:
        """All constants, in index order."""
        return tuple(self._entries)
