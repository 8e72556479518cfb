"""Metal libraries beside the MSL of a target's kernels, made by Apple's tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from ingot.targets.bundle.model import Metallib
from ingot.targets.metallib import MetalTools, Sdk

if TYPE_CHECKING:
    from ingot.compiler.driver.dump import Dump
    from ingot.compiler.driver.kernels import CompiledKernel
    from ingot.targets.profiles import TargetProfile


def add_metallibs(
    kernels: Sequence[CompiledKernel],
    profile: TargetProfile,
    math: str,
    sdks: Sequence[Sdk],
    dump: Dump,
) -> tuple[CompiledKernel, ...]:
    """The kernels of a Metal target with a library for each SDK; raises `MetallibError`."""
    language = profile.msl_version
    assert language is not None
    tools = [MetalTools.find(sdk) for sdk in sdks]

    def make(work: tuple[CompiledKernel, MetalTools]) -> Metallib:
        kernel, tool = work
        data = tool.compile(kernel.name, kernel.kernel.msl, math, language)
        dump.kernel(profile.name, kernel.name, f"80-{tool.sdk}.metallib", data)
        return Metallib(tool.sdk, data)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(make, product(kernels, tools)))
    count = len(tools)
    return tuple(
        replace(k, kernel=replace(k.kernel, metallibs=tuple(made[i * count : (i + 1) * count])))
        for i, k in enumerate(kernels)
    )
