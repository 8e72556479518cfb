"""The pass `convert-to-spirv`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Float16Type,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.index_range import constant_int
from ingot.compiler.dialects import spirv
from ingot.passes.lowering import (
    spirv_control,
    spirv_matrices,
    spirv_memory,
    spirv_ops,
    spirv_vectors,
)
from ingot.passes.lowering.conversion import FunctionConversion, Handler, ModuleGlobals
from ingot.passes.lowering.kernel import GRID, sizes, thread_count, workgroup_size
from ingot.passes.lowering.liveness import live_ops

NAMES = "ingot.names"
ACCESS = "ingot.access"

_HANDLERS: dict[str, Handler] = {
    **spirv_ops.HANDLERS,
    **spirv_vectors.HANDLERS,
    **spirv_control.HANDLERS,
    **spirv_matrices.HANDLERS,
    "memref.load": spirv_memory.convert_load,
    "vector.load": spirv_memory.convert_load,
    "memref.store": spirv_memory.convert_store,
    "vector.store": spirv_memory.convert_store,
    "memref.alloc": spirv_memory.convert_alloc,
    "memref.alloca": spirv_memory.convert_alloca,
}


@dataclass(frozen=True)
class ConvertToSpirvPass(ModulePass):
    """Replaces each L4 kernel by one L5 `spirv.module`, and drops the functions it called.

    Every argument becomes a bound buffer in order. An index has 32 bits where every offset in bytes
    fits into them, else 64. With `exact`, floating-point arithmetic is decorated so that drivers
    neither contract nor reorder it: Mesa's do both without, where Metal's compiler obeys its own
    pragma. With `special_values`, kernels declare that NaNs, infinities and the sign of zero
    matter: without, NVIDIA's driver takes every NaN test for false.

    ```mlir
    func.func @k(%x: memref<64xf32>) attributes {ingot.kernel, ...} { ... }
    ```
    becomes
    ```mlir
    spirv.module @k Logical GLSL450 attributes {ingot.grid = ...} {
      spirv.GlobalVariable @x bind(0, 0) : !spirv.ptr<!spirv.struct<(...)>, StorageBuffer>
      spirv.func @k() "None" { ... }
      spirv.EntryPoint "GLCompute" @k
      spirv.ExecutionMode @k "LocalSize", 64, 1, 1
    }
    ```
    """

    name = "convert-to-spirv"

    exact: bool = True
    special_values: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FuncOp)}
        called: set[str] = set()
        for kernel in kernel_functions(op):
            conversion = _KernelConversion(kernel, functions, self.exact, self.special_values)
            module = conversion.convert()
            called |= conversion.converted.keys()
            block = kernel.parent
            assert block is not None
            block.insert_op_before(module, kernel)
            kernel.detach()
            kernel.erase()
        for name in called:
            functions[name].detach()
            functions[name].erase()


_MEMORY_MODELS = {False: spirv.MemoryModel.GLSL450, True: spirv.MemoryModel.Vulkan}
"""Cooperative matrices come with Vulkan's memory model only."""


@dataclass
class _KernelConversion:
    """Converts one kernel, with the functions that it calls, into one module."""

    kernel: FuncOp
    functions: dict[str, FuncOp]
    exact: bool
    special_values: bool
    converted: dict[str, spirv.FuncOp] = field(default_factory=dict[str, spirv.FuncOp])

    def convert(self) -> spirv.ModuleOp:
        kernel = self.kernel
        for argument in kernel.body.block.args:
            if not isinstance(argument.type, MemRefType):
                raise refuse(argument, f"a kernel's argument is a {argument.type}, not a memref")
        name = kernel.sym_name.data
        self.index = i32 if _index_fits_32_bits(kernel) else i64
        self.vulkan_memory = any(op.name in spirv_matrices.HANDLERS for op in kernel.walk())
        self.variables = ModuleGlobals({name})
        function = spirv.FuncOp(name)
        function.location = kernel.location
        body = self._conversion(kernel, function)
        access = self._bind_arguments(body)
        self._fill(body, kernel)
        size = list(workgroup_size(kernel))
        module = spirv.ModuleOp(
            name,
            [
                *self.variables.variables,
                *self.converted.values(),
                function,
                spirv.EntryPointOp(name, self.variables.inputs),
                spirv.ExecutionModeOp(name, spirv.ExecutionMode.LocalSize, size),
            ],
            memory_model=_MEMORY_MODELS[self.vulkan_memory],
        )
        module.location = kernel.location
        module.attributes |= {
            key: value for key, value in kernel.attributes.items() if key.startswith("ingot.")
        }
        module.attributes[ACCESS] = access
        if self.special_values:
            self._preserve_special_values(module)
        vce = module.properties["vce_triple"] = spirv.required_vce(module)
        _drop_names_of_storage_types(module, vce.capabilities)
        return module

    def _preserve_special_values(self, module: spirv.ModuleOp) -> None:
        mode = spirv.ExecutionMode.SignedZeroInfNanPreserve
        entry = self.kernel.sym_name.data
        for width in spirv.computed_float_widths(module):
            module.body.block.add_op(spirv.ExecutionModeOp(entry, mode, [width]))

    def _conversion(self, source: FuncOp, target: spirv.FuncOp) -> FunctionConversion:
        conversion = FunctionConversion(
            index=self.index,
            variables=self.variables,
            handlers=_HANDLERS,
            live=live_ops(source.body.block),
            workgroup_size=workgroup_size(self.kernel),
            exact=self.exact,
            entry=target.entry,
            vulkan_memory=self.vulkan_memory,
        )
        conversion.call = self._callee
        return conversion

    def _fill(self, conversion: FunctionConversion, source: FuncOp) -> None:
        block = source.body.block
        conversion.convert_ops(block)
        last = block.last_op
        assert last is not None
        spirv_control.convert_return(conversion, last)
        conversion.finish()

    def _bind_arguments(self, conversion: FunctionConversion) -> ArrayAttr[StringAttr]:
        """Declare the buffers; returns how the kernel accesses each."""
        kernel = self.kernel
        arguments = kernel.body.block.args
        names = _argument_names(kernel)
        accesses: list[StringAttr] = []
        for binding, (argument, name) in enumerate(zip(arguments, names, strict=True)):
            variable = spirv_memory.bind_argument(conversion, argument, name, binding, kernel)
            written = spirv_memory.is_written(argument)
            if not written:
                variable.attributes["non_writable"] = UnitAttr()
            read = spirv_memory.is_read(argument)
            if not read:
                variable.attributes["non_readable"] = UnitAttr()
            kind = "read_write" if read and written else "write" if written else "read"
            accesses.append(StringAttr(kind))
        return ArrayAttr(accesses)

    def _callee(self, name: str) -> spirv.FuncOp:
        """The converted function `name`."""
        if (known := self.converted.get(name)) is not None:
            return known
        source = self.functions[name]
        arguments = source.body.block.args
        conversion_types = [self._type(argument.type) for argument in arguments]
        results = [self._type(type_) for type_ in source.function_type.outputs]
        target = spirv.FuncOp(name, (conversion_types, results))
        target.location = source.location
        conversion = self._conversion(source, target)
        for old, new in zip(arguments, target.entry.args, strict=True):
            new.name_hint = old.name_hint
            conversion.values[old] = new
        self._fill(conversion, source)
        # after its own callees
        self.converted[name] = target
        return target

    def _type(self, type_: Attribute) -> Attribute:
        return self.index if isinstance(type_, IndexType) else type_


_COMPUTING: dict[Attribute, spirv.Capability] = {
    IntegerType(8): spirv.Capability.Int8,
    IntegerType(16): spirv.Capability.Int16,
    Float16Type(): spirv.Capability.Float16,
}


def _drop_names_of_storage_types(
    module: spirv.ModuleOp, capabilities: Sequence[spirv.Capability]
) -> None:
    """Leave values unnamed whose type is only stored: even a name counts as a use of them."""
    stored = {t for t, capability in _COMPUTING.items() if capability not in capabilities}
    for op in module.walk():
        for result in op.results:
            if result.name_hint is not None and spirv.scalar_of(result.type) in stored:
                result.name_hint = None


def _argument_names(kernel: FuncOp) -> Sequence[str]:
    """The names of the arguments in the source, where it has them."""
    arguments = kernel.body.block.args
    names = kernel.attributes.get(NAMES)
    if isinstance(names, ArrayAttr):
        return [name.data for name in cast("ArrayAttr[StringAttr]", names)]
    return [argument.name_hint or f"arg{argument.index}" for argument in arguments]


def _index_fits_32_bits(kernel: FuncOp) -> bool:
    """Whether neither an offset in bytes nor a number of threads or a constant needs more."""
    grid = sizes(kernel, GRID) or (1, 1, 1)
    if prod(grid) * thread_count(kernel) >= 1 << 31:
        return False
    buffers: list[SSAValue] = list(kernel.body.block.args)
    for op in kernel.walk():
        buffers += [result for result in op.results if isinstance(result.type, MemRefType)]
        if not _fits(op):
            return False
    return spirv_memory.fits_32_bits(buffers)


def _fits(op: Operation) -> bool:
    if op.name != "arith.constant" or not isinstance(op.results[0].type, IndexType):
        return True
    number = constant_int(op.results[0])
    return number is None or -(1 << 31) <= number < 1 << 31
