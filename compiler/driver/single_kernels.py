"""The kernels of a program as programs of their own, for a search over schedules.

func.func @main(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = dispatch.call @main_softmax(%x) : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}
func.func private @main_softmax(...) attributes {ingot.kernel} { ... }
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.kernel_shape import describe_kernel, is_kernel
from ingot.compiler.analysis.schedule import KernelShape, Schedule, select_schedule
from ingot.compiler.analysis.structured import loop_extents
from ingot.compiler.dialects import plan
from ingot.compiler.dialects.dispatch import CallOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.driver.compile import compile_dispatched, compile_text
from ingot.compiler.driver.options import CompileOptions, MathMode
from ingot.compiler.driver.pass_pipeline import module_text
from ingot.compiler.driver.schedules import ScheduleEntry, kernel_key

if TYPE_CHECKING:
    from ingot.targets.bundle.model import Bundle
    from ingot.targets.profiles import TargetProfile

MAIN = "main"
"""The function of a single kernel's program, which calls the kernel once."""


@dataclass(frozen=True)
class SingleKernel:
    """A kernel for one target, and the program that calls it once."""

    name: str
    key: str
    """As `kernel_key` spells it."""
    text: str
    """L2."""
    target: str
    shape: KernelShape
    builtin: Schedule
    """The compiler's choice."""
    dispatches: int
    """How often the program's commands name it."""
    points: int
    """Iterations of all its loops together."""


def single_kernels(text: str, filename: str, options: CompileOptions) -> list[SingleKernel]:
    """The kernels of a program that take a schedule, for the first target of `options`; those that
    compute the same are one. The whole program is compiled: raises what `compile_text` raises."""
    found: dict[str, SingleKernel] = {}

    def look(profile: TargetProfile, stage: str, module: ModuleOp) -> None:
        if stage == "dispatch" and not found:
            found.update(_kernels(module, profile))

    compile_text(text, filename, replace(options, on_module=look))
    return list(found.values())


def _kernels(module: ModuleOp, profile: TargetProfile) -> dict[str, SingleKernel]:
    """The kernels of a module whose memory is planned (L2), by their keys."""
    counts: dict[str, int] = {}
    for op in module.walk():
        if isinstance(op, plan.DispatchOp):
            name = op.kernel.root_reference.data
            counts[name] = counts.get(name, 0) + 1
    found: dict[str, SingleKernel] = {}
    for func in kernel_functions(module):
        if not is_kernel(func):
            continue
        name, key = func.sym_name.data, kernel_key(func)
        seen = found.get(key)
        shape = describe_kernel(func)
        found[key] = SingleKernel(
            name=seen.name if seen else name,
            key=key,
            text=module_text(_program(func)),
            target=profile.name,
            shape=shape,
            builtin=select_schedule(shape, profile),
            dispatches=counts.get(name, 0) + (seen.dispatches if seen else 0),
            points=sum(prod(loop_extents(op)) for op in func.walk() if isinstance(op, GenericOp)),
        )
    return found


def compile_single(kernel: SingleKernel, schedule: Schedule, math: MathMode) -> Bundle:
    """The bundle of a single kernel under a schedule; raises `Refusal` where it does not fit."""
    entry = ScheduleEntry(kernel.target, kernel.key, schedule)
    options = CompileOptions(targets=(kernel.target,), math=math, schedules=(entry,))
    return compile_dispatched(kernel.text, kernel.name, options).bundle


def _program(func: FuncOp) -> ModuleOp:
    """A module of a host function that calls a copy of the kernel, and that copy."""
    inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
    block = Block(arg_types=inputs)
    call = CallOp(func.sym_name.data, block.args, outputs)
    block.add_ops([call, ReturnOp(*call.results)])
    host = FuncOp(MAIN, FunctionType.from_lists(inputs, outputs), Region(block))
    return ModuleOp([host, func.clone()])
