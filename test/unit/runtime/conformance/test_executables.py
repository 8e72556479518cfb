"""Executables: kernels by name and by position, and what is known of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Device
from ingot.targets.bundle.model import Access, DType

from ..kernels import axpy, entries, ids
from .work import filled, run


def test_several_entry_points_with_names_of_any_kind(device: Device) -> None:
    first, second = entries()
    executable = device.load([first, axpy(), second], "safe", (3, 1))
    assert executable.exports == ("_first.of two", "axpy", ".second_")
    assert [pipeline.kernel.name for pipeline in executable.pipelines] == [*executable.exports]
    for name, value in ((first.name, 1), (second.name, 2)):
        out, pipeline = filled(device, bytes(4)), executable.lookup(name)
        run(device, lambda c, p=pipeline, out=out: c.dispatch(p, (1, 1, 1), [out.whole]))
        assert int.from_bytes(out.read(), "little") == value


def test_reflection(device: Device) -> None:
    kernel = device.load([axpy()], "safe", (3, 1)).pipelines[0].kernel
    assert kernel.threadgroup_size == (64, 1, 1)
    assert kernel.push_constant_size == 8
    assert [(b.name, b.dtype, b.access) for b in kernel.bindings] == [
        ("x", DType.F32, Access.READ),
        ("y", DType.F32, Access.READ),
        ("out", DType.F32, Access.WRITE),
    ]


def test_unknown_kernels_are_refused_with_the_known_ones(device: Device) -> None:
    executable = device.load([axpy(), ids()], "safe", (3, 1))
    with pytest.raises(rt.HalUsageError, match=r"named 'gone'; there are 'axpy', 'ids'$"):
        executable.lookup("gone")
    assert device.load([], "safe", (3, 1)).exports == ()


def test_a_kernel_without_its_entry_point_does_not_load(device: Device) -> None:
    broken = replace(ids(), entry_point="gone", spirv_entry_point="gone")
    with pytest.raises(rt.KernelError, match="gone"):
        device.load([broken], "safe", (3, 1))
