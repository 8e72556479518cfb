"""SPIRV-Cross's C API for Python, bound with ctypes; needs nothing but the shared library.

    from ingot.targets import pyspirv

    with pyspirv.Context() as context:
        compiler = context.compiler(spirv, pyspirv.Backend.MSL)
        compiler.install({pyspirv.Option.MSL_VERSION: pyspirv.msl_version(3, 1)})
        compiler.add_msl_resource_binding(pyspirv.MslResourceBinding(0, 0, msl_buffer=0))
        text = compiler.compile()

One class for each concept of the C API. The context owns all memory; what is made from it keeps it
alive. Works with SPIRV-Cross 1.3.239 (C API 0.54) and later.
"""

from .compiler import Compiler, EntryPoint, MslResourceBinding
from .context import Context, ParsedIR
from .enums import (
    ARGUMENT_BUFFER_BINDING,
    PUSH_CONSTANT_BINDING,
    PUSH_CONSTANT_DESCRIPTOR_SET,
    Backend,
    BaseType,
    CaptureMode,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    MslPlatform,
    Option,
    ResourceType,
    StorageClass,
    msl_version,
)
from .errors import (
    ClosedError,
    InvalidArgument,
    InvalidSpirv,
    LibraryNotFound,
    SpirvCrossError,
    UnsupportedSpirv,
    UnsupportedVersion,
)
from .library import ENVIRONMENT_VARIABLE, INSTALL_HINT, Library, Version, load
from .options import Options
from .resources import Builtin, Resource, Resources, Type

__all__ = [
    "ARGUMENT_BUFFER_BINDING",
    "ENVIRONMENT_VARIABLE",
    "INSTALL_HINT",
    "PUSH_CONSTANT_BINDING",
    "PUSH_CONSTANT_DESCRIPTOR_SET",
    "Backend",
    "BaseType",
    "Builtin",
    "CaptureMode",
    "ClosedError",
    "Compiler",
    "Context",
    "Decoration",
    "EntryPoint",
    "ExecutionMode",
    "ExecutionModel",
    "InvalidArgument",
    "InvalidSpirv",
    "Library",
    "LibraryNotFound",
    "MslPlatform",
    "MslResourceBinding",
    "Option",
    "Options",
    "ParsedIR",
    "Resource",
    "ResourceType",
    "Resources",
    "SpirvCrossError",
    "StorageClass",
    "Type",
    "UnsupportedSpirv",
    "UnsupportedVersion",
    "Version",
    "load",
    "msl_version",
]
