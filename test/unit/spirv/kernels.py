"""Small kernels for the tests of this folder, built through the dialect's constructors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import Builder, InsertPoint
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, IntegerType, VectorType, f16, f32, i1, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser

from ingot.compiler.dialects import spirv

VEC3 = VectorType(i32, [3])
SCALARS: dict[spirv.Kind, tuple[Attribute, ...]] = {
    spirv.Kind.FLOAT: (f32, VectorType(f32, [4]), f16),
    spirv.Kind.INTEGER: (i32, VectorType(i32, [2])),
    spirv.Kind.NUMBER: (f32, i32),
    spirv.Kind.BOOLEAN: (i1, VectorType(i1, [3])),
    spirv.Kind.VALUE: (f32, i32),
}
Arguments = Sequence[SSAValue]


def buffer_of(element: Attribute, stride: int) -> spirv.PointerType:
    """The type of a storage buffer of `element`, `stride` bytes each."""
    array = spirv.RuntimeArrayType(element, stride)
    struct = spirv.StructType.get([array], offsets=[0])
    return spirv.PointerType(struct, spirv.StorageClass.StorageBuffer)


def kernel(
    body: Callable[[Builder, dict[str, spirv.GlobalVariableOp]], None],
    buffers: Sequence[tuple[str, Attribute, int]] = (("x", f32, 4), ("y", f32, 4)),
    others: Sequence[Operation] = (),
    memory_model: spirv.MemoryModel = spirv.MemoryModel.GLSL450,
) -> spirv.ModuleOp:
    """A module with one entry point `main`, its buffers (name, element, stride) and `gid`.

    `body` fills the entry block; the return is added after it.
    """
    variables = {
        name: spirv.GlobalVariableOp(name, buffer_of(element, stride), bind=(0, index))
        for index, (name, element, stride) in enumerate(buffers)
    }
    gid_type = spirv.PointerType(VEC3, spirv.StorageClass.Input)
    gid = spirv.GlobalVariableOp("gid", gid_type, built_in=spirv.BuiltIn.GlobalInvocationId)
    variables["gid"] = gid
    main = spirv.FuncOp("main")
    builder = Builder(InsertPoint.at_end(main.entry))
    body(builder, variables)
    builder.insert(spirv.ReturnOp())
    module = spirv.ModuleOp(
        "kernel",
        [
            *variables.values(),
            *others,
            main,
            spirv.EntryPointOp("main", ["gid"]),
            spirv.ExecutionModeOp("main", spirv.ExecutionMode.LocalSize, [64, 1, 1]),
        ],
        memory_model=memory_model,
    )
    module.properties["vce_triple"] = spirv.required_vce(module)
    return module


def element_pointer(
    builder: Builder, variable: spirv.GlobalVariableOp, index: SSAValue
) -> spirv.AccessChainOp:
    """`&variable[index]`"""
    zero = builder.insert(spirv.ConstantOp(0, i32)).constant
    address = builder.insert(spirv.AddressOfOp(variable)).pointer
    return builder.insert(spirv.AccessChainOp(address, [zero, index]))


def helper(
    name: str, types: Sequence[Attribute], body: Callable[[Builder, Arguments], object]
) -> spirv.FuncOp:
    """A function without a result whose arguments have `types`."""
    function = spirv.FuncOp(name, (types, []))
    builder = Builder(InsertPoint.at_end(function.entry))
    body(builder, function.entry.args)
    builder.insert(spirv.ReturnOp())
    return function


def parse(text: str) -> spirv.ModuleOp:
    """The `spirv.module` in `text`."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(spirv.SPIRV)
    module = Parser(context, text).parse_op()
    if not isinstance(module, spirv.ModuleOp):
        (module,) = module.regions[0].block.ops
    assert isinstance(module, spirv.ModuleOp)
    return module


__all__ = [
    "SCALARS",
    "VEC3",
    "IntegerType",
    "element_pointer",
    "helper",
    "i8",
    "i16",
    "i64",
    "kernel",
    "parse",
]
