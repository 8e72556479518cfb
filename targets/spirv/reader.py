"""From words back to the `spirv` dialect.

`deserialize` decodes the instruction stream, hands the declarations to `DeclarationReader` and each
function's instructions to `FunctionReader`, which rebuilds the structured regions. Whatever is
malformed, or beyond the dialect, ends in one MalformedSpirv.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects import spirv
from ingot.targets.spirv.declaration_reader import DeclarationReader
from ingot.targets.spirv.decoding import Binary, Raw, decode, enumerant, read_string
from ingot.targets.spirv.errors import MalformedSpirv
from ingot.targets.spirv.function_reader import FunctionReader
from ingot.targets.spirv.grammar import DEBUG_OPS, Op

R = TypeVar("R")


def deserialize(binary: bytes) -> spirv.ModuleOp:
    """The module in `binary`. Raises MalformedSpirv, and nothing else, for whatever is wrong."""
    try:
        return _read(decode(binary))
    except RecursionError:
        raise MalformedSpirv("types or control flow are nested too deeply") from None


def _read(binary: Binary) -> spirv.ModuleOp:
    head, bodies = _split(binary)
    declared = DeclarationReader(binary.bound)
    for raw in head:
        _guarded(raw, declared.read)
    declared.check_workgroup_sizes()
    for body in bodies:
        _guarded(body[0], declared.read_function_header)
    functions = [_function(declared, body) for body in bodies]
    tail: list[Operation] = []
    tail += [_guarded(raw, partial(_entry_point, declared)) for raw in declared.entry_points]
    tail += [_guarded(raw, partial(_mode, declared)) for raw in declared.modes]
    ops: list[Operation] = [*declared.spec_constants.values(), *declared.globals.values()]
    return _module(binary, declared, [*ops, *functions, *tail])


def _module(binary: Binary, declared: DeclarationReader, ops: list[Operation]) -> spirv.ModuleOp:
    if declared.models is None:
        raise MalformedSpirv("there is no OpMemoryModel")
    vce = spirv.VersionCapabilitiesExtensionsAttr.get(
        binary.minor, declared.capabilities, declared.extensions
    )
    addressing, memory = declared.models
    module = spirv.ModuleOp(None, ops, vce, memory)
    module.properties["addressing_model"] = spirv.AddressingModelAttr(addressing)
    try:
        module.verify()
    except VerifyException as error:
        raise MalformedSpirv(str(error).splitlines()[0]) from None
    return module


def _split(binary: Binary) -> tuple[list[Raw], list[list[Raw]]]:
    """The instructions before the functions, and those of each function."""
    head: list[Raw] = []
    bodies: list[list[Raw]] = []
    inside = False
    for raw in binary.instructions:
        if raw.opcode in DEBUG_OPS:
            continue
        if raw.opcode == Op.Function:
            if inside:
                raise raw.error("a function inside a function")
            inside = True
            bodies.append([])
        if inside:
            bodies[-1].append(raw)
        elif bodies:
            raise raw.error("a declaration after the functions")
        else:
            head.append(raw)
        if raw.opcode == Op.FunctionEnd:
            inside = False
    if inside:
        raise MalformedSpirv("the last function does not end")
    return head, bodies


def _guarded(raw: Raw, read: Callable[[Raw], R]) -> R:
    """Read one instruction; whatever its words trip over is an error at its place."""
    try:
        return read(raw)
    except (IndexError, KeyError, ValueError, VerifyException) as error:
        detail = str(error).splitlines()
        raise raw.error(f"malformed: {detail[0] if detail else 'too few words'}") from None


def _function(declared: DeclarationReader, body: list[Raw]) -> spirv.FuncOp:
    return _guarded(body[0], lambda _: FunctionReader(declared, body).read())


def _entry_point(declared: DeclarationReader, raw: Raw) -> spirv.EntryPointOp:
    name, rest = read_string(raw, 2)
    if raw.words[1] not in declared.functions:
        raise raw.error(f"id {raw.words[1]} is not a function")
    for id in raw.words[rest:]:
        if id not in declared.globals:
            raise raw.error(f"id {id} is not a global variable")
    return spirv.EntryPointOp(name, [declared.symbol(id) for id in raw.words[rest:]])


def _mode(declared: DeclarationReader, raw: Raw) -> spirv.ExecutionModeOp:
    id, number, *values = raw.words
    mode = enumerant(raw, spirv.ExecutionMode, number)
    if id not in declared.functions:
        raise raw.error(f"id {id} is not a function")
    return spirv.ExecutionModeOp(declared.symbol(id), mode, values)
