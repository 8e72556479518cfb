"""The part of MLIR's `gpu` dialect that kernels use, in MLIR 19's syntax.

xDSL has older reduction kinds, no custom assembly, no shuffles and no mapping attributes; host-side
ops (`gpu.launch_func`, `gpu.memcpy`, ...) stay xDSL's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects import gpu
from xdsl.dialects.builtin import FunctionType, IndexType, UnitAttr, i1, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Dialect,
    Operation,
    Region,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ingot.compiler.dialects import gpu_matrix

Dimension = gpu.DimensionEnum
DimensionAttr = gpu.DimensionAttr


class AllReduceOperation(StrEnum):
    """How a reduction combines two values."""

    ADD = "add"
    MUL = "mul"
    MINUI = "minui"
    MINSI = "minsi"
    MINNUMF = "minnumf"
    MAXUI = "maxui"
    MAXSI = "maxsi"
    MAXNUMF = "maxnumf"
    AND = "and"
    OR = "or"
    XOR = "xor"
    MINIMUMF = "minimumf"
    MAXIMUMF = "maximumf"


class ShuffleMode(StrEnum):
    """Which lane a shuffle reads: this lane's number combined with the offset, or the offset."""

    XOR = "xor"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


class AddressSpace(StrEnum):
    """Where a buffer lives: device memory, memory of one threadgroup, or of one thread."""

    GLOBAL = "global"
    WORKGROUP = "workgroup"
    PRIVATE = "private"


class MappingId(StrEnum):
    """A dimension of a mapping: one of three, or one of a linear order."""

    X = "x"
    Y = "y"
    Z = "z"
    LINEAR_DIM_0 = "linear_dim_0"
    LINEAR_DIM_1 = "linear_dim_1"
    LINEAR_DIM_2 = "linear_dim_2"
    LINEAR_DIM_3 = "linear_dim_3"
    LINEAR_DIM_4 = "linear_dim_4"
    LINEAR_DIM_5 = "linear_dim_5"
    LINEAR_DIM_6 = "linear_dim_6"
    LINEAR_DIM_7 = "linear_dim_7"
    LINEAR_DIM_8 = "linear_dim_8"
    LINEAR_DIM_9 = "linear_dim_9"

    @property
    def linear_dimension(self) -> int | None:
        """k of `linear_dim_k`; None for x, y and z."""
        return int(self.value[-1]) if self.value.startswith("linear") else None


@irdl_attr_definition
class AllReduceOperationAttr(EnumAttribute[AllReduceOperation], SpacedOpaqueSyntaxAttribute):
    """`#gpu<all_reduce_op add>`"""

    name = "gpu.all_reduce_op"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """`#gpu<shuffle_mode xor>`"""

    name = "gpu.shuffle_mode"


@irdl_attr_definition
class AddressSpaceAttr(EnumAttribute[AddressSpace]):
    """`#gpu.address_space<workgroup>`, the memory space of a memref."""

    name = "gpu.address_space"

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AddressSpace:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(AddressSpace)


@irdl_attr_definition
class BlockMappingAttr(EnumAttribute[MappingId]):
    """`#gpu.block<linear_dim_0>`: a loop of an `scf.forall` runs over threadgroups."""

    name = "gpu.block"

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MappingId:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(MappingId)


@irdl_attr_definition
class ThreadMappingAttr(EnumAttribute[MappingId]):
    """`#gpu.thread<linear_dim_0>`: a loop of an `scf.forall` runs over a threadgroup's threads."""

    name = "gpu.thread"

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MappingId:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(MappingId)


class _DimensionOp(IRDLOperation):
    """An id or extent along one dimension."""

    dimension = prop_def(DimensionAttr)
    result = result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "$dimension attr-dict"

    def __init__(self, dimension: Dimension):
        super().__init__(
            result_types=[IndexType()], properties={"dimension": DimensionAttr(dimension)}
        )


@irdl_op_definition
class ThreadIdOp(_DimensionOp):
    """Position of the thread in its threadgroup."""

    name = "gpu.thread_id"


@irdl_op_definition
class BlockIdOp(_DimensionOp):
    """Position of the threadgroup in the grid."""

    name = "gpu.block_id"


@irdl_op_definition
class BlockDimOp(_DimensionOp):
    """Threads of a threadgroup."""

    name = "gpu.block_dim"


@irdl_op_definition
class GridDimOp(_DimensionOp):
    """Threadgroups of the grid."""

    name = "gpu.grid_dim"


@irdl_op_definition
class GlobalIdOp(_DimensionOp):
    """Position of the thread in the grid of threads."""

    name = "gpu.global_id"


class _SubgroupValueOp(IRDLOperation):
    """An id or extent of SIMD-groups."""

    result = result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self):
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class LaneIdOp(_SubgroupValueOp):
    """Position of the thread in its SIMD-group."""

    name = "gpu.lane_id"

    assembly_format = "attr-dict"


@irdl_op_definition
class SubgroupIdOp(_SubgroupValueOp):
    """Position of the SIMD-group in its threadgroup."""

    name = "gpu.subgroup_id"


@irdl_op_definition
class NumSubgroupsOp(_SubgroupValueOp):
    """SIMD-groups of a threadgroup."""

    name = "gpu.num_subgroups"


@irdl_op_definition
class SubgroupSizeOp(_SubgroupValueOp):
    """Threads of a SIMD-group."""

    name = "gpu.subgroup_size"


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Waits for all threads of the threadgroup and makes their memory accesses visible."""

    name = "gpu.barrier"

    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__()


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a reduction with the combined value."""

    name = "gpu.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


class _ReductionOp(IRDLOperation):
    """`KIND %value (uniform)?` and the functional type, the assembly of both reductions."""

    _T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(_T)
    result = result_def(_T)

    def _print_head(
        self, printer: Printer, kind: AllReduceOperationAttr | None, uniform: UnitAttr | None
    ) -> None:
        if kind is not None:
            printer.print_string(f" {kind.data.value}")
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        if uniform is not None:
            printer.print_string(" uniform")

    def _print_type(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([self.value.type], [self.result.type])

    @staticmethod
    def _parse_value_type(parser: Parser) -> Attribute:
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType) or len(type_.inputs) != 1:
            parser.raise_error("expected the type of one value to one value")
        return type_.inputs.data[0]


@irdl_op_definition
class AllReduceOp(_ReductionOp):
    """Combines the values of all threads of the threadgroup and gives every thread the result."""

    name = "gpu.all_reduce"

    op = opt_prop_def(AllReduceOperationAttr)
    uniform = opt_prop_def(UnitAttr)
    body = region_def()

    traits = traits_def(IsolatedFromAbove())

    def __init__(
        self,
        value: SSAValue | Operation,
        op: AllReduceOperation | None = None,
        body: Region | None = None,
        uniform: bool = True,
    ):
        value = SSAValue.get(value)
        super().__init__(
            operands=[value],
            result_types=[value.type],
            properties={
                "op": None if op is None else AllReduceOperationAttr(op),
                "uniform": UnitAttr() if uniform else None,
            },
            regions=[Region() if body is None else body],
        )

    def verify_(self) -> None:
        if (self.op is None) == (not self.body.blocks):
            raise VerifyException("expected either a kind of reduction or a body")
        if self.body.blocks and self.body.block.arg_types != (self.value.type,) * 2:
            raise VerifyException("the body must take two values of the operand's type")

    def print(self, printer: Printer) -> None:
        self._print_head(printer, self.op, self.uniform)
        printer.print_string(" ")
        printer.print_region(self.body)
        self._print_type(printer)

    @classmethod
    def parse(cls, parser: Parser) -> AllReduceOp:
        kind = parser.parse_optional_str_enum(AllReduceOperation)
        value = parser.parse_unresolved_operand()
        uniform = parser.parse_optional_keyword("uniform") is not None
        body = parser.parse_region()
        if len(body.blocks) == 1 and not body.block.ops and not body.block.args:
            body = Region()
        attributes = parser.parse_optional_attr_dict()
        value = parser.resolve_operand(value, cls._parse_value_type(parser))
        op = cls(value, kind, body, uniform)
        op.attributes |= attributes
        return op


@irdl_op_definition
class SubgroupReduceOp(_ReductionOp):
    """Combines the values of the threads of a SIMD-group and gives each of them the result."""

    name = "gpu.subgroup_reduce"

    op = prop_def(AllReduceOperationAttr)
    uniform = opt_prop_def(UnitAttr)

    def __init__(self, value: SSAValue | Operation, op: AllReduceOperation, uniform: bool = False):
        value = SSAValue.get(value)
        super().__init__(
            operands=[value],
            result_types=[value.type],
            properties={
                "op": AllReduceOperationAttr(op),
                "uniform": UnitAttr() if uniform else None,
            },
        )

    def print(self, printer: Printer) -> None:
        self._print_head(printer, self.op, self.uniform)
        self._print_type(printer)

    @classmethod
    def parse(cls, parser: Parser) -> SubgroupReduceOp:
        kind = parser.parse_str_enum(AllReduceOperation)
        value = parser.parse_unresolved_operand()
        uniform = parser.parse_optional_keyword("uniform") is not None
        attributes = parser.parse_optional_attr_dict()
        value = parser.resolve_operand(value, cls._parse_value_type(parser))
        op = cls(value, kind, uniform)
        op.attributes |= attributes
        return op


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """Reads the value of another thread of the SIMD-group; `valid` says whether there is one."""

    name = "gpu.shuffle"

    _T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(_T)
    offset = operand_def(i32)
    width = operand_def(i32)
    mode = prop_def(ShuffleModeAttr)
    shuffle_result = result_def(_T)
    valid = result_def(i1)

    assembly_format = "$mode $value `,` $offset `,` $width attr-dict `:` type($value)"

    def __init__(
        self,
        mode: ShuffleMode,
        value: SSAValue | Operation,
        offset: SSAValue | Operation,
        width: SSAValue | Operation,
    ):
        value = SSAValue.get(value)
        super().__init__(
            operands=[value, offset, width],
            result_types=[value.type, i1],
            properties={"mode": ShuffleModeAttr(mode)},
        )


_OPERATIONS: Sequence[type[Operation]] = (
    AllReduceOp,
    BarrierOp,
    BlockDimOp,
    BlockIdOp,
    GlobalIdOp,
    GridDimOp,
    LaneIdOp,
    NumSubgroupsOp,
    ShuffleOp,
    SubgroupIdOp,
    SubgroupReduceOp,
    SubgroupSizeOp,
    ThreadIdOp,
    YieldOp,
)
_ATTRIBUTES: Sequence[type[Attribute]] = (
    AddressSpaceAttr,
    AllReduceOperationAttr,
    BlockMappingAttr,
    ShuffleModeAttr,
    ThreadMappingAttr,
)
_NAMES = {known.name for known in (*_OPERATIONS, *_ATTRIBUTES)}

Gpu = Dialect(
    "gpu",
    [op for op in gpu.GPU.operations if op.name not in _NAMES]
    + [*_OPERATIONS, *gpu_matrix.OPERATIONS],
    [attr for attr in gpu.GPU.attributes if attr.name not in _NAMES]
    + [*_ATTRIBUTES, *gpu_matrix.ATTRIBUTES],
)
"""xDSL's dialect with the classes of this module in place of xDSL's, and matrices."""
