"""Kernels compiled by several processes, where there are many of them.

Once a program's kernels are outlined and its memory is planned (L2), nothing that happens to one
kernel depends on another. The process forks, each child keeps its share of the kernels and takes
them to their code, and hands that back; this process does one share itself.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.kernel_shape import find_contraction
from ingot.compiler.driver.options import CompileOptions

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ingot.compiler.driver.kernels import CompiledKernel

FEW = 4
"""Kernels of a share at least; a process costs as much as one of them."""

Kernels = tuple["CompiledKernel", ...]


class ShareFailed(Exception):
    """A share of the kernels did not compile; compiling one after the other says why."""


def process_count(kernels: int, options: CompileOptions) -> int:
    """How many processes to compile so many kernels in; 1 where something is watched or printed."""
    watched = options.dump_dir or options.print_after or options.print_after_all or options.timing
    checked = options.on_module or options.verify_each or options.keep_before
    if watched or checked or options.keep_schedules or not hasattr(os, "fork"):
        return 1
    return max(1, min(options.processes, kernels // FEW))


def shares(weights: Sequence[int], count: int) -> list[list[int]]:
    """Positions of the weights in `count` shares of about the same sum, the heaviest first."""
    parts: list[list[int]] = [[] for _ in range(count)]
    sums = [0] * count
    for position in sorted(range(len(weights)), key=lambda p: -weights[p]):
        lightest = sums.index(min(sums))
        parts[lightest].append(position)
        sums[lightest] += weights[position]
    return parts


def kernel_weights(module: ModuleOp) -> list[int]:
    """What each kernel costs to compile, roughly: a product several times what others do."""
    return [3 if find_contraction(kernel) else 1 for kernel in kernel_functions(module)]


def compile_in_processes(
    module: ModuleOp, count: int, compile_rest: Callable[[ModuleOp], Kernels]
) -> Kernels:
    """The kernels of a module (L2), in order; `compile_rest` compiles those that the module still
    has, and runs in `count` processes. No kernels are left in the module.

    Raises `ShareFailed` when any kernel does not compile; the module is not to be used then.
    """
    names = [kernel.sym_name.data for kernel in kernel_functions(module)]
    mine, *others = shares(kernel_weights(module), count)
    running: list[_Child] = []
    done: list[CompiledKernel] = []
    failed = False
    try:
        for share in others:
            running.append(_Child(module, share, compile_rest))
        done += _compile_share(module, mine, compile_rest)
    except Exception:  # also where no process can be had
        failed = True
    for child in running:
        answer = child.answer()
        failed |= answer is None
        done += answer or ()
    if failed:
        raise ShareFailed
    by_name = {kernel.name: kernel for kernel in done}
    return tuple(by_name[name] for name in names)


def _compile_share(
    module: ModuleOp, share: Sequence[int], compile_rest: Callable[[ModuleOp], Kernels]
) -> Kernels:
    for position, kernel in enumerate(kernel_functions(module)):
        if position not in share:
            kernel.detach()
    return compile_rest(module)


class _Child:
    """A process with a share of the kernels."""

    def __init__(
        self, module: ModuleOp, share: Sequence[int], compile_rest: Callable[[ModuleOp], Kernels]
    ) -> None:
        reader, writer = os.pipe()
        try:
            self._process = os.fork()
        except OSError:
            os.close(reader)
            os.close(writer)
            raise
        if self._process == 0:
            status = 1
            try:
                os.close(reader)
                with open(writer, "wb") as pipe:
                    pickle.dump(_compile_share(module, share, compile_rest), pipe)
                status = 0
            finally:
                os._exit(status)  # what this process would do at its end is for its parent to do
        os.close(writer)
        self._reader = reader

    def answer(self) -> Kernels | None:
        """What the process compiled; None if it failed."""
        with open(self._reader, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self._process, 0)
        if status:
            return None
        kernels: Kernels = pickle.loads(data)
        return kernels
