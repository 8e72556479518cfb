"""What can go wrong with a SPIR-V binary: a closed set of errors."""

from __future__ import annotations


class SpirvError(Exception):
    """Base of the errors of this room."""


class MalformedSpirv(SpirvError):
    """The bytes are not a SPIR-V module, or one that the `spirv` dialect cannot express."""


class InvalidSpirv(SpirvError):
    """The validator refused a module; `str` gives its sentence."""


class SpirvToolsMissing(SpirvError):
    """libSPIRV-Tools could not be found or loaded."""
