"""Keep one of several kernels that compute the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import LocationAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.locations import fused
from ingot.compiler.dialects import host
from ingot.compiler.dialects.dispatch import NAMES, CallOp

_NAMES = frozenset({NAMES, "sym_name"})
"""What may differ between two kernels that are the same."""


def _fingerprint(op: Operation) -> Hashable:
    """Equal for kernels that may be the same: their ops and types, without their structure."""
    return tuple((inner.name, *inner.result_types) for inner in op.walk())


def _named_alike(kernel: func.FuncOp, other: func.FuncOp) -> func.FuncOp:
    """A copy of `kernel` with the names of `other`, so that only what they compute differs."""
    copy = kernel.clone()
    for names in (_pick(other.attributes), _pick(other.properties)):
        target = copy.attributes if NAMES in names else copy.properties
        target.update(names)
    return copy


def _pick(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    return {name: value for name, value in attributes.items() if name in _NAMES}


@dataclass(frozen=True)
class DispatchMergeKernelsPass(ModulePass):
    """Remove kernels that are equal to an earlier one but for names, and call that one (L2 to L2).

    The layers of a network become one kernel, compiled once, whose ops come from all of them.

        %0 = dispatch.call @layer_1(%x, %w1) ; %1 = dispatch.call @layer_2(%0, %w2)
    becomes
        %0 = dispatch.call @layer_1(%x, %w1) ; %1 = dispatch.call @layer_1(%0, %w2)
    """

    name = "dispatch-merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Compare each kernel with the earlier ones that look like it."""
        kept: dict[Hashable, list[func.FuncOp]] = {}
        replacements: dict[str, SymbolRefAttr] = {}
        places: dict[func.FuncOp, list[list[LocationAttr]]] = {}
        for kernel in kernel_functions(op):
            alike = kept.setdefault(_fingerprint(kernel), [])
            same = next(
                (k for k in alike if k.is_structurally_equivalent(_named_alike(kernel, k))), None
            )
            if same is None:
                alike.append(kernel)
                continue
            others = places.setdefault(same, [[inner.location for inner in same.walk()]])
            others.append([inner.location for inner in kernel.walk()])
            replacements[kernel.sym_name.data] = SymbolRefAttr(same.sym_name.data)
            kernel.detach()
            kernel.erase()
        for same, locations in places.items():
            for inner, all_of_it in zip(same.walk(), zip(*locations, strict=True), strict=True):
                inner.location = fused(*all_of_it)
        if not replacements:
            return
        for call in op.walk():
            if isinstance(call, CallOp | host.DispatchOp):
                target = replacements.get(call.callee.root_reference.data)
                call.properties["callee"] = target or call.callee
