"""Runs one L4 kernel, given as text, on a device of the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr
from xdsl.parser import Parser

from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import parse_pipeline, run_passes
from ingot.compiler.driver.pipelines import STAGES
from ingot.runtime.hal import BufferRange, Device
from ingot.targets.bundle.model import Access, Binding, DType, Kernel
from ingot.targets.msl import cross_compile
from ingot.targets.profiles import PROFILES
from ingot.targets.spirv import serialize, validate

Array = npt.NDArray[Any]

TARGETS = {"vulkan": "vulkan:lavapipe", "metal": "metal:apple7"}
_ACCESS = {"read": Access.READ, "write": Access.WRITE, "read_write": Access.READ_WRITE}


def lower(text: str, target: str) -> spirv.ModuleOp:
    """The `spirv.module` of the only kernel in `text`."""
    context = make_context()
    module = Parser(context, text).parse_module()
    (stage,) = (stage for stage in STAGES if stage.name == "spirv")
    pipeline = stage.pipeline(CompileOptions(targets=(target,)), PROFILES[target])
    run_passes(module, context, parse_pipeline(pipeline))
    module.verify()
    (kernel,) = (op for op in module.ops if isinstance(op, spirv.ModuleOp))
    return kernel


def _triple(kernel: spirv.ModuleOp, name: str) -> tuple[int, int, int]:
    values = kernel.attributes[name]
    assert isinstance(values, DenseArrayBase)
    x, y, z = cast("tuple[int, int, int]", values.get_values())
    return x, y, z


def run(text: str, arrays: Sequence[Array], device: Device) -> list[Array]:
    """The buffers after the kernel in `text` ran once; i1 is stored as uint8, bf16 as uint16."""
    kernel = lower(text, TARGETS[device.api])
    words = serialize(kernel)
    validate(words, "vulkan1.1")
    assert kernel.sym_name is not None
    name = kernel.sym_name.data
    source = cross_compile(words, kernel_name=name)
    access = cast("ArrayAttr[StringAttr]", kernel.attributes["ingot.access"])
    record = Kernel(
        name=name,
        entry_point=source.entry_point,
        threadgroup_size=_triple(kernel, "ingot.workgroup_size"),
        bindings=tuple(Binding(a.data, DType.F32, _ACCESS[a.data]) for a in access),
        spirv=words,
        msl=source.text,
        spirv_entry_point=name,
    )
    version = (3, 1) if device.api == "metal" else (0, 0)
    executable = device.load([record], "safe", version)
    parts: list[BufferRange] = []
    for array in arrays:
        buffer = device.allocate(array.nbytes)
        buffer.write(0, np.ascontiguousarray(array).tobytes())
        parts.append(BufferRange(buffer, 0, array.nbytes))
    commands = device.create_command_buffer()
    commands.begin()
    commands.dispatch(executable.pipelines[0], _triple(kernel, "ingot.grid"), parts)
    commands.end()
    done = device.create_semaphore()
    device.queue.submit([commands], signal=[(done, 1)])
    done.wait(1)
    return [
        np.frombuffer(part.buffer.read(), array.dtype).reshape(array.shape)
        for part, array in zip(parts, arrays, strict=True)
    ]
