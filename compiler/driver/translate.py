"""What `ingot translate` does: programs to IR, a kernel's IR to SPIR-V words and back, to MSL."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ingot.compiler.dialects import spirv
from ingot.compiler.driver.diagnostics import CompileError
from ingot.compiler.driver.pass_pipeline import module_text
from ingot.compiler.driver.reading import read_valid
from ingot.targets.profiles import PROFILES
from ingot.targets.spirv import deserialize, serialize


def serialize_text(text: str, filename: str) -> bytes:
    """The binary of the only `spirv.module` in a program; raises `CompileError` without one."""
    module = read_valid(text, filename)
    found = [op for op in module.walk() if isinstance(op, spirv.ModuleOp)]
    if len(found) != 1:
        raise CompileError(
            f"expected one spirv.module, found {len(found)}",
            "`ingot compile --emit spirv` lowers whole programs",
            filename,
        )
    return serialize(found[0])


def roundtrip_text(text: str, filename: str) -> str:
    """The only `spirv.module` of a program as it comes back from its binary."""
    return deserialize_to_text(serialize_text(text, filename))


def program_text(text: str, filename: str) -> str:
    """A program of any front end as MLIR text; raises `Refusal` for what cannot be read."""
    return module_text(read_valid(text, filename)) + "\n"


def deserialize_to_text(words: bytes) -> str:
    """The `spirv.module` of a binary as text; raises what the reader of binaries raises."""
    return module_text(ModuleOp([deserialize(words)])) + "\n"


def msl_of(words: bytes, target: str) -> str:
    """The MSL of a binary's kernel for a Metal profile; raises `CompileError` for another one."""
    from ingot.targets import pyspirv
    from ingot.targets.msl import MslOptions, cross_compile

    profile = PROFILES[target]
    if profile.msl_version is None:
        raise CompileError(f"{target} has no MSL", "choose a metal: target")
    with pyspirv.Context() as context:
        points = context.compiler(words, pyspirv.Backend.MSL).entry_points()
    name = points[0].name if points else "kernel"
    options = MslOptions(msl_version=profile.msl_version, max_buffers=profile.max_buffers)
    return cross_compile(words, kernel_name=name, options=options).text
