"""Everything that `pyspirv` raises."""

from __future__ import annotations


class SpirvCrossError(Exception):
    """SPIRV-Cross refused something; the message is its own."""


class InvalidSpirv(SpirvCrossError):
    """The words are not SPIR-V, or not valid SPIR-V."""


class UnsupportedSpirv(SpirvCrossError):
    """Valid SPIR-V that SPIRV-Cross cannot express in the language asked for."""


class InvalidArgument(SpirvCrossError):
    """An argument that SPIRV-Cross rejects, among them options that this version lacks."""


class ClosedError(SpirvCrossError):
    """The context that owned this object has been closed."""


class LibraryNotFound(SpirvCrossError):
    """No SPIRV-Cross on this machine; the message says how to install it."""


class UnsupportedVersion(SpirvCrossError):
    """A library was loaded, but it is not a SPIRV-Cross C API that this binding knows."""
