"""The enumerations of SPIRV-Cross's C API that compute kernels need.

The values are part of its ABI and never change; later versions only add members. Values of the
SPIR-V specification (decorations, builtins, execution modes) are those of the specification.
"""

from __future__ import annotations

from enum import IntEnum


class Result(IntEnum):
    """What every fallible call of the C API returns."""

    SUCCESS = 0
    INVALID_SPIRV = -1
    UNSUPPORTED_SPIRV = -2
    OUT_OF_MEMORY = -3
    INVALID_ARGUMENT = -4


class Backend(IntEnum):
    """The language a compiler writes."""

    REFLECTION = 0
    """None: the compiler only reflects."""
    GLSL = 1
    HLSL = 2
    MSL = 3
    CPP = 4
    JSON = 5


class CaptureMode(IntEnum):
    """Whether a compiler copies the parsed module or takes it."""

    COPY = 0
    TAKE_OWNERSHIP = 1


class ResourceType(IntEnum):
    """Kinds of resources that reflection lists."""

    UNIFORM_BUFFER = 1
    STORAGE_BUFFER = 2
    STAGE_INPUT = 3
    STAGE_OUTPUT = 4
    STORAGE_IMAGE = 6
    SAMPLED_IMAGE = 7
    PUSH_CONSTANT = 9
    SEPARATE_IMAGE = 10
    SEPARATE_SAMPLERS = 11


class BaseType(IntEnum):
    """The element type of scalars, vectors and arrays."""

    UNKNOWN = 0
    VOID = 1
    BOOLEAN = 2
    INT8 = 3
    UINT8 = 4
    INT16 = 5
    UINT16 = 6
    INT32 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    ATOMIC_COUNTER = 11
    FP16 = 12
    FP32 = 13
    FP64 = 14
    STRUCT = 15
    IMAGE = 16
    SAMPLED_IMAGE = 17
    SAMPLER = 18
    ACCELERATION_STRUCTURE = 19


class ExecutionModel(IntEnum):
    """The kind of an entry point."""

    VERTEX = 0
    FRAGMENT = 4
    GLCOMPUTE = 5
    KERNEL = 6


class ExecutionMode(IntEnum):
    """Properties of an entry point."""

    LOCAL_SIZE = 17
    LOCAL_SIZE_ID = 38
    CONTRACTION_OFF = 31
    SIGNED_ZERO_INF_NAN_PRESERVE = 4461


class Decoration(IntEnum):
    """Decorations that a binding or a caller reads and writes."""

    SPEC_ID = 1
    BLOCK = 2
    ARRAY_STRIDE = 6
    BUILTIN = 11
    RESTRICT = 19
    ALIASED = 20
    VOLATILE = 21
    COHERENT = 23
    NON_WRITABLE = 24
    NON_READABLE = 25
    BINDING = 33
    DESCRIPTOR_SET = 34
    OFFSET = 35
    NO_CONTRACTION = 42


class StorageClass(IntEnum):
    """Where a variable lives."""

    UNIFORM_CONSTANT = 0
    INPUT = 1
    UNIFORM = 2
    OUTPUT = 3
    WORKGROUP = 4
    PRIVATE = 6
    FUNCTION = 7
    PUSH_CONSTANT = 9
    STORAGE_BUFFER = 12


_COMMON, _GLSL, _MSL = 0x1000000, 0x2000000, 0x8000000


class Option(IntEnum):
    """Compiler options; a version that lacks one raises `InvalidArgument` when it is set."""

    FORCE_TEMPORARY = 1 | _COMMON
    EMIT_LINE_DIRECTIVES = 37 | _COMMON
    FORCE_ZERO_INITIALIZED_VARIABLES = 54 | _COMMON
    RELAX_NAN_CHECKS = 78 | _COMMON

    GLSL_SEPARATE_SHADER_OBJECTS = 6 | _GLSL
    GLSL_VERSION = 8 | _GLSL
    GLSL_ES = 9 | _GLSL
    GLSL_VULKAN_SEMANTICS = 10 | _GLSL

    MSL_VERSION = 17 | _MSL
    MSL_SWIZZLE_BUFFER_INDEX = 19 | _MSL
    MSL_INDIRECT_PARAMS_BUFFER_INDEX = 20 | _MSL
    MSL_SHADER_OUTPUT_BUFFER_INDEX = 21 | _MSL
    MSL_PLATFORM = 31 | _MSL
    MSL_ARGUMENT_BUFFERS = 32 | _MSL
    MSL_BUFFER_SIZE_BUFFER_INDEX = 36 | _MSL
    MSL_DISPATCH_BASE = 42 | _MSL
    MSL_DYNAMIC_OFFSETS_BUFFER_INDEX = 43 | _MSL
    MSL_INVARIANT_FP_MATH = 47 | _MSL
    MSL_ENABLE_DECORATION_BINDING = 49 | _MSL
    MSL_FORCE_ACTIVE_ARGUMENT_BUFFER_RESOURCES = 50 | _MSL
    MSL_FORCE_NATIVE_ARRAYS = 51 | _MSL
    MSL_IOS_USE_SIMDGROUP_FUNCTIONS = 72 | _MSL
    MSL_EMULATE_SUBGROUPS = 73 | _MSL
    MSL_FIXED_SUBGROUP_SIZE = 74 | _MSL
    MSL_ARGUMENT_BUFFERS_TIER = 84 | _MSL


class MslPlatform(IntEnum):
    """Value of `Option.MSL_PLATFORM`."""

    IOS = 0
    MACOS = 1


PUSH_CONSTANT_DESCRIPTOR_SET = 0xFFFFFFFF
"""The `descriptor_set` that stands for the push constants in an MSL resource binding."""
PUSH_CONSTANT_BINDING = 0
ARGUMENT_BUFFER_BINDING = 0xFFFFFFFC
"""The `binding` that stands for a descriptor set's own argument buffer."""


def msl_version(major: int, minor: int = 0, patch: int = 0) -> int:
    """The value of `Option.MSL_VERSION`: MSL 3.1 is 30100."""
    return major * 10000 + minor * 100 + patch
