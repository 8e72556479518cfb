"""Pipelines that Metal compiled before: binary archives in the cache, one for each executable.

An archive belongs to the GPU, the system and the code that it was made of, which are in its name.
Metal refuses one that another version of the system wrote, or that is damaged, and one that lacks
a pipeline counts as damaged, too: then it is made again.
"""

from __future__ import annotations

import contextlib
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ingot.runtime.devices.cache import cache_folder, digest, forget_oldest, publish
from ingot.runtime.devices.metal import native
from ingot.runtime.devices.metal.native import (
    FAIL_ON_ARCHIVE_MISS,
    PLATFORM,
    file_url,
    message_of,
)
from ingot.runtime.errors import DeviceError, KernelError
from ingot.targets.bundle.model import Kernel

MOST_ARCHIVES: Final = 256
"""That the cache keeps."""
_SUFFIX: Final = ".metalarchive"


def archive_path(
    mtl_device: Any, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
) -> Path | None:
    """Where the archive of an executable is, or will be; None where there is no cache."""
    parts: list[str | bytes] = [
        str(mtl_device.name()),
        platform.platform(),
        f"{math_mode} {msl_version}",
    ]
    for kernel in kernels:
        parts += [kernel.entry_point, kernel.metallib_for(PLATFORM) or kernel.msl]
    try:
        return cache_folder("metal") / f"{digest(*parts)}{_SUFFIX}"
    except DeviceError:
        return None


def pipeline_states(
    mtl_device: Any, functions: Sequence[tuple[str, Any]], path: Path | None
) -> list[Any]:
    """The pipeline state of each (kernel's name, `MTLFunction`), from the archive at `path`.

    Makes the archive where it is missing or of no use. Raises `KernelError` for a function that
    makes no pipeline.
    """
    descriptors = [_descriptor(name, function) for name, function in functions]
    if path is None:
        return [_state(mtl_device, descriptor, 0) for descriptor in descriptors]
    if path.exists():
        archive = _open(mtl_device, path)
        if archive is not None:
            with contextlib.suppress(KernelError):
                states = _states(mtl_device, descriptors, archive, FAIL_ON_ARCHIVE_MISS)
                with contextlib.suppress(OSError):
                    os.utime(path)  # the oldest go first
                return states
    archive = _open(mtl_device, None)
    if archive is None:
        return [_state(mtl_device, descriptor, 0) for descriptor in descriptors]
    for descriptor in descriptors:
        is_added, error = archive.addComputePipelineFunctionsWithDescriptor_error_(descriptor, None)
        if not is_added:
            raise KernelError(
                f"kernel '{descriptor.label()}' makes no pipeline: {message_of(error)}"
            )
    states = _states(mtl_device, descriptors, archive, 0)
    _save(archive, path)
    return states


def _descriptor(name: str, function: Any) -> Any:
    descriptor = native.load_metal().MTLComputePipelineDescriptor.alloc().init()
    descriptor.setComputeFunction_(function)
    descriptor.setLabel_(name)
    return descriptor


def _states(mtl_device: Any, descriptors: Sequence[Any], archive: Any, options: int) -> list[Any]:
    for descriptor in descriptors:
        descriptor.setBinaryArchives_([archive])
    return [_state(mtl_device, descriptor, options) for descriptor in descriptors]


def _state(mtl_device: Any, descriptor: Any, options: int) -> Any:
    make = mtl_device.newComputePipelineStateWithDescriptor_options_reflection_error_
    state, error = make(descriptor, options, None, None)
    if state is None:
        raise KernelError(f"kernel '{descriptor.label()}' makes no pipeline: {message_of(error)}")
    return state


def _open(mtl_device: Any, path: Path | None) -> Any:
    """The archive in a file, or an empty one; None when Metal refuses it."""
    descriptor = native.load_metal().MTLBinaryArchiveDescriptor.alloc().init()
    if path is not None:
        descriptor.setUrl_(file_url(path))
    return mtl_device.newBinaryArchiveWithDescriptor_error_(descriptor, None)[0]


def _save(archive: Any, path: Path) -> None:
    """Write an archive beside its place and move it there; without a cache nothing is kept."""
    with (
        contextlib.suppress(OSError),
        tempfile.TemporaryDirectory(dir=path.parent, prefix=".build-") as folder,
    ):
        made = Path(folder) / path.name
        is_written, _ = archive.serializeToURL_error_(file_url(made), None)
        if is_written:
            publish(made, path)
            files = os.scandir(path.parent)
            forget_oldest((e for e in files if e.name.endswith(_SUFFIX)), MOST_ARCHIVES)
