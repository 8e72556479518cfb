"""Refuse what this compiler cannot do, before other passes meet it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import builtin, func, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.tensor_rules import broken_rule
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects.dispatch import HELPER_MARK, KERNEL_MARK
from ingot.compiler.dialects.host import CheckOp
from ingot.compiler.dialects.ingot import ScanOp, ScatterOp, SortOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, IteratorType, YieldOp
from ingot.compiler.dialects.packing import PackLike, UnpackLike
from ingot.compiler.dialects.tensor import BitcastOp, GatherOp, GenerateOp, PadOp, RankOp
from ingot.compiler.dialects.tensor import ScatterOp as TensorScatterOp

MOST_ELEMENTS = (1 << 31) - 1
"""Elements of one tensor: indices on the device are 32-bit and signed."""

_ELEMENT_TYPES = frozenset({"f32", "f16", "bf16", "i1", "i8", "i16", "i32", "i64"})

_STRUCTURED: tuple[type[Operation], ...] = (
    GenericOp,
    FillOp,
    tensor.EmptyOp,
    tensor.ExpandShapeOp,
    tensor.CollapseShapeOp,
    tensor.ReshapeOp,
    tensor.CastOp,
    tensor.DimOp,
    tensor.ExtractOp,
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.InsertOp,
    tensor.ConcatOp,
    PadOp,
    tensor.SplatOp,
    tensor.FromElementsOp,
    GenerateOp,
    RankOp,
    BitcastOp,
    GatherOp,
    TensorScatterOp,
    PackLike,
    UnpackLike,
    ScanOp,
    SortOp,
    ScatterOp,
)

_CONTROL_FLOW: tuple[type[Operation], ...] = (
    func.ReturnOp,
    scf.ForOp,
    scf.WhileOp,
    scf.IfOp,
    scf.YieldOp,
    scf.ConditionOp,
    CheckOp,
)

_BODY_OPS: tuple[type[Operation], ...] = (
    YieldOp,
    IndexOp,
    tensor.ExtractOp,
    scf.IfOp,
    scf.ForOp,
    scf.WhileOp,
    scf.YieldOp,
    scf.ConditionOp,
)
"""What a body may hold besides arith and math."""

_SCALAR_DIALECTS = ("arith", "math")


def _check_type(where: SSAValue, what: str) -> None:
    """Refuse tensors whose shape, size or element type no kernel can have."""
    type_: Attribute = where.type
    tensor_ = as_tensor_type(type_)
    if tensor_ is None:
        return
    shape = tensor_.get_shape()
    element = str(tensor_.element_type)
    if element not in _ELEMENT_TYPES:
        raise refuse(where, f"{what} is a {type_}: elements of type {element} are not supported")
    if DYNAMIC_INDEX not in shape and prod(shape) > MOST_ELEMENTS:
        raise refuse(
            where,
            f"{what} is a {type_} of {prod(shape)} elements, but indices on the device are 32-bit: "
            f"the most is {MOST_ELEMENTS}",
            "split the computation into several",
        )


def _check_signature(function: func.FuncOp) -> None:
    if function.is_declaration:
        raise refuse(
            function,
            f"function {function.sym_name.data} has no body",
            "only functions that are defined in the module can be compiled",
        )
    if len(function.body.blocks) != 1:
        raise refuse(
            function,
            f"function {function.sym_name.data} has branches between blocks, "
            "which is not supported",
            "write its control flow with scf (`mlir-opt --lift-cf-to-scf`)",
        )
    for argument in function.body.block.args:
        what = f"argument {argument.index} of {function.sym_name.data}"
        if not isinstance(argument.type, TensorType):
            raise refuse(
                argument,
                f"{what} is a {argument.type}, but arguments must be ranked tensors",
                f"pass a scalar as tensor<{argument.type}>",
            )
        _check_type(argument, what)
    for i, type_ in enumerate(function.function_type.outputs.data):
        if not isinstance(type_, TensorType):
            raise refuse(
                function,
                f"result {i} of {function.sym_name.data} is a {type_}, but results must be tensors",
            )


def _check_host_op(op: Operation) -> None:
    dialect = op.name.partition(".")[0]
    if not isinstance(op, (*_STRUCTURED, *_CONTROL_FLOW)) and dialect not in _SCALAR_DIALECTS:
        name = op.op_name.data if isinstance(op, builtin.UnregisteredOp) else op.name
        raise refuse(op, f"{name} is not supported")
    for result in op.results:
        if isinstance(result.type, TensorType):
            _check_type(result, f"the result of {op.name}")
        elif not isinstance(result.type, IndexType) and str(result.type) not in _ELEMENT_TYPES:
            raise refuse(op, f"{op.name} computes a {result.type}, which is not supported")


def _check_generic(op: GenericOp) -> None:
    if any(it.data == IteratorType.WINDOW for it in op.iterator_types.data):
        raise refuse(op, "linalg.generic with a window iterator is not supported")
    for inner in op.body.walk():
        _check_body_op(inner)


def _check_body_op(op: Operation) -> None:
    dialect = op.name.partition(".")[0]
    known = isinstance(op, _BODY_OPS)
    if not known and dialect not in _SCALAR_DIALECTS:
        raise refuse(op, f"{op.name} inside linalg.generic is not supported")
    for value in op.results:
        type_ = value.type
        if not isinstance(type_, IndexType) and str(type_) not in _ELEMENT_TYPES:
            wide = isinstance(type_, IntegerType)
            hint = "the widest integer of a target is i64" if wide else None
            raise refuse(op, f"{op.name} computes a {type_}, which is not supported", hint)


def _check_block(block: Block) -> None:
    """Check the ops of the host program, also those inside of its control flow."""
    for op in block.ops:
        _check_host_op(op)
        if isinstance(op, GenericOp):
            _check_generic(op)
        elif isinstance(op, _CONTROL_FLOW):
            for region in op.regions:
                for nested in region.blocks:
                    _check_block(nested)


@dataclass(frozen=True)
class VerifySupportedPass(ModulePass):
    """Refuse, in one sentence with what to do instead, what no later pass can compile (L1 to L1).

    Branches between blocks, unknown ops, element types and sizes that the device lacks. The module
    is left as it is.

        error: the result of tensor.empty is a tensor<4xf64>: elements of type f64 are not supported
    """

    name = "verify-supported"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises `Refusal`."""
        for function in op.ops:
            if not isinstance(function, func.FuncOp):
                raise refuse(function, f"{function.name} outside of a function is not supported")
            marks = [m for m in (KERNEL_MARK, HELPER_MARK) if m in function.attributes]
            if marks:
                raise refuse(
                    function,
                    f"function {function.sym_name.data} is marked {marks[0]}, as only passes do",
                    "`ingot opt` takes what passes have made; remove the mark of a program",
                )
            _check_signature(function)
            for inner in function.walk():
                if (rule := broken_rule(inner)) is not None:
                    raise refuse(inner, f"'{inner.name}' op {rule}")
            _check_block(function.body.block)
