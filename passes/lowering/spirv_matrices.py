"""What ops on matrices of a SIMD-group become in SPIR-V: cooperative matrices."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.gpu_matrix import (
    SubgroupMmaLoadMatrixOp,
    SubgroupMmaStoreMatrixOp,
)
from ingot.passes.lowering.conversion import FunctionConversion, Handler
from ingot.passes.lowering.spirv_memory import matrix_pointer, shared_access

_LAYOUTS = {
    False: spirv.CooperativeMatrixLayout.RowMajor,
    True: spirv.CooperativeMatrixLayout.ColumnMajor,
}


def _load(c: FunctionConversion, op: Operation) -> SSAValue:
    assert isinstance(op, SubgroupMmaLoadMatrixOp)
    pitch = op.lead_dimension.value.data
    pointer, stride = matrix_pointer(c, op.source, op.indices, pitch)
    type_ = c.result_type(op)
    assert isinstance(type_, spirv.CooperativeMatrixType)
    layout = _LAYOUTS[op.transpose is not None]
    access = shared_access(c, pointer)
    return c.emit(spirv.CooperativeMatrixLoadOp(pointer, stride, layout, type_, access))


def _store(c: FunctionConversion, op: Operation) -> None:
    assert isinstance(op, SubgroupMmaStoreMatrixOp)
    pitch = op.lead_dimension.value.data
    pointer, stride = matrix_pointer(c, op.destination, op.indices, pitch)
    layout = _LAYOUTS[op.transpose is not None]
    access = shared_access(c, pointer)
    c.add(spirv.CooperativeMatrixStoreOp(pointer, c.value(op.matrix), stride, layout, access))


def _compute(c: FunctionConversion, op: Operation) -> SSAValue:
    return c.emit(spirv.CooperativeMatrixMulAddOp(*c.operands(op)))


def _constant(c: FunctionConversion, op: Operation) -> SSAValue:
    return c.emit(spirv.CompositeConstructOp(c.operands(op), c.result_type(op)))


HANDLERS: dict[str, Handler] = {
    "gpu.subgroup_mma_load_matrix": _load,
    "gpu.subgroup_mma_store_matrix": _store,
    "gpu.subgroup_mma_compute": _compute,
    "gpu.subgroup_mma_constant_matrix": _constant,
}
"""Handlers by op name."""
