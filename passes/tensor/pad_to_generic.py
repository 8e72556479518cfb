"""Turn `tensor.pad` into a generic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    erase,
    inline,
    loop_indices,
)
from ingot.compiler.analysis.sizes import is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tensor import PadOp

from . import sized_slices


def pad(op: PadOp, emit: Emitter) -> SSAValue:
    """Each element is one of the source, or the padding."""
    type_ = tensor_type(op.result)
    sizes = shape_of(op.source)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, len(sizes))
        padding = inline(inner, op.region, loops)
        if prod(sizes) == 0:
            return [padding]
        conditions: list[SSAValue] = []
        indices: list[SSAValue] = []
        for loop, size, total, low in zip(
            loops, sizes, type_.get_shape(), op.mixed_low, strict=True
        ):
            index = loop
            if low != 0:
                amount = inner.index(low) if isinstance(low, int) else low
                index = inner.add(arith.SubiOp(loop, amount)).result
            # A negative amount takes elements away; then no position lies before the source.
            before = not isinstance(low, int) or low > 0
            after = not isinstance(low, int) or total - low > size
            if before:
                conditions.append(inner.add(arith.CmpiOp(index, inner.index(0), "sge")).result)
            if after:
                conditions.append(inner.add(arith.CmpiOp(index, inner.index(size), "slt")).result)
            indices.append(clamp(inner, index, 0 if before else None, size - 1 if after else None))
        value = inner.add(tensor.ExtractOp(op.source, indices, type_.element_type)).result
        if not conditions:
            return [value]
        return [inner.add(arith.SelectOp(all_of(inner, conditions), value, padding)).result]

    return elementwise(emit, type_, [], [], body)


@dataclass(frozen=True)
class PadToGenericPass(ModulePass):
    """Turn `tensor.pad` into a generic that selects between source and padding (L1 to L1).

        %p = tensor.pad %x low[1] high[0] { yield %c } : tensor<4xf32> to tensor<5xf32>
    becomes
        %p = linalg.generic outs(%empty) { %v = tensor.extract %x[max(i - 1, 0)]
                                           yield select(i >= 1, %v, %c) }
    """

    name = "pad-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, PadOp):
                    make = sized_slices.pad if is_sized(inner) else pad
                    result = make(inner, Emitter.before(inner))
                    result.name_hint = inner.result.name_hint
                    inner.result.replace_all_uses_with(result)
                    erase(inner)
