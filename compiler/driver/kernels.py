"""From a lowered module to the code of its kernels: SPIR-V words, checked, and MSL for Metal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    IntegerType,
    StringAttr,
    VectorType,
)

from ingot.compiler.dialects import spirv
from ingot.compiler.driver.assemble import KernelSignature, access_of
from ingot.compiler.driver.dump import Dump, kernels_of
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.timing import phase
from ingot.targets import VERSION
from ingot.targets.bundle import model
from ingot.targets.profiles import TargetProfile

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

    from ingot.targets.msl import MslSource


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel of a target: its code and what a dispatch of it needs."""

    grid: tuple[int, int, int]
    """Threadgroups of a dispatch."""
    kernel: model.Kernel
    features: frozenset[str]
    """What a Vulkan device must offer for it, as `model.Variant.required_features` names it; the
    family says it all of a Metal device."""

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        return self.kernel.name


def compile_kernels(
    module: ModuleOp,
    signatures: Mapping[str, KernelSignature],
    profile: TargetProfile,
    options: CompileOptions,
    dump: Dump,
) -> tuple[CompiledKernel, ...]:
    """The code of every `spirv.module` in `module`, in order.

    Raises `LibraryNotFound` or `SpirvToolsMissing` where a library is missing, and `RuntimeError`
    when SPIRV-Tools or SPIRV-Cross refuse what we made, which is a bug.
    """
    return tuple(
        _compile(name, op, _in_parts(signatures[name], op), profile, options, dump)
        for name, op in kernels_of(module).items()
        if isinstance(op, spirv.ModuleOp)
    )


def _compile(
    name: str,
    op: spirv.ModuleOp,
    signature: KernelSignature,
    profile: TargetProfile,
    options: CompileOptions,
    dump: Dump,
) -> CompiledKernel:
    from ingot.targets.spirv import InvalidSpirv, serialize, validate

    timing = options.timing
    with phase(timing, "SPIR-V"):
        words = serialize(op)
    dump.kernel(profile.name, name, "60-code.spv", words)
    if dump.folder is not None:
        from ingot.targets.spirv import disassemble

        dump.kernel(profile.name, name, "60-code.spvasm", disassemble(words))
    try:
        with phase(timing, "SPIRV-Tools"):
            validate(words, "vulkan1.1")
    except InvalidSpirv as error:
        raise RuntimeError(f"the SPIR-V of kernel {name} is not valid: {error}") from error
    size = _triple(op, "ingot.workgroup_size")
    msl = _msl(name, words, signature, profile, options) if profile.api == "metal" else None
    if msl is not None:
        dump.kernel(profile.name, name, "70-code.metal", msl.text)
    bindings = tuple(
        model.Binding(binding, type_.dtype, access_of(access))
        for binding, type_, access in zip(
            signature.names, signature.types, _strings(op, "ingot.access"), strict=True
        )
    )
    kernel = model.Kernel(
        name=name,
        entry_point=msl.entry_point if msl is not None else "",
        threadgroup_size=size,
        bindings=bindings,
        spirv=words,
        msl=msl.text if msl is not None else "",
        spirv_entry_point=_entry_point(op),
        argument_buffer=msl is not None and msl.argument_buffer,
        threadgroup_memory=_threadgroup_memory(op),
        location=signature.location,
    )
    features = _features(op) if profile.api == "vulkan" else frozenset[str]()
    return CompiledKernel(_triple(op, "ingot.grid"), kernel, features)


def _in_parts(signature: KernelSignature, op: spirv.ModuleOp) -> KernelSignature:
    """The signature with an entry for each binding: `split-large-buffers` makes several of one."""
    parts = op.attributes.get("ingot.parts")
    if not isinstance(parts, DenseArrayBase):
        return signature
    counts = [int(count) for count in parts.get_values()]
    types = [t for t, count in zip(signature.types, counts, strict=True) for _ in range(count)]
    return replace(signature, types=tuple(types), names=tuple(_strings(op, "ingot.names")))


def _msl(
    name: str,
    words: bytes,
    signature: KernelSignature,
    profile: TargetProfile,
    options: CompileOptions,
) -> MslSource:
    from ingot.targets.msl import MslError, MslOptions, cross_compile

    assert profile.msl_version is not None
    choices = MslOptions(
        msl_version=profile.msl_version,
        max_buffers=profile.max_buffers,
        math=options.math,
        compiler=f"Ingot {VERSION}",
        source=signature.location,
        buffer_types=tuple(map(_spell, signature.types)),
    )
    try:
        with phase(options.timing, "SPIRV-Cross"):
            return cross_compile(words, kernel_name=name, options=choices)
    except MslError as error:
        raise RuntimeError(str(error)) from error


def _spell(type_: model.TensorType) -> str:
    return "x".join([*map(str, type_.shape), type_.dtype.name.lower()])


def _triple(op: Operation, attribute: str) -> tuple[int, int, int]:
    values = op.attributes[attribute]
    assert isinstance(values, DenseArrayBase)
    x, y, z = (int(v) for v in values.get_values())
    return x, y, z


def _strings(op: Operation, attribute: str) -> list[str]:
    values = cast("ArrayAttr[StringAttr]", op.attributes[attribute])
    return [value.data for value in values]


def _entry_point(module: spirv.ModuleOp) -> str:
    entries = [op for op in module.body.block.ops if isinstance(op, spirv.EntryPointOp)]
    return entries[0].fn.root_reference.data


_FEATURES: dict[str, str] = {
    "StorageBuffer8BitAccess": "storage8",
    "StorageBuffer16BitAccess": "storage16",
    "UniformAndStorageBuffer8BitAccess": "uniform-storage8",
    "UniformAndStorageBuffer16BitAccess": "uniform-storage16",
    "Int8": "int8",
    "Int16": "int16",
    "Int64": "int64",
    "Int64Atomics": "int64-atomics",
    "Float16": "float16",
    "GroupNonUniform": "subgroup-basic",
    "GroupNonUniformVote": "subgroup-vote",
    "GroupNonUniformArithmetic": "subgroup-arithmetic",
    "GroupNonUniformBallot": "subgroup-ballot",
    "GroupNonUniformShuffle": "subgroup-shuffle",
    "GroupNonUniformShuffleRelative": "subgroup-shuffle-relative",
    "GroupNonUniformClustered": "subgroup-clustered",
    "GroupNonUniformQuad": "subgroup-quad",
    "VariablePointersStorageBuffer": "variable-pointers",
    "VulkanMemoryModel": "vulkan-memory-model",
    "VulkanMemoryModelDeviceScope": "vulkan-memory-model-device",
    "CooperativeMatrixKHR": "cooperative-matrix",
    "BFloat16TypeKHR": "bfloat16",
    "BFloat16CooperativeMatrixKHR": "bfloat16-matrix",
}
"""SPIR-V capability to the runtime's name of the device feature (docs/runtime.md)."""


def _features(module: spirv.ModuleOp) -> frozenset[str]:
    """Device features that the SPIR-V asks for; a Vulkan device has Shader and Matrix anyway."""
    vce = module.vce_triple or spirv.required_vce(module)
    names = {capability.name for capability in vce.capabilities}
    modes = [op for op in module.body.block.ops if isinstance(op, spirv.ExecutionModeOp)]
    preserve = spirv.ExecutionMode.SignedZeroInfNanPreserve
    return frozenset(_FEATURES[name] for name in names if name in _FEATURES) | {
        f"special-values{mode.values.data[0].value.data}"
        for mode in modes
        if mode.execution_mode.data is preserve
    }


def _threadgroup_memory(module: spirv.ModuleOp) -> int:
    """Bytes of all variables in threadgroup memory."""
    return sum(
        _size(op.type.pointee)
        for op in module.body.block.ops
        if isinstance(op, spirv.GlobalVariableOp)
        and op.type.storage_class is spirv.StorageClass.Workgroup
    )


def _size(type_: Attribute) -> int:
    """Bytes of a scalar, vector or array in threadgroup memory; a bool takes a word."""
    match type_:
        case spirv.SpirvArrayType():
            return type_.count * (type_.stride or _size(type_.element_type))
        case VectorType():
            return prod(type_.get_shape()) * _size(type_.element_type)
        case IntegerType(width=IntAttr(data=1)):
            return 4
        case _:
            return (spirv.bit_width(type_) + 7) // 8
