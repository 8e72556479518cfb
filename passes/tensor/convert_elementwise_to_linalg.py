"""Turn arith and math ops on whole tensors into generics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, Region
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, empty, erase, make_generic, open_sizes
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
    sizes = open_sizes(emit, inputs[0])
    outputs = [empty(emit, TensorType(element, shape), sizes) for element in results]
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
