"""xDSL's `tensor` with the ops that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    DenseArrayBase,
    IndexType,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i64,
)
from xdsl.dialects.utils import (
    DynamicIndexList,
    get_dynamic_index_list,
    split_dynamic_index_list,
    verify_dynamic_index_list,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    base,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, Pure, RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.expand_shape import ExpandShapeOp
from ingot.compiler.dialects.packing import PackLike, UnpackLike
from ingot.compiler.dialects.scf import InParallelOp

AnyTensor = base(TensorType[Attribute]) | base(UnrankedTensorType[Attribute])


@irdl_op_definition
class ParallelInsertSliceOp(IRDLOperation):
    """Insert one iteration's slice into a shared output of the enclosing `scf.forall`."""

    name = "tensor.parallel_insert_slice"

    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = lazy_traits_def(lambda: (HasParent(InParallelOp),))

    assembly_format = (
        "$source `into` $dest ``"
        "custom<DynamicIndexList>($offsets, $static_offsets)"
        "custom<DynamicIndexList>($sizes, $static_sizes)"
        "custom<DynamicIndexList>($strides, $static_strides)"
        "attr-dict `:` type($source) `into` type($dest)"
    )

    custom_directives = (DynamicIndexList,)

    def __init__(
        self,
        source: SSAValue | Operation,
        dest: SSAValue | Operation,
        offsets: Sequence[SSAValue | int],
        sizes: Sequence[SSAValue | int],
        strides: Sequence[SSAValue | int],
    ):
        lists = [
            split_dynamic_index_list(list(values), DYNAMIC_INDEX)
            for values in (offsets, sizes, strides)
        ]
        static = [DenseArrayBase.from_list(i64, values) for values, _ in lists]
        super().__init__(
            operands=[source, dest, *(dynamic for _, dynamic in lists)],
            properties={
                "static_offsets": static[0],
                "static_sizes": static[1],
                "static_strides": static[2],
            },
        )

    @property
    def mixed_offsets(self) -> list[SSAValue | int]:
        """The offset in each dimension of the destination."""
        values: Sequence[int] = self.static_offsets.get_values()
        return get_dynamic_index_list(values, self.offsets, DYNAMIC_INDEX)

    @property
    def mixed_sizes(self) -> list[SSAValue | int]:
        """The size in each dimension of the destination."""
        values: Sequence[int] = self.static_sizes.get_values()
        return get_dynamic_index_list(values, self.sizes, DYNAMIC_INDEX)

    @property
    def mixed_strides(self) -> list[SSAValue | int]:
        """The stride in each dimension of the destination."""
        values: Sequence[int] = self.static_strides.get_values()
        return get_dynamic_index_list(values, self.strides, DYNAMIC_INDEX)

    def verify_(self) -> None:
        for what, static, dynamic in (
            ("offset", self.static_offsets, self.offsets),
            ("size", self.static_sizes, self.sizes),
            ("stride", self.static_strides, self.strides),
        ):
            values: Sequence[int] = static.get_values()
            verify_dynamic_index_list(values, dynamic, DYNAMIC_INDEX, f" in the {what} arguments")


@irdl_op_definition
class GenerateOp(IRDLOperation):
    """A tensor whose element at each index is what the body yields for it."""

    name = "tensor.generate"

    dynamic_extents = var_operand_def(IndexType)
    body = region_def("single_block")
    result = result_def(TensorType)

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(tensor.YieldOp))

    assembly_format = "$dynamic_extents $body attr-dict `:` type($result)"

    def __init__(self, dynamic_extents: Sequence[SSAValue], body: Region, result_type: Attribute):
        super().__init__(operands=[dynamic_extents], regions=[body], result_types=[result_type])


@irdl_op_definition
class RankOp(IRDLOperation):
    """The number of dimensions of a tensor."""

    name = "tensor.rank"

    tensor = operand_def(AnyTensor)
    result = result_def(IndexType)

    traits = traits_def(Pure())

    assembly_format = "$tensor attr-dict `:` type($tensor)"


@irdl_op_definition
class BitcastOp(IRDLOperation):
    """The same bits read as another element type of the same width."""

    name = "tensor.bitcast"

    source = operand_def(AnyTensor)
    dest = result_def(AnyTensor)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"

    def __init__(self, source: SSAValue | Operation, dest: Attribute):
        super().__init__(operands=[source], result_types=[dest])


@irdl_op_definition
class GatherOp(IRDLOperation):
    """Slices of `source` at the coordinates that the last dimension of `indices` holds."""

    name = "tensor.gather"

    source = operand_def(TensorType)
    indices = operand_def(TensorType)
    gather_dims = prop_def(DenseArrayBase.constr(i64))
    unique = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            indices = parser.parse_unresolved_operand()
        dims = _parse_dims(parser, "gather_dims")
        unique = UnitAttr() if parser.parse_optional_keyword("unique") else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        operands = parser.resolve_operands([source, indices], type.inputs.data, parser.pos)
        return cls.build(
            operands=operands,
            result_types=[type.outputs.data[0]],
            properties={"gather_dims": dims, "unique": unique},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.indices)
        _print_dims(printer, "gather_dims", self.gather_dims)
        if self.unique is not None:
            printer.print_string(" unique")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """A copy of `dest` with slices of `source` written at the coordinates in `indices`."""

    name = "tensor.scatter"

    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    indices = operand_def(TensorType)
    scatter_dims = prop_def(DenseArrayBase.constr(i64))
    unique = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_keyword("into")
        dest = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            indices = parser.parse_unresolved_operand()
        dims = _parse_dims(parser, "scatter_dims")
        unique = UnitAttr() if parser.parse_optional_keyword("unique") else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        operands = parser.resolve_operands([source, dest, indices], type.inputs.data, parser.pos)
        return cls.build(
            operands=operands,
            result_types=[type.outputs.data[0]],
            properties={"scatter_dims": dims, "unique": unique},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(" into ")
        printer.print_ssa_value(self.dest)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.indices)
        _print_dims(printer, "scatter_dims", self.scatter_dims)
        if self.unique is not None:
            printer.print_string(" unique")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)


def _parse_dims(parser: Parser, keyword: str) -> DenseArrayBase:
    parser.parse_keyword(keyword)
    with parser.in_parens():
        dims = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, dims)


def _print_dims(printer: Printer, keyword: str, dims: DenseArrayBase[I64]) -> None:
    printer.print_string(f" {keyword}([{', '.join(str(dim) for dim in dims.get_values())}])")


@irdl_op_definition
class PackOp(PackLike):
    """`tensor.pack` (LLVM 19; `linalg.pack` since LLVM 20)."""

    name = "tensor.pack"


@irdl_op_definition
class UnPackOp(UnpackLike):
    """`tensor.unpack` (LLVM 19; `linalg.unpack` since LLVM 20)."""

    name = "tensor.unpack"


@irdl_op_definition
class PadOp(IRDLOperation):
    """`tensor.pad`; unlike xDSL's, the result may be static where source and padding give it."""

    name = "tensor.pad"

    source = operand_def(TensorType)
    low = var_operand_def(IndexType)
    high = var_operand_def(IndexType)
    static_low = prop_def(DenseArrayBase.constr(i64))
    static_high = prop_def(DenseArrayBase.constr(i64))
    nofold = opt_prop_def(UnitAttr)
    region = region_def("single_block")
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), SingleBlockImplicitTerminator(tensor.YieldOp))

    assembly_format = (
        "$source "
        "(`nofold` $nofold^)? "
        "`low` `` custom<DynamicIndexList>($low, $static_low) "
        "`high` `` custom<DynamicIndexList>($high, $static_high) "
        "$region attr-dict `:` type($source) `to` type($result)"
    )
    custom_directives = (DynamicIndexList,)

    def __init__(
        self,
        source: SSAValue | Operation,
        low: Sequence[SSAValue | int],
        high: Sequence[SSAValue | int],
        region: Region,
        result_type: Attribute,
    ):
        """Pad each dimension by `low` in front and `high` behind with what `region` yields."""
        lists = [split_dynamic_index_list(list(values), DYNAMIC_INDEX) for values in (low, high)]
        static = [DenseArrayBase.from_list(i64, values) for values, _ in lists]
        super().__init__(
            operands=[source, *(dynamic for _, dynamic in lists)],
            result_types=[result_type],
            properties={"static_low": static[0], "static_high": static[1]},
            regions=[region],
        )

    @property
    def mixed_low(self) -> list[SSAValue | int]:
        """The padding in front of each dimension."""
        values: Sequence[int] = self.static_low.get_values()
        return get_dynamic_index_list(values, self.low, DYNAMIC_INDEX)

    @property
    def mixed_high(self) -> list[SSAValue | int]:
        """The padding behind each dimension."""
        values: Sequence[int] = self.static_high.get_values()
        return get_dynamic_index_list(values, self.high, DYNAMIC_INDEX)

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, TensorType) and isinstance(result, TensorType)
        rank = len(source.get_shape())
        if {len(self.static_low), len(self.static_high), len(result.get_shape())} != {rank}:
            raise VerifyException("the padding and the result must have the rank of the source")
        if len(self.region.block.args) != rank:
            raise VerifyException("the region takes one index for each dimension")
        sizes = zip(source.get_shape(), self.mixed_low, self.mixed_high, strict=True)
        for dim, (size, low, high) in enumerate(sizes):
            if size == DYNAMIC_INDEX or not isinstance(low, int) or not isinstance(high, int):
                continue
            if result.get_shape()[dim] not in (size + low + high, DYNAMIC_INDEX):
                raise VerifyException(
                    f"dimension {dim} of the result must have {size + low + high} elements"
                )


class ReshapeOp(tensor.ReshapeOp):
    """xDSL's verifier counts open sizes as numbers; any of them may fit."""

    def verify_(self) -> None:
        types = [value.type for value in (self.source, self.result)]
        shapes = [type_.get_shape() for type_ in types if isinstance(type_, TensorType)]
        if not any(DYNAMIC_INDEX in shape for shape in shapes):
            super().verify_()


_REPLACED = (tensor.PadOp, tensor.ExpandShapeOp, tensor.ReshapeOp)

Tensor = Dialect(
    "tensor",
    [
        *(op for op in tensor.Tensor.operations if op not in _REPLACED),
        ExpandShapeOp,
        ReshapeOp,
        PadOp,
        ParallelInsertSliceOp,
        GenerateOp,
        RankOp,
        BitcastOp,
        GatherOp,
        ScatterOp,
        PackOp,
        UnPackOp,
    ],
    [*tensor.Tensor.attributes],
)
