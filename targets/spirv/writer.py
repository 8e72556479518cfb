"""From the `spirv` dialect to words.

The globals first, then each function (`function_writer`), then what names them; types, constants
and names gather in `declaration_writer` on the way. Ids are given out in that order.
"""

from __future__ import annotations

import sys
from array import array

from xdsl.dialects.builtin import (
    i1,
)
from xdsl.ir import Operation

from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import required_vce
from ingot.targets.spirv.declaration_writer import Declarations, Symbols, literal_word, scalar_words
from ingot.targets.spirv.function_writer import FunctionWriter
from ingot.targets.spirv.grammar import (
    GENERATOR,
    GLSL_SET,
    MAGIC,
    Op,
    string_words,
)


def serialize(module: spirv.ModuleOp) -> bytes:
    """The binary of `module`, little-endian; equal modules give equal bytes.

    The version, capabilities and extensions are those of the module's `#spirv.vce` and, after
    them, whatever else the module uses. Raises Refusal for what SPIR-V cannot express.
    """
    return ModuleWriter(module).write()


def serialize_with_origins(module: spirv.ModuleOp) -> tuple[bytes, tuple[Operation | None, ...]]:
    """What `serialize` writes, and for each of its instructions the op that it was written for.

    None where it is no op's own: types, constants, names.
    """
    writer = ModuleWriter(module, {})
    return writer.write(), writer.origins


class ModuleWriter:
    def __init__(
        self, module: spirv.ModuleOp, ops_of_code: dict[int, Operation] | None = None
    ) -> None:
        self.module = module
        self.ops_of_code = ops_of_code
        self.origins: tuple[Operation | None, ...] = ()
        self.declarations = Declarations(module)
        self.symbols = Symbols(self.declarations)

    def write(self) -> bytes:
        ops = list(self.module.body.block.ops)
        for op in ops:
            self.declarations.here = op
            if isinstance(op, spirv.SpecConstantOp):
                self._spec_constant(op)
            elif isinstance(op, spirv.GlobalVariableOp):
                self._global_variable(op)
        functions = FunctionWriter(self.declarations, self.symbols, self.ops_of_code)
        for op in ops:
            if isinstance(op, spirv.FuncOp):
                functions.write(op)
        entry_points = [self._entry_point(op) for op in ops if isinstance(op, spirv.EntryPointOp)]
        modes = [self._mode(op) for op in ops if isinstance(op, spirv.ExecutionModeOp)]
        return self._assemble(functions, entry_points, modes)

    def _assemble(
        self, functions: FunctionWriter, entry_points: list[list[int]], modes: list[list[int]]
    ) -> bytes:
        declarations = self.declarations
        vce = declared_vce(self.module)
        code: list[list[int]] = [[Op.Capability, c] for c in vce.capabilities]
        code += [[Op.Extension, *string_words(e)] for e in vce.extensions]
        if functions.glsl is not None:
            code.append([Op.ExtInstImport, functions.glsl, *string_words(GLSL_SET)])
        models = self.module.addressing_model.data, self.module.memory_model.data
        code.append([Op.MemoryModel, *models])
        for section in (
            entry_points,
            modes,
            declarations.debug_code(),
            declarations.annotations,
            declarations.code,
            functions.code,
        ):
            code += section
        if self.ops_of_code is not None:
            self.origins = tuple(self.ops_of_code.get(id(instruction)) for instruction in code)
        words = array("I", (MAGIC, 1 << 16 | vce.minor.data << 8, GENERATOR, declarations.bound, 0))
        for instruction in code:
            words.append(len(instruction) << 16 | instruction[0])
            words.extend(instruction[1:])
        if sys.byteorder == "big":
            words.byteswap()
        return words.tobytes()

    def _spec_constant(self, op: spirv.SpecConstantOp) -> None:
        found = spirv.number_of(op.default_value)
        assert found is not None, "verified"
        number, scalar = found
        type, id = self.declarations.type(scalar), self.symbols.id(op.sym_name.data)
        if scalar == i1:
            opcode = Op.SpecConstantTrue if number else Op.SpecConstantFalse
            self.declarations.code.append([opcode, type, id])
        else:
            words = scalar_words(number, scalar)
            self.declarations.code.append([Op.SpecConstant, type, id, *words])
        if op.spec_id is not None:
            self.declarations.decorate(id, spirv.Decoration.SpecId, literal_word(op.spec_id))

    def _global_variable(self, op: spirv.GlobalVariableOp) -> None:
        declarations = self.declarations
        type = declarations.type(op.type)
        words = [op.type.storage_class.value]
        if op.initializer is not None:
            words.append(self.symbols.referenced(op.initializer, op))
        id = self.symbols.id(op.sym_name.data)
        declarations.code.append([Op.Variable, type, id, *words])
        if op.descriptor_set is not None and op.binding is not None:
            set_number, binding = literal_word(op.descriptor_set), literal_word(op.binding)
            declarations.decorate(id, spirv.Decoration.DescriptorSet, set_number)
            declarations.decorate(id, spirv.Decoration.Binding, binding)
        if op.built_in is not None:
            built_in = spirv.BuiltIn[op.built_in.data]
            declarations.decorate(id, spirv.Decoration.BuiltIn, built_in)
        self.declarations.decorate_op(op, id)

    def _entry_point(self, op: spirv.EntryPointOp) -> list[int]:
        name = op.fn.root_reference.data
        interface = [self.symbols.referenced(symbol, op) for symbol in op.interface]
        words = [self.symbols.referenced(op.fn, op), *string_words(name), *interface]
        return [Op.EntryPoint, op.execution_model.data, *words]

    def _mode(self, op: spirv.ExecutionModeOp) -> list[int]:
        values = [literal_word(value) for value in op.values]
        return [
            Op.ExecutionMode,
            self.symbols.referenced(op.fn, op),
            op.execution_mode.data,
            *values,
        ]


def declared_vce(module: spirv.ModuleOp) -> spirv.VersionCapabilitiesExtensionsAttr:
    """What the module's `#spirv.vce` declares, and after it what it forgot."""
    given = module.vce_triple
    if given is None:
        return required_vce(module)
    needed = required_vce(module, given.minor.data)
    capabilities = list(given.capabilities)
    known = set(capabilities)
    for capability in capabilities:
        known.update(spirv.IMPLIED.get(capability, ()))
    capabilities += [c for c in needed.capabilities if c not in known]
    extensions = list(given.extensions)
    extensions += [e for e in needed.extensions if e not in extensions]
    return spirv.VersionCapabilitiesExtensionsAttr.get(given.minor.data, capabilities, extensions)
