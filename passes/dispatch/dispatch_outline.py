"""Turn every `dispatch.region` into a kernel function and a call of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.kernel_names import describe
from ingot.compiler.dialects.dispatch import KERNEL_MARK, NAMES, CallOp, RegionOp, YieldOp


def _captured(region: RegionOp) -> list[SSAValue]:
    """Tensors from above that the region reads, in order of first use."""
    inside = set(region.body.walk())
    found: dict[SSAValue, None] = {}
    for op in region.body.walk():
        for operand in op.operands:
            owner = operand.owner
            defining = owner if isinstance(owner, Operation) else owner.parent_op()
            if defining not in inside and defining is not region:
                found[operand] = None
    return list(found)


def _identifier(text: str) -> str:
    """`text` as a name that every shading language accepts, or "" when nothing is left."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return f"v{name}" if name[:1].isdigit() else name


def _value_name(value: SSAValue, made_by: dict[SSAValue, str]) -> str:
    """What a kernel calls an input: the source's name, or where the value comes from."""
    while isinstance(value.owner, tensor.CollapseShapeOp | tensor.ExpandShapeOp):
        value = value.owner.src
    if value in made_by:
        return made_by[value]
    if isinstance(value.owner, arith.ConstantOp):
        return "constant"
    name = _identifier(value.name_hint or "")
    if isinstance(value, BlockArgument):
        return name or f"arg{value.index}"
    return name or "value"


def _unique(names: Sequence[str]) -> list[str]:
    """The names, numbered where one would repeat."""
    taken: set[str] = set()
    unique: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            candidate, number = f"{name}_{number}", number + 1
        taken.add(candidate)
        unique.append(candidate)
    return unique


def _unique_symbol(name: str, taken: set[str]) -> str:
    """`name`, numbered where the module has it already; it is taken then."""
    candidate, number = name, 1
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate


def _computed(region: RegionOp) -> list[SSAValue]:
    """What the region computes, each once; a result that it only hands on is the value itself."""
    block = region.body.block
    terminator = block.last_op
    assert isinstance(terminator, YieldOp)
    computed: dict[SSAValue, None] = {}
    for result, value in zip(region.results, terminator.operands, strict=True):
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent_block() is block:
            computed[value] = None
        else:
            result.replace_all_uses_with(value)
    return list(computed)


def _outline(
    region: RegionOp, function: func.FuncOp, taken: set[str], made_by: dict[SSAValue, str]
) -> func.FuncOp | None:
    """Replace the region by a call; returns the kernel, which is not in the module yet.

    None where the region computes nothing.
    """
    computed = _computed(region)
    terminator = region.body.block.last_op
    assert isinstance(terminator, YieldOp)
    yielded = list(zip(region.results, terminator.operands, strict=True))
    terminator.operands = computed
    if not computed:
        region.detach()
        region.erase()
        return None
    captured = _captured(region)
    what = describe(region.body.block)
    results = [value.type for value in computed]
    body = region.detach_region(region.body)
    block = body.block
    for value in captured:
        argument = block.insert_arg(value.type, len(block.args))
        argument.name_hint = value.name_hint
        value.replace_uses_with_if(argument, lambda use: _is_in(use.operation, block))
    returned = func.ReturnOp(*terminator.operands)
    returned.location = region.location
    terminator.detach()
    terminator.erase()
    block.add_op(returned)

    kernel = func.FuncOp(
        _unique_symbol(_identifier(f"{function.sym_name.data}_{what}"), taken),
        FunctionType.from_lists([v.type for v in captured], results),
        body,
        "private",
    )
    kernel.location = region.location
    kernel.attributes |= region.attributes
    kernel.attributes[KERNEL_MARK] = UnitAttr()
    outputs = ["out"] if len(results) == 1 else [f"out{i}" for i in range(len(results))]
    names = _unique([*(_value_name(v, made_by) for v in captured), *outputs])
    kernel.attributes[NAMES] = ArrayAttr([StringAttr(n) for n in names])

    call = CallOp(kernel.sym_name.data, captured, results)
    call.location = region.location
    parent = region.parent_block()
    assert parent is not None
    parent.insert_op_before(call, region)
    made = dict(zip(computed, call.res, strict=True))
    for old, value in yielded:
        if (new := made.get(value)) is not None:
            new.name_hint = new.name_hint or old.name_hint
            made_by[new] = what
            old.replace_all_uses_with(new)
    region.detach()
    region.erase()
    return kernel


def _is_in(op: Operation, block: Block) -> bool:
    parent = op.parent_block()
    while parent is not None:
        if parent is block:
            return True
        above = parent.parent_op()
        parent = above.parent_block() if above is not None else None
    return False


@dataclass(frozen=True)
class DispatchOutlinePass(ModulePass):
    """Make each `dispatch.region` a private function marked `ingot.kernel` (L2 to L2).

    Kernels are named after the function and what they compute.

        %0 = dispatch.region -> (tensor<4xf32>) { ... uses %x ... }
    becomes
        %0 = dispatch.call @main_add(%x) : (tensor<4xf32>) -> tensor<4xf32>
        func.func private @main_add(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ingot.kernel}
    """

    name = "dispatch-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Outline the regions of every host function."""
        taken = {f.sym_name.data for f in op.ops if isinstance(f, func.FuncOp)}
        for function in host_functions(op):
            made_by: dict[SSAValue, str] = {}
            for region in list(function.body.block.ops):
                if not isinstance(region, RegionOp):
                    continue
                kernel = _outline(region, function, taken, made_by)
                if kernel is not None:
                    op.body.block.add_op(kernel)
