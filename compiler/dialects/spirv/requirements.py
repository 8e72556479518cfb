"""What a module must declare: version, capabilities and extensions, from what it uses.

Rules: the capability column of each instruction (`base.Instruction`), and for types SPIR-V's
section 2.16 and the 8- and 16-bit storage extensions: a narrow type that is only loaded, stored and
converted needs a storage capability, any other use the type's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from ingot.compiler.dialects.spirv.atomic import AtomicFAddOp, AtomicOp
from ingot.compiler.dialects.spirv.base import SpirvOp
from ingot.compiler.dialects.spirv.enums import (
    Capability,
    ExecutionMode,
    GroupOperation,
    MemoryModel,
    StorageClass,
    VersionCapabilitiesExtensionsAttr,
)
from ingot.compiler.dialects.spirv.group import GroupReduceOp
from ingot.compiler.dialects.spirv.structure import (
    ExecutionModeOp,
    GlobalVariableOp,
    ModuleOp,
)
from ingot.compiler.dialects.spirv.types import (
    CooperativeMatrixType,
    PointerType,
    RuntimeArrayType,
    SpirvArrayType,
    StructType,
    bit_width,
    is_boolean,
    scalar_of,
)

DEFAULT_MINOR = 3
"""SPIR-V 1.3 is what Vulkan 1.1 takes."""

_STORAGE_CAPABILITIES = {
    (StorageClass.StorageBuffer, 8): Capability.StorageBuffer8BitAccess,
    (StorageClass.StorageBuffer, 16): Capability.StorageBuffer16BitAccess,
    (StorageClass.Uniform, 8): Capability.UniformAndStorageBuffer8BitAccess,
    (StorageClass.Uniform, 16): Capability.UniformAndStorageBuffer16BitAccess,
    (StorageClass.PushConstant, 8): Capability.StoragePushConstant8,
    (StorageClass.PushConstant, 16): Capability.StoragePushConstant16,
}

_STORAGE_ONLY = frozenset(
    f"spirv.{name}"
    for name in (
        "Load",
        "Store",
        "AccessChain",
        "mlir.addressof",
        "FConvert",
        "UConvert",
        "SConvert",
    )
)
"""Ops on which a narrow type needs no more than its storage capability."""

_ATOMIC_FADD = {
    16: (Capability.AtomicFloat16AddEXT, "SPV_EXT_shader_atomic_float16_add"),
    32: (Capability.AtomicFloat32AddEXT, "SPV_EXT_shader_atomic_float_add"),
    64: (Capability.AtomicFloat64AddEXT, "SPV_EXT_shader_atomic_float_add"),
}

_MODE_CAPABILITIES = {
    ExecutionMode.DenormPreserve: Capability.DenormPreserve,
    ExecutionMode.DenormFlushToZero: Capability.DenormFlushToZero,
    ExecutionMode.SignedZeroInfNanPreserve: Capability.SignedZeroInfNanPreserve,
    ExecutionMode.RoundingModeRTE: Capability.RoundingModeRTE,
    ExecutionMode.RoundingModeRTZ: Capability.RoundingModeRTZ,
}

_DIFFERING = (GlobalVariableOp, ExecutionModeOp, AtomicFAddOp, AtomicOp, GroupReduceOp)
"""Ops whose own properties decide what they need."""

_SUBGROUP_BUILT_INS = frozenset(
    {"SubgroupId", "SubgroupSize", "NumSubgroups", "SubgroupLocalInvocationId"}
)

_EXTENSIONS: dict[Capability, tuple[str, int]] = {
    Capability.VulkanMemoryModel: ("SPV_KHR_vulkan_memory_model", 5),
    **dict.fromkeys(_MODE_CAPABILITIES.values(), ("SPV_KHR_float_controls", 4)),
    **{
        capability: ("SPV_KHR_8bit_storage", 5) if width == 8 else ("SPV_KHR_16bit_storage", 3)
        for (_, width), capability in _STORAGE_CAPABILITIES.items()
    },
}
"""The extension that brings a capability, and the version 1.x from which it is not needed."""

IMPLIED: dict[Capability, tuple[Capability, ...]] = {
    Capability.Shader: (Capability.Matrix,),
    Capability.Int64Atomics: (Capability.Int64,),
    Capability.GroupNonUniformVote: (Capability.GroupNonUniform,),
    Capability.GroupNonUniformArithmetic: (Capability.GroupNonUniform,),
    Capability.GroupNonUniformBallot: (Capability.GroupNonUniform,),
    Capability.GroupNonUniformShuffle: (Capability.GroupNonUniform,),
    Capability.GroupNonUniformShuffleRelative: (Capability.GroupNonUniform,),
    Capability.GroupNonUniformClustered: (Capability.GroupNonUniform,),
    Capability.GroupNonUniformQuad: (Capability.GroupNonUniform,),
    Capability.UniformAndStorageBuffer16BitAccess: (Capability.StorageBuffer16BitAccess,),
    Capability.UniformAndStorageBuffer8BitAccess: (Capability.StorageBuffer8BitAccess,),
    Capability.VariablePointers: (Capability.VariablePointersStorageBuffer,),
}
"""Capabilities that come with another one and need not be declared beside it."""


def required_vce(module: ModuleOp, minor: int = DEFAULT_MINOR) -> VersionCapabilitiesExtensionsAttr:
    """The version 1.`minor` and the fewest capabilities and extensions that `module` needs.

    Both lists are sorted (capabilities by number), so equal modules give equal lists.
    """
    collector = _Collector(minor)
    if module.memory_model.data is MemoryModel.Vulkan:
        collector.require(Capability.VulkanMemoryModel)
    for op in module.walk():
        collector.visit(op)
    capabilities = collector.finish()
    implied = {i for c in capabilities for i in IMPLIED.get(c, ())}
    return VersionCapabilitiesExtensionsAttr.get(
        minor, sorted(capabilities - implied), sorted(collector.extensions)
    )


def computed_float_widths(module: ModuleOp) -> list[int]:
    """The IEEE widths, in bits and sorted, that `module` computes in, not only loads and stores."""
    widths: set[int] = set()
    for op in module.walk():
        if op.name in _STORAGE_ONLY:
            continue
        for value in (*op.operands, *op.results):
            scalar = scalar_of(value.type)
            if isinstance(scalar, Float16Type | Float32Type | Float64Type):
                widths.add(bit_width(scalar))
    return sorted(widths)


class _Collector:
    """Gathers requirements op by op; each type is looked at once for each kind of use."""

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self.capabilities: set[Capability] = {Capability.Shader}
        self.extensions: set[str] = set()
        self._seen: set[tuple[Attribute, bool]] = set()
        self._seen_objects: set[tuple[int, bool]] = set()
        """Identities of types that were looked at; comparing them costs more than the rest."""
        self._plain: set[type[Operation]] = set()
        """Classes of ops that were looked at, and of which no two need different things."""
        self._stored: set[Attribute] = set()
        """Narrow scalar types that are only loaded, stored and converted."""

    def require(self, capability: Capability) -> None:
        self.capabilities.add(capability)
        extension, core_from = _EXTENSIONS.get(capability, ("", 0))
        if self.minor < core_from:
            self.extensions.add(extension)

    def finish(self) -> set[Capability]:
        """The capabilities; a narrow type that no buffer holds needs its own after all."""
        storage_widths = {
            width for (_, width), c in _STORAGE_CAPABILITIES.items() if c in self.capabilities
        }
        for type in self._stored:
            if bit_width(type) not in storage_widths:
                self._scalar(type, computed=True)
        return self.capabilities

    def visit(self, op: Operation) -> None:
        if type(op) not in self._plain:
            self._op(op)
            if isinstance(op, SpirvOp) and not isinstance(op, _DIFFERING):
                self._plain.add(type(op))
        computed = op.name not in _STORAGE_ONLY
        for value in (*op.operands, *op.results):
            self.type(value.type, computed)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    self.type(argument.type, computed=True)

    def _op(self, op: Operation) -> None:
        """Require what the op itself needs, whatever its types are."""
        match op:
            case GlobalVariableOp():
                self.type(op.type, computed=True)
                if op.built_in is not None and op.built_in.data in _SUBGROUP_BUILT_INS:
                    self.require(Capability.GroupNonUniform)
                if op.type.storage_class is StorageClass.StorageBuffer and self.minor < 3:
                    self.extensions.add("SPV_KHR_storage_buffer_storage_class")
            case ExecutionModeOp():
                capability = _MODE_CAPABILITIES.get(op.execution_mode.data)
                if capability is not None:
                    self.require(capability)
            case SpirvOp():
                self._instruction(op)
            case _:
                pass

    def _instruction(self, op: SpirvOp) -> None:
        if isinstance(op, AtomicFAddOp):
            capability, extension = _ATOMIC_FADD[bit_width(op.results[0].type)]
            self.require(capability)
            self.extensions.add(extension)
            return
        if isinstance(op, AtomicOp) and bit_width(op.results[0].type) == 64:
            self.require(Capability.Int64Atomics)
        if (
            isinstance(op, GroupReduceOp)
            and op.group_operation.data is GroupOperation.ClusteredReduce
        ):
            self.require(Capability.GroupNonUniformClustered)
            return
        info = getattr(type(op), "INFO", None)
        if info is not None:
            for capability in info.capabilities:
                self.require(capability)
            self.extensions.update(info.extensions)

    def type(self, type: Attribute, computed: bool) -> None:
        """Require what `type` needs; `computed` where it is more than loaded and stored."""
        if (id(type), computed) in self._seen_objects:
            return
        self._seen_objects.add((id(type), computed))
        if (type, computed) in self._seen:
            return
        self._seen.add((type, computed))
        match type:
            case PointerType():
                self._pointer(type, computed)
            case CooperativeMatrixType():
                self.require(Capability.CooperativeMatrixKHR)
                self.extensions.add("SPV_KHR_cooperative_matrix")
                if isinstance(type.element_type, BFloat16Type):
                    self.require(Capability.BFloat16CooperativeMatrixKHR)
                self.type(type.element_type, computed)
            case _:
                for scalar in _scalars(type):
                    self._scalar(scalar, computed)

    def _pointer(self, type: PointerType, computed: bool) -> None:
        laid_out = {c for c, _ in _STORAGE_CAPABILITIES}
        if type.storage_class not in laid_out:
            self.type(type.pointee, computed=True)
            return
        for scalar in _scalars(type.pointee):
            width = bit_width(scalar)
            if width in (8, 16):
                self.require(_STORAGE_CAPABILITIES[type.storage_class, width])
            else:
                self._scalar(scalar, computed)

    def _scalar(self, type: Attribute, computed: bool) -> None:
        if not computed and not is_boolean(type) and bit_width(type) in (8, 16):
            self._stored.add(type)
            return
        match type:
            case IntegerType():
                capability = {
                    8: Capability.Int8,
                    16: Capability.Int16,
                    64: Capability.Int64,
                }.get(type.width.data)
            case Float16Type():
                capability = Capability.Float16
            case BFloat16Type():
                capability = Capability.BFloat16TypeKHR
                self.extensions.add("SPV_KHR_bfloat16")
            case Float64Type():
                capability = Capability.Float64
            case _:
                capability = None
        if capability is not None:
            self.require(capability)


def _scalars(type: Attribute) -> Iterable[Attribute]:
    """The scalar types that a composite is made of."""
    match type:
        case VectorType() | SpirvArrayType() | RuntimeArrayType():
            yield from _scalars(type.element_type)
        case StructType():
            for member in type.members:
                yield from _scalars(member)
        case _:
            yield type
