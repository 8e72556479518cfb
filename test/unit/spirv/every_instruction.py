"""One small module for each op of the instruction table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from unit.spirv.kernels import SCALARS, Arguments, element_pointer, helper, kernel
from xdsl.builder import Builder
from xdsl.dialects.builtin import VectorType, f16, f32, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import atomic, base, families, group

V4 = VectorType(f32, [4])
DEVICE, NONE = spirv.Scope.Device, spirv.MemorySemantics(0)
SUBGROUP, WORKGROUP = spirv.Scope.Subgroup, spirv.Scope.Workgroup
BARRIER = spirv.MemorySemantics.AcquireRelease | spirv.MemorySemantics.WorkgroupMemory
REDUCE, CLUSTERED = spirv.GroupOperation.Reduce, spirv.GroupOperation.ClusteredReduce
USE, ROWS = spirv.CooperativeMatrixUse, spirv.CooperativeMatrixLayout.RowMajor
MATRICES = {use: spirv.CooperativeMatrixType.get(8, 8, f32, use) for use in USE}

MATRIX_OPS = (
    spirv.CooperativeMatrixLoadOp,
    spirv.CooperativeMatrixStoreOp,
    spirv.CooperativeMatrixMulAddOp,
    spirv.CooperativeMatrixLengthOp,
)
MODELS = (spirv.MemoryModel.GLSL450, spirv.MemoryModel.Vulkan)

Build = Callable[[Builder, Arguments], object]

CASTS: dict[str, Sequence[tuple[Attribute, Attribute]]] = {
    "ConvertFToU": [(f32, i32), (f16, i64)],
    "ConvertFToS": [(f32, i32)],
    "ConvertSToF": [(i32, f32)],
    "ConvertUToF": [(VectorType(i32, [2]), VectorType(f32, [2]))],
    "UConvert": [(i32, i64)],
    "SConvert": [(i64, i32)],
    "FConvert": [(f32, f16), (V4, VectorType(f16, [4]))],
    "Bitcast": [(f32, i32), (i64, VectorType(f32, [2]))],
}

SINGLE: dict[str, tuple[Sequence[Attribute], Build]] = {
    "Select": ([i1, f32, f32], lambda b, a: b.insert(spirv.SelectOp(*a))),
    "BitFieldInsert": ([i32] * 4, lambda b, a: b.insert(spirv.BitFieldInsertOp(*a))),
    "CompositeConstruct": ([f32, f32], lambda b, a: b.insert(spirv.CompositeConstructOp(a, PAIR))),
    "CompositeExtract": ([V4], lambda b, a: b.insert(spirv.CompositeExtractOp(a[0], [2]))),
    "CompositeInsert": ([f32, V4], lambda b, a: b.insert(spirv.CompositeInsertOp(*a, [3]))),
    "VectorShuffle": ([V4, V4], lambda b, a: b.insert(spirv.VectorShuffleOp(*a, [0, 5, -1]))),
    "VectorExtractDynamic": ([V4, i32], lambda b, a: b.insert(spirv.VectorExtractDynamicOp(*a))),
    "VectorInsertDynamic": (
        [V4, f32, i32],
        lambda b, a: b.insert(spirv.VectorInsertDynamicOp(*a)),
    ),
    "VectorTimesScalar": ([V4, f32], lambda b, a: b.insert(spirv.VectorTimesScalarOp(*a))),
    "Dot": ([V4, V4], lambda b, a: b.insert(spirv.DotOp(*a))),
    "GL.FMix": ([f32] * 3, lambda b, a: b.insert(spirv.GLFMixOp(*a))),
    "GL.Ldexp": ([f32, i32], lambda b, a: b.insert(spirv.GLLdexpOp(*a))),
    "GL.FrexpStruct": ([f32], lambda b, a: b.insert(spirv.GLFrexpStructOp(*a))),
    "ControlBarrier": (
        [],
        lambda b, a: b.insert(spirv.ControlBarrierOp(WORKGROUP, WORKGROUP, BARRIER)),
    ),
    "MemoryBarrier": ([], lambda b, a: b.insert(spirv.MemoryBarrierOp(WORKGROUP, BARRIER))),
    "GroupNonUniformElect": ([], lambda b, a: b.insert(spirv.GroupNonUniformElectOp(SUBGROUP))),
    "GroupNonUniformBallot": (
        [i1],
        lambda b, a: b.insert(spirv.GroupNonUniformBallotOp(SUBGROUP, a[0])),
    ),
    "KHR.CooperativeMatrixMulAdd": (
        [MATRICES[USE.MatrixA], MATRICES[USE.MatrixB], MATRICES[USE.MatrixAcc]],
        lambda b, a: b.insert(spirv.CooperativeMatrixMulAddOp(*a)),
    ),
    "KHR.CooperativeMatrixLength": (
        [],
        lambda b, a: b.insert(spirv.CooperativeMatrixLengthOp(MATRICES[USE.MatrixA])),
    ),
}
PAIR = VectorType(f32, [2])


def examples(cls: type[base.SpirvOp]) -> Iterator[spirv.ModuleOp]:
    """Modules that use `cls`, one for each of a few operand types."""
    mnemonic = cls.name.removeprefix("spirv.")
    if mnemonic in SINGLE:
        types, build = SINGLE[mnemonic]
        yield _in_helper(types, build)
    elif mnemonic in CASTS:
        for source, target in CASTS[mnemonic]:
            yield _in_helper([source], lambda b, a, t=target: b.insert(cls(a[0], t)))
    elif issubclass(cls, families.UniformOp):
        arity = len(cls.INFO.layout)
        for type in SCALARS[cls.KIND]:
            yield _in_helper([type] * arity, lambda b, a: b.insert(cls(*a)))
    elif issubclass(cls, families.TypedOperandsOp | families.ExtendedBinaryOp):
        arity = len(cls.INFO.layout)
        yield _in_helper([i32] * arity, lambda b, a: b.insert(cls(*a)))
    elif issubclass(cls, group.GroupIndexOp):
        yield _index_in_group(cls)
    elif issubclass(cls, group.GroupReduceOp):
        for operation in (REDUCE, CLUSTERED):
            yield _reduction(cls, operation)
    else:
        yield _on_buffer(cls)


def _in_helper(types: Sequence[Attribute], build: Build) -> spirv.ModuleOp:
    function = helper("helper", types, build)
    matrices = any(isinstance(op, MATRIX_OPS) for op in function.walk())
    return kernel(lambda b, v: None, others=[function], memory_model=MODELS[matrices])


def _index_in_group(cls: type[group.GroupIndexOp]) -> spirv.ModuleOp:
    def build(b: Builder, a: Arguments) -> None:
        b.insert(cls(SUBGROUP, a[0], b.insert(spirv.ConstantOp(1, i32))))

    return _in_helper([f32], build)


def _reduction(cls: type[group.GroupReduceOp], operation: spirv.GroupOperation) -> spirv.ModuleOp:
    def build(b: Builder, a: Arguments) -> None:
        size = b.insert(spirv.ConstantOp(8, i32)) if operation is CLUSTERED else None
        b.insert(cls(SUBGROUP, operation, a[0], size))

    return _in_helper([SCALARS[cls.KIND][0]], build)


def _on_buffer(cls: type[base.SpirvOp]) -> spirv.ModuleOp:
    """A kernel that applies `cls` to an element of the buffer `x`."""
    floats = cls in (spirv.AtomicFAddOp, spirv.CooperativeMatrixLoadOp) or issubclass(
        cls, spirv.CooperativeMatrixStoreOp
    )
    element = f32 if floats else i32

    def build(b: Builder, variables: dict[str, spirv.GlobalVariableOp]) -> None:
        number = b.insert(spirv.ConstantOp(3, i32)).constant
        pointer = element_pointer(b, variables["x"], number).component_ptr
        if issubclass(cls, atomic.AtomicOp):
            _atomic(b, cls, pointer)
        elif cls is spirv.StoreOp:
            b.insert(spirv.StoreOp(pointer, number, alignment=4))
        elif cls is spirv.LoadOp:
            b.insert(spirv.LoadOp(pointer, spirv.MemoryAccess.Volatile, 4))
        elif cls is spirv.AccessChainOp:
            pass
        elif cls is spirv.CooperativeMatrixLoadOp:
            b.insert(cls(pointer, number, ROWS, MATRICES[USE.MatrixAcc]))
            access = spirv.MemoryAccess.NonPrivatePointer
            b.insert(cls(pointer, number, ROWS, MATRICES[USE.MatrixAcc], access))
        elif cls is spirv.CooperativeMatrixStoreOp:
            matrix = b.insert(spirv.UndefOp(MATRICES[USE.MatrixAcc]))
            b.insert(cls(pointer, matrix, number, ROWS))
        else:
            raise AssertionError(f"no example for {cls.name}")

    return kernel(build, [("x", element, 4)], memory_model=MODELS[issubclass(cls, MATRIX_OPS)])


def _atomic(b: Builder, cls: type[atomic.AtomicOp], pointer: SSAValue) -> None:
    operand = b.insert(spirv.LoadOp(pointer)).value
    if issubclass(cls, atomic.AtomicStepOp):
        b.insert(cls(DEVICE, NONE, pointer))
    elif issubclass(cls, atomic.AtomicUpdateOp):
        b.insert(cls(DEVICE, NONE, pointer, operand))
    else:
        assert cls is spirv.AtomicCompareExchangeOp
        b.insert(cls(DEVICE, NONE, NONE, pointer, operand, operand))
