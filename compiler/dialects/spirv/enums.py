"""SPIR-V's enumerants under their own names and numbers, and the attributes that carry them.

The names are those of the SPIR-V specification, which MLIR prints too; the numbers are the words in
a binary. Only the enumerants that a compute kernel can use are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, IntFlag
from typing import ClassVar, Generic, TypeVar

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class AddressingModel(IntEnum):
    Logical = 0
    Physical32 = 1
    Physical64 = 2
    PhysicalStorageBuffer64 = 5348


class MemoryModel(IntEnum):
    Simple = 0
    GLSL450 = 1
    OpenCL = 2
    Vulkan = 3


class ExecutionModel(IntEnum):
    GLCompute = 5


class ExecutionMode(IntEnum):
    """Modes of an entry point; each is followed by the literals the specification gives it."""

    ContractionOff = 31
    LocalSize = 17
    DenormPreserve = 4459
    DenormFlushToZero = 4460
    SignedZeroInfNanPreserve = 4461
    RoundingModeRTE = 4462
    RoundingModeRTZ = 4463


class StorageClass(IntEnum):
    UniformConstant = 0
    Input = 1
    Uniform = 2
    Output = 3
    Workgroup = 4
    CrossWorkgroup = 5
    Private = 6
    Function = 7
    Generic = 8
    PushConstant = 9
    StorageBuffer = 12


class Scope(IntEnum):
    CrossDevice = 0
    Device = 1
    Workgroup = 2
    Subgroup = 3
    Invocation = 4
    QueueFamily = 5


class GroupOperation(IntEnum):
    Reduce = 0
    InclusiveScan = 1
    ExclusiveScan = 2
    ClusteredReduce = 3


class BuiltIn(IntEnum):
    NumWorkgroups = 24
    WorkgroupSize = 25
    WorkgroupId = 26
    LocalInvocationId = 27
    GlobalInvocationId = 28
    LocalInvocationIndex = 29
    SubgroupSize = 36
    NumSubgroups = 38
    SubgroupId = 40
    SubgroupLocalInvocationId = 41


class Decoration(IntEnum):
    RelaxedPrecision = 0
    SpecId = 1
    Block = 2
    ArrayStride = 6
    BuiltIn = 11
    Restrict = 19
    Aliased = 20
    Volatile = 21
    Coherent = 23
    NonWritable = 24
    NonReadable = 25
    Binding = 33
    DescriptorSet = 34
    Offset = 35
    NoContraction = 42


class CooperativeMatrixUse(IntEnum):
    MatrixA = 0
    MatrixB = 1
    MatrixAcc = 2


class CooperativeMatrixLayout(IntEnum):
    RowMajor = 0
    ColumnMajor = 1


class FunctionControl(IntFlag):
    Inline = 1
    DontInline = 2
    Pure = 4
    Const = 8


class SelectionControl(IntFlag):
    Flatten = 1
    DontFlatten = 2


class LoopControl(IntFlag):
    Unroll = 1
    DontUnroll = 2


class MemoryAccess(IntFlag):
    Volatile = 1
    Aligned = 2
    Nontemporal = 4
    NonPrivatePointer = 32


class MemorySemantics(IntFlag):
    Acquire = 2
    Release = 4
    AcquireRelease = 8
    SequentiallyConsistent = 16
    UniformMemory = 64
    SubgroupMemory = 128
    WorkgroupMemory = 256
    CrossWorkgroupMemory = 512
    AtomicCounterMemory = 1024
    ImageMemory = 2048
    MakeAvailable = 8192
    MakeVisible = 16384


class Capability(IntEnum):
    Matrix = 0
    Shader = 1
    Vector16 = 7
    Float16 = 9
    Float64 = 10
    Int64 = 11
    Int64Atomics = 12
    Int16 = 22
    Int8 = 39
    GroupNonUniform = 61
    GroupNonUniformVote = 62
    GroupNonUniformArithmetic = 63
    GroupNonUniformBallot = 64
    GroupNonUniformShuffle = 65
    GroupNonUniformShuffleRelative = 66
    GroupNonUniformClustered = 67
    GroupNonUniformQuad = 68
    StorageBuffer16BitAccess = 4433
    UniformAndStorageBuffer16BitAccess = 4434
    StoragePushConstant16 = 4435
    VariablePointersStorageBuffer = 4441
    VariablePointers = 4442
    StorageBuffer8BitAccess = 4448
    UniformAndStorageBuffer8BitAccess = 4449
    StoragePushConstant8 = 4450
    DenormPreserve = 4464
    DenormFlushToZero = 4465
    SignedZeroInfNanPreserve = 4466
    RoundingModeRTE = 4467
    RoundingModeRTZ = 4468
    VulkanMemoryModel = 5345
    VulkanMemoryModelDeviceScope = 5346
    AtomicFloat32MinMaxEXT = 5612
    AtomicFloat64MinMaxEXT = 5613
    AtomicFloat16MinMaxEXT = 5616
    AtomicFloat32AddEXT = 6033
    AtomicFloat64AddEXT = 6034
    AtomicFloat16AddEXT = 6095
    CooperativeMatrixKHR = 6022
    BFloat16TypeKHR = 5116
    BFloat16CooperativeMatrixKHR = 5118


E = TypeVar("E", bound=IntEnum)
F = TypeVar("F", bound=IntFlag)


class EnumerantAttr(Data[E], Generic[E]):
    """One enumerant, printed `<Name>`."""

    ENUM: ClassVar[type[IntEnum]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> E:
        with parser.in_angle_brackets():
            return parse_enumerant(parser, cls.ENUM)  # pyright: ignore[reportReturnType]

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.name)


class FlagsAttr(Data[F], Generic[F]):
    """A set of bits, printed `<A|B>`, or `<None>` when it is empty."""

    ENUM: ClassVar[type[IntFlag]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> F:
        with parser.in_angle_brackets():
            return parse_flags(parser, cls.ENUM)  # pyright: ignore[reportReturnType]

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(flag_names(self.data))


def flag_names(flags: IntFlag) -> str:
    """The set bits in the specification's order: `Acquire|UniformMemory`, or `None`."""
    return "|".join(str(f.name) for f in type(flags) if f in flags) or "None"


def parse_enumerant(parser: AttrParser, enum: type[IntEnum]) -> IntEnum:
    """Parse one bare name of `enum`; the error lists the names there are."""
    position = parser.pos
    name = parser.parse_identifier()
    return _member(parser, enum, name, position)


def parse_flags(parser: AttrParser, enum: type[IntFlag]) -> IntFlag:
    """Parse names of `enum` joined by `|`."""
    position = parser.pos
    names = [parser.parse_identifier()]
    while parser.parse_optional_punctuation("|"):
        names.append(parser.parse_identifier())
    return flags_named(parser, enum, names, position)


def flags_named(
    parser: AttrParser, enum: type[IntFlag], names: Sequence[str], position: int
) -> IntFlag:
    """The union of the bits that `names` spell; `None` spells no bit."""
    value = enum(0)
    for name in names:
        if name != "None":
            value |= _member(parser, enum, name, position)
    return value


M = TypeVar("M", bound="IntEnum | IntFlag")


def _member(parser: AttrParser, enum: type[M], name: str, position: int) -> M:
    if name not in enum.__members__:
        known = ", ".join(enum.__members__)
        parser.raise_error(f"'{name}' is not a {enum.__name__}; known are {known}", position)
    return enum[name]


@irdl_attr_definition
class AddressingModelAttr(EnumerantAttr[AddressingModel]):
    name = "spirv.addressing_model"
    ENUM = AddressingModel


@irdl_attr_definition
class MemoryModelAttr(EnumerantAttr[MemoryModel]):
    name = "spirv.memory_model"
    ENUM = MemoryModel


@irdl_attr_definition
class ExecutionModelAttr(EnumerantAttr[ExecutionModel]):
    name = "spirv.execution_model"
    ENUM = ExecutionModel


@irdl_attr_definition
class ExecutionModeAttr(EnumerantAttr[ExecutionMode]):
    name = "spirv.execution_mode"
    ENUM = ExecutionMode


@irdl_attr_definition
class StorageClassAttr(EnumerantAttr[StorageClass]):
    name = "spirv.storage_class"
    ENUM = StorageClass


@irdl_attr_definition
class ScopeAttr(EnumerantAttr[Scope]):
    name = "spirv.scope"
    ENUM = Scope


@irdl_attr_definition
class GroupOperationAttr(EnumerantAttr[GroupOperation]):
    name = "spirv.group_operation"
    ENUM = GroupOperation


@irdl_attr_definition
class DecorationAttr(EnumerantAttr[Decoration]):
    name = "spirv.decoration"
    ENUM = Decoration


@irdl_attr_definition
class CooperativeMatrixUseAttr(EnumerantAttr[CooperativeMatrixUse]):
    name = "spirv.coop_matrix_use_khr"
    ENUM = CooperativeMatrixUse


@irdl_attr_definition
class CooperativeMatrixLayoutAttr(EnumerantAttr[CooperativeMatrixLayout]):
    name = "spirv.coop_matrix_layout_khr"
    ENUM = CooperativeMatrixLayout


@irdl_attr_definition
class FunctionControlAttr(FlagsAttr[FunctionControl]):
    name = "spirv.function_control"
    ENUM = FunctionControl


@irdl_attr_definition
class SelectionControlAttr(FlagsAttr[SelectionControl]):
    name = "spirv.selection_control"
    ENUM = SelectionControl


@irdl_attr_definition
class LoopControlAttr(FlagsAttr[LoopControl]):
    name = "spirv.loop_control"
    ENUM = LoopControl


@irdl_attr_definition
class MemoryAccessAttr(FlagsAttr[MemoryAccess]):
    name = "spirv.memory_access"
    ENUM = MemoryAccess


@irdl_attr_definition
class MemorySemanticsAttr(FlagsAttr[MemorySemantics]):
    name = "spirv.memory_semantics"
    ENUM = MemorySemantics


@irdl_attr_definition
class CapabilityAttr(EnumerantAttr[Capability]):
    name = "spirv.capability"
    ENUM = Capability


@irdl_attr_definition
class VersionCapabilitiesExtensionsAttr(ParametrizedAttribute):
    """`#spirv.vce<v1.3, [Shader], [SPV_KHR_storage_buffer_storage_class]>`: what a module needs."""

    name = "spirv.vce"

    minor: IntAttr = param_def()
    capability_list: ArrayAttr[CapabilityAttr] = param_def()
    extension_list: ArrayAttr[StringAttr] = param_def()

    @classmethod
    def get(
        cls, minor: int, capabilities: Sequence[Capability], extensions: Sequence[str]
    ) -> VersionCapabilitiesExtensionsAttr:
        """SPIR-V version 1.`minor`, and what it needs, in the order it is declared."""
        return cls(
            IntAttr(minor),
            ArrayAttr([CapabilityAttr(c) for c in capabilities]),
            ArrayAttr([StringAttr(e) for e in extensions]),
        )

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        return tuple(c.data for c in self.capability_list)

    @property
    def extensions(self) -> tuple[str, ...]:
        return tuple(e.data for e in self.extension_list)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            version = parser.parse_identifier()
            if version not in {f"v1.{minor}" for minor in range(7)}:
                parser.raise_error("expected a SPIR-V version from v1.0 to v1.6", position)
            parser.parse_punctuation(",")
            capabilities = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_enumerant(parser, Capability)
            )
            parser.parse_punctuation(",")
            extensions = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_identifier
            )
        return (
            IntAttr(int(version[3:])),
            ArrayAttr([CapabilityAttr(Capability(c)) for c in capabilities]),
            ArrayAttr([StringAttr(e) for e in extensions]),
        )

    def print_parameters(self, printer: Printer) -> None:
        capabilities = ", ".join(c.name for c in self.capabilities)
        extensions = ", ".join(self.extensions)
        printer.print_string(f"<v1.{self.minor.data}, [{capabilities}], [{extensions}]>")


ATTRIBUTES: list[type[Attribute]] = [
    AddressingModelAttr,
    MemoryModelAttr,
    ExecutionModelAttr,
    ExecutionModeAttr,
    StorageClassAttr,
    ScopeAttr,
    GroupOperationAttr,
    DecorationAttr,
    CooperativeMatrixUseAttr,
    CooperativeMatrixLayoutAttr,
    FunctionControlAttr,
    SelectionControlAttr,
    LoopControlAttr,
    MemoryAccessAttr,
    MemorySemanticsAttr,
    CapabilityAttr,
    VersionCapabilitiesExtensionsAttr,
]
