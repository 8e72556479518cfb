"""Turn arith and math ops on whole tensors into generics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase, make_generic
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp

_DIALECTS = ("arith", "math")


def _works_on_tensors(op: Operation) -> bool:
    return (
        op.name.partition(".")[0] in _DIALECTS
        and not isinstance(op, arith.ConstantOp)
        and any(isinstance(result.type, TensorType) for result in op.results)
    )


def _empty_like(emit: Emitter, value: SSAValue, element: Attribute) -> SSAValue:
    """A tensor without contents, of the shape of `value`."""
    sizes: list[SSAValue] = []
    for dim, size in enumerate(shape_of(value)):
        if size == DYNAMIC_INDEX:
            sizes.append(emit.add(tensor.DimOp(value, emit.index(dim))).result)
    return emit.add(tensor.EmptyOp(sizes, TensorType(element, shape_of(value)))).tensor


def _convert(op: Operation) -> None:
    inputs = [v for v in op.operands if isinstance(v.type, TensorType)]
    shape = shape_of(op.results[0])
    if not inputs or any(shape_of(v) != shape for v in (*inputs, *op.results)):
        raise refuse(op, f"{op.name} needs operands of the shape of its result")
    emit = Emitter.before(op)
    elements = [tensor_type(v).element_type for v in inputs]
    results = [tensor_type(r).element_type for r in op.results]
    block = Block(arg_types=[*elements, *results])
    arguments = iter(block.args)
    # A scalar among the operands (the condition of a select) is the same for every element.
    operands = [next(arguments) if isinstance(v.type, TensorType) else v for v in op.operands]
    inner = Emitter.at_end(block, op.location)
    scalar = inner.add(
        type(op).create(
            operands=operands,
            result_types=results,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
    )
    inner.add(YieldOp(*scalar.results))
    outputs = [_empty_like(emit, inputs[0], element) for element in results]
    maps: Sequence[AffineMap] = [AffineMap.identity(len(shape))] * (len(inputs) + len(outputs))
    parallel = [IteratorTypeAttr.parallel()] * len(shape)
    generic = make_generic(emit, inputs, outputs, maps, parallel, Region(block))
    for old, new in zip(op.results, generic.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


@dataclass(frozen=True)
class ConvertElementwiseToLinalgPass(ModulePass):
    """Turn arith and math ops on tensors into `linalg.generic` (linalg on tensors to L1).

        %c = arith.addf %a, %b : tensor<4x8xf32>
    becomes
        %c = linalg.generic {identity maps} ins(%a, %b) outs(%empty) { arith.addf ... : f32 }
    """

    name = "convert-elementwise-to-linalg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for shapes that differ."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if _works_on_tensors(inner):
                    _convert(inner)
