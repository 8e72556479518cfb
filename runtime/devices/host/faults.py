"""Sentences for what the engine found wrong."""

from __future__ import annotations

from ctypes import Array, c_uint32

from ingot.runtime.devices.host.binding import BoundBuffers
from ingot.runtime.devices.host.compile import CompiledKernel
from ingot.runtime.devices.host.engine import Fault
from ingot.runtime.devices.host.errors import (
    ArithmeticFault,
    BarrierError,
    KernelFault,
    OutOfBoundsError,
    StackOverflowError,
)
from ingot.runtime.errors import DeviceMemoryError, KernelError

_ACCESS = {0: "read", 1: "write", 2: "access"}
# Kinds of dispatch.h.
_ARITHMETIC, _STACK, _THREADGROUP, _DIVERGENT, _MISSED, _ILLEGAL, _RESOURCES = range(2, 9)


def fault_error(
    kernel: CompiledKernel, bound: BoundBuffers, fault: Fault
) -> KernelError | DeviceMemoryError:
    """The exception for a fault of a dispatch."""
    name = f"kernel '{kernel.signature.name}'"
    group = _position(fault.threadgroup)
    thread = _position(fault.thread) if fault.thread_known else None
    where = f"threadgroup {group}" if thread is None else f"thread {thread} of threadgroup {group}"
    match fault.kind:
        case k if k == _ARITHMETIC:
            return ArithmeticFault(
                f"{name}: integer division by zero, or of the least value by -1, by {where}"
            )
        case k if k == _STACK:
            return StackOverflowError(
                f"{name}: the private memory of {where} exceeds the host device's 256 KiB"
            )
        case k if k == _DIVERGENT:
            other = _position(fault.other_thread)
            return BarrierError(
                f"{name}: {where} waits at one barrier and thread {other} at another"
            )
        case k if k == _MISSED:
            other = _position(fault.other_thread)
            return BarrierError(
                f"{name}: {where} waits at a barrier that thread {other} never "
                "reaches: it has ended"
            )
        case k if k == _ILLEGAL:
            return KernelFault(f"{name}: {where} ran into undefined behaviour")
        case k if k == _RESOURCES:
            return DeviceMemoryError(f"{name}: no memory left for stacks or threadgroup memory")
        case _:
            return _access_error(kernel, bound, fault, name, where, thread, group)


def _access_error(
    kernel: CompiledKernel,
    bound: BoundBuffers,
    fault: Fault,
    name: str,
    where: str,
    thread: tuple[int, int, int] | None,
    group: tuple[int, int, int],
) -> KernelFault:
    access = _ACCESS[fault.write]
    if fault.kind == _THREADGROUP:
        variable = _threadgroup_name(kernel, fault.variable)
        what, offset, size = f"threadgroup memory '{variable}'", fault.offset, fault.size
    else:
        found = bound.locate(fault.address)
        if found is None:
            return KernelFault(
                f"{name}: {access} of address {fault.address:#x}, far from every buffer or not "
                f"aligned as its type asks, by {where}"
            )
        binding, offset = found
        variable, size = binding.name, binding.size
        what = f"buffer '{variable}'"
    return OutOfBoundsError(
        f"{name}: {access} of {what} at byte offset {offset}, outside of its {size} bytes, "
        f"by {where}",
        variable,
        offset,
        size,
        access,
        thread,
        group,
    )


def _threadgroup_name(kernel: CompiledKernel, variable: int) -> str:
    if variable >= 0:
        return kernel.reflection.threadgroup_variables[variable].name
    index = -1 - variable
    names = [p.name for p in kernel.signature.parameters if p.threadgroup == index]
    return names[0] if names else str(index)


def _position(values: Array[c_uint32]) -> tuple[int, int, int]:
    return values[0], values[1], values[2]
