"""The pass `lower-simdgroup-matrix`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    BFloat16Type,
    FunctionType,
    ModuleOp,
    StringAttr,
    VectorType,
    f32,
    i16,
    i32,
)
from xdsl.dialects.math import FmaOp
from xdsl.dialects.vector import ExtractOp
from xdsl.ir import Attribute, Block, Region
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.dialects import arith, gpu, vector
from ingot.compiler.dialects.simdgroup import MultiplyAccumulateOp
from ingot.passes.lowering.emitter import Emitter, Value, element_type, replace_op

_LANES = 32


@dataclass(frozen=True)
class LowerSimdgroupMatrixPass(ModulePass):
    """Calls a function for each `simdgroup.multiply_accumulate`, on L4 kernels.

    The function's body is portable: it gathers rows and columns by shuffles. In MSL the body is
    replaced by the native multiply-accumulate (`targets/msl`), so what it computes here is what
    the native one has to. bf16 travels as its bits.

    ```mlir
    %d = simdgroup.multiply_accumulate %a, %b, %c : vector<2xf16>
    ```
    becomes
    ```mlir
    %d = func.call @ingot_multiply_accumulate_f16(%a, %b, %c)
    ```
    """

    name = "lower-simdgroup-matrix"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions: dict[Attribute, func.FuncOp] = {}
        for kernel in kernel_functions(op):
            for inner in list(kernel.walk()):
                if isinstance(inner, MultiplyAccumulateOp):
                    element = element_type(inner.a.type)
                    if element not in functions:
                        functions[element] = _function(element)
                        op.body.block.add_op(functions[element])
                    _call(inner, functions[element])


def _call(op: MultiplyAccumulateOp, function: func.FuncOp) -> None:
    e = Emitter.before_op(op)
    factor = function.function_type.inputs.data[0]
    factors = [
        value if value.type == factor else e.op(arith.BitcastOp(value, factor)).ssa
        for value in (op.a, op.b)
    ]
    call = func.CallOp(function.sym_name.data, [*factors, op.c], [op.result.type])
    replace_op(op, e.op(call))


def _function(element: Attribute) -> func.FuncOp:
    """The function that multiplies matrices of `element`."""
    is_bf16 = isinstance(element, BFloat16Type)
    factor = VectorType(i16 if is_bf16 else element, [2])
    total = VectorType(f32, [2])
    block = Block(arg_types=[factor, factor, total])
    for argument, name in zip(block.args, "abc", strict=True):
        argument.name_hint = name
    function = func.FuncOp(
        f"ingot_multiply_accumulate_{element}",
        FunctionType.from_lists([factor, factor, total], [total]),
        Region(block),
        visibility=StringAttr("private"),
    )
    e = Emitter(block, None, function.location)
    a, b, c = (e.value(argument) for argument in block.args)
    result = _portable(_in_f32(a), _in_f32(b), c)
    e.insert(func.ReturnOp(result.ssa))
    return function


def _in_f32(fragment: Value) -> Value:
    if fragment.is_float:
        return fragment.convert(f32)
    return (fragment.resize(32, signed=False) << 16).as_float()


def _portable(a: Value, b: Value, c: Value) -> Value:
    """c + a * b, one step of the depth after the other.

    A lane holds columns x and x + 1 of row y. It needs row y of a: four lanes hold it. And columns
    x and x + 1 of b: eight lanes hold them, one for each row. Lane 16 * (y / 4) + 8 * (x / 4) +
    2 * (y % 4) + x / 2 % 2 holds (y, x).
    """
    e = a.emitter
    lane = e.op(arith.IndexCastUIOp(e.op(gpu.LaneIdOp()).ssa, i32))
    same_row = lane & 22
    """The bits of the lane that say its row."""
    same_columns = lane & 9
    left, right = _lanes_of(a), _lanes_of(b)
    sums = _lanes_of(c)
    for depth in range(8):
        column_bits = 8 * (depth // 4) + depth // 2 % 2
        row_bits = 16 * (depth // 4) + 2 * (depth % 4)
        factor = _from_lane(left[depth % 2], same_row | column_bits)
        source = same_columns | row_bits
        sums = [
            e.math(FmaOp, factor, _from_lane(other, source), total)
            for other, total in zip(right, sums, strict=True)
        ]
    return e.op(vector.FromElementsOp([total.ssa for total in sums], VectorType(f32, [2])))


def _lanes_of(fragment: Value) -> list[Value]:
    """The two elements of a fragment."""
    e = fragment.emitter
    return [e.op(ExtractOp(fragment.ssa, [i], f32)) for i in range(2)]


def _from_lane(value: Value, lane: Value) -> Value:
    e = value.emitter
    width = e.const(_LANES, i32)
    return e.op(gpu.ShuffleOp(gpu.ShuffleMode.IDX, value.ssa, lane.ssa, width.ssa))
