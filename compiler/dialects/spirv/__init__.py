"""The `spirv` dialect: MLIR's op names, types, attributes and assembly, for compute kernels.

`mlir-opt` and `mlir-translate` (LLVM 19) parse what is printed here, and the other way round. Ops
that are alike come out of one table (`arithmetic`, `group`, `memory`); each row holds the opcode
too, so the binary writer and reader in `targets/spirv` need no list of their own.

A kernel that doubles a buffer:

    array = RuntimeArrayType(f32, stride=4)
    buffer = PointerType(StructType.get([array], offsets=[0]), StorageClass.StorageBuffer)
    x = GlobalVariableOp("x", buffer, bind=(0, 0))
    gid = GlobalVariableOp("gid", PointerType(vec3, StorageClass.Input),
                           built_in=BuiltIn.GlobalInvocationId)      # vec3 = VectorType(i32, [3])
    func = FuncOp("double")                                          # entry block: func.entry
    b = Builder(InsertPoint.at_end(func.entry))
    i = b.insert(CompositeExtractOp(b.insert(LoadOp(b.insert(AddressOfOp(gid)))), [0]))
    zero = b.insert(ConstantOp(0, i32))
    pointer = b.insert(AccessChainOp(b.insert(AddressOfOp(x)), [zero, i]))
    value = b.insert(LoadOp(pointer))
    b.insert(StoreOp(pointer, b.insert(FAddOp(value, value))))
    b.insert(ReturnOp())
    module = ModuleOp("double", [x, gid, func, EntryPointOp("double", ["gid"]),
                                 ExecutionModeOp("double", ExecutionMode.LocalSize, [64, 1, 1])])
    module.properties["vce_triple"] = required_vce(module)

Constructors take values or ops and infer the result type; conversions take it as an argument.
`ConstantOp(1.0, f32)` and `ConstantOp(0, VectorType(i32, [4]))` make scalars and splats; constants
may stand anywhere and be repeated, the writer puts each into the module once. Decorations are unit
attributes in snake case: `op.attributes["no_contraction"] = UnitAttr()`, and `non_writable`,
`restrict`, `aliased` on a GlobalVariable.

Values leave a loop or a selection through `VariableOp(type)` (store inside, load after it); a
variable may stand anywhere in the function. `control` describes the blocks of a `LoopOp` and a
`SelectionOp`; `SelectionOp.if_then_else(condition, then, otherwise)` builds the usual one.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Dialect, Operation

from ingot.compiler.dialects.spirv import enums, types
from ingot.compiler.dialects.spirv.arithmetic import *  # noqa: F403
from ingot.compiler.dialects.spirv.atomic import *  # noqa: F403
from ingot.compiler.dialects.spirv.base import INSTRUCTION_OPS as INSTRUCTION_OPS
from ingot.compiler.dialects.spirv.base import Kind as Kind
from ingot.compiler.dialects.spirv.calls import *  # noqa: F403
from ingot.compiler.dialects.spirv.calls import FunctionCallOp, ReturnOp, ReturnValueOp
from ingot.compiler.dialects.spirv.composite import *  # noqa: F403
from ingot.compiler.dialects.spirv.constants import *  # noqa: F403
from ingot.compiler.dialects.spirv.constants import (
    ConstantOp,
    ReferenceOfOp,
    SpecConstantOp,
    UndefOp,
)
from ingot.compiler.dialects.spirv.control import *  # noqa: F403
from ingot.compiler.dialects.spirv.control import (
    BranchConditionalOp,
    BranchOp,
    LoopOp,
    MergeOp,
    SelectionOp,
    UnreachableOp,
)
from ingot.compiler.dialects.spirv.cooperative import *  # noqa: F403
from ingot.compiler.dialects.spirv.enums import *  # noqa: F403
from ingot.compiler.dialects.spirv.families import *  # noqa: F403
from ingot.compiler.dialects.spirv.glsl import *  # noqa: F403
from ingot.compiler.dialects.spirv.group import *  # noqa: F403
from ingot.compiler.dialects.spirv.memory import *  # noqa: F403
from ingot.compiler.dialects.spirv.memory import VariableOp
from ingot.compiler.dialects.spirv.requirements import IMPLIED as IMPLIED
from ingot.compiler.dialects.spirv.requirements import (
    computed_float_widths as computed_float_widths,
)
from ingot.compiler.dialects.spirv.requirements import required_vce as required_vce
from ingot.compiler.dialects.spirv.structure import *  # noqa: F403
from ingot.compiler.dialects.spirv.structure import (
    AddressOfOp,
    EntryPointOp,
    ExecutionModeOp,
    FuncOp,
    GlobalVariableOp,
    ModuleOp,
)
from ingot.compiler.dialects.spirv.types import *  # noqa: F403
from ingot.compiler.dialects.spirv.vectors import *  # noqa: F403

_STRUCTURE_OPS: list[type[Operation]] = [
    ModuleOp,
    GlobalVariableOp,
    FuncOp,
    EntryPointOp,
    ExecutionModeOp,
    AddressOfOp,
    ConstantOp,
    UndefOp,
    SpecConstantOp,
    ReferenceOfOp,
    FunctionCallOp,
    VariableOp,
    ReturnOp,
    ReturnValueOp,
    UnreachableOp,
    BranchOp,
    BranchConditionalOp,
    LoopOp,
    SelectionOp,
    MergeOp,
]

_ATTRIBUTES: list[type[Attribute]] = [*enums.ATTRIBUTES, *types.TYPES]

SPIRV = Dialect("spirv", [*_STRUCTURE_OPS, *INSTRUCTION_OPS], _ATTRIBUTES)
