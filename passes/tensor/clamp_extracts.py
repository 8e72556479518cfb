"""Keep computed indices inside the tensors that they index."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, clamp
from ingot.compiler.analysis.index_bounds import index_bounds
from ingot.compiler.analysis.structured import loop_extents, shape_of
from ingot.compiler.dialects.linalg import GenericOp


def _clamp(op: GenericOp) -> None:
    extents = loop_extents(op)
    for extract in [i for i in op.body.walk() if isinstance(i, tensor.ExtractOp)]:
        for i, size in enumerate(shape_of(extract.tensor)):
            index = extract.indices[i]
            low, high = index_bounds(index, extents)
            if (low >= 0 and high < size) or size == 0:
                continue
            emit = Emitter.before(extract)
            inside = clamp(emit, index, 0 if low < 0 else None, size - 1 if high >= size else None)
            extract.operands[1 + i] = inside


@dataclass(frozen=True)
class ClampExtractsPass(ModulePass):
    """Clamp the indices of `tensor.extract` that data decides (L1 to L1).

    An index out of range is undefined in the source, but must not read another buffer on the
    device.

        %v = tensor.extract %table[%i, %d] : tensor<257x64xf32>
    becomes
        %v = tensor.extract %table[min(max(%i, 0), 256), %d] : tensor<257x64xf32>
    """

    name = "clamp-extracts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in function.body.block.ops:
                if isinstance(inner, GenericOp):
                    _clamp(inner)
