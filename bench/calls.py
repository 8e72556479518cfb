"""What a call costs beyond its kernel: `python bench/calls.py [--device vulkan] [--calls 2000]`.

One kernel, 1,024 floats. Calls of the program take turns with bare submissions of its recorded
command buffer (on Vulkan by `vkQueueSubmit` and a fence, elsewhere by the queue of the HAL), so
that both see the same machine; the medians are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import ingot.runtime as rt
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.runtime.execution import Submit
from ingot.runtime.hal import Device
from ingot.targets.bundle.writer import write_bundle

PROGRAM = """
func.func @main(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %r = arith.mulf %x, %y : tensor<1024xf32>
  return %r : tensor<1024xf32>
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    device = rt.open_device(options.device)
    target = "vulkan:generic" if device.api == "vulkan" else "metal:apple7"
    bundle = write_bundle(compile_module(PROGRAM, "calls.mlir", CompileOptions(targets=(target,))))
    program = rt.loads(bundle).bind(device)
    x = np.arange(1024, dtype=np.float32)
    assert np.array_equal(program.call("main", x, x), x * x)
    call, bare = measure(
        lambda: program.call("main", x, x), bare_run(device, program), options.calls
    )
    print(f"{device.name}: a call takes {call:.1f} us, its dispatch alone {bare:.1f} us: ", end="")
    print(f"{call - bare:.1f} us beyond it (medians of {options.calls})")


def measure(first: Callable[[], Any], second: Callable[[], Any], times: int) -> tuple[float, float]:
    """Medians of both in microseconds, run in turns."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for run, into in zip((first, second), taken, strict=True):
            start = perf_counter()
            run()
            into.append(perf_counter() - start)
    return 1e6 * median(taken[0]), 1e6 * median(taken[1])


def bare_run(device: Device, program: rt.Program) -> Callable[[], None]:
    """What runs the recorded commands of the program's only call, and waits."""
    (recorded,) = program._calls.values()
    (step,) = recorded.steps
    assert isinstance(step, Submit)
    if device.api == "vulkan":
        return _bare_vulkan(device, step.commands)
    done, turns = device.create_semaphore(), iter(range(1, 2**62))

    def run() -> None:
        turn = next(turns)
        device.queue.submit([step.commands], signal=[(done, turn)])
        done.wait(turn)

    return run


def _bare_vulkan(device: Any, commands: Any) -> Callable[[], None]:
    handle, vk = device._handle, device._handle.vk
    fences = vk.ffi.new(
        "VkFence[]", [vk.vkCreateFence(handle.device, vk.VkFenceCreateInfo(), None)]
    )
    buffers = vk.ffi.new("VkCommandBuffer[]", [commands.vk_commands])
    info = vk.ffi.new("VkSubmitInfo*")
    info.sType = vk.VK_STRUCTURE_TYPE_SUBMIT_INFO
    info.commandBufferCount = 1
    info.pCommandBuffers = buffers
    submit, wait, reset = map(
        handle.function, ("vkQueueSubmit", "vkWaitForFences", "vkResetFences")
    )
    queue = device.queue._queue

    def run() -> None:
        submit(queue, 1, info, fences[0])
        wait(handle.device, 1, fences, 1, 10**10)
        reset(handle.device, 1, fences)

    return run


if __name__ == "__main__":
    main()
