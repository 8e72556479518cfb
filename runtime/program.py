"""A bundle bound to a device: calls become one command buffer each, recorded once.

The first call of a function allocates its buffers and records its command list; later calls copy
the arguments in, submit the same command buffer and copy the results out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Final, cast

import numpy as np

from ingot.runtime.dtypes import (
    Array,
    accepted_dtypes,
    numpy_dtype,
    pack_int4,
    spell,
    unpack_int4,
)
from ingot.runtime.errors import ArgumentError, DeviceError, NoVariantError
from ingot.runtime.hal import Buffer, BufferRange, CommandBuffer, Device, Executable, Memory, Timing
from ingot.runtime.select import select_variant
from ingot.targets.bundle.model import (
    Barrier,
    BufferKind,
    BufferRef,
    Bundle,
    Copy,
    Dispatch,
    DType,
    Fill,
    Function,
    FunctionBody,
    TensorType,
    Variant,
)

Result = Array | tuple[Array, ...] | None


class Program:
    """The functions of a bundle, ready to run; `program.main(x, y)` calls the function `main`.

    Calls may come from several threads; they run one after the other, because they share the
    buffers.
    """

    def __init__(self, bundle: Bundle, device: Device) -> None:
        """Load the best variant; raises `NoVariantError` or what the device reports."""
        self.bundle: Final = bundle
        self.device: Final = device
        self.variant: Final[Variant] = bundle.variants[select_variant(bundle, device)]
        self._executable: Final[Executable] = device.load(
            self.variant.kernels, self.variant.math_mode, self.variant.msl_version
        )
        self._bodies: Final = {
            function.name: (function, body)
            for function, body in zip(bundle.functions, self.variant.bodies, strict=True)
        }
        self._constants: Final[dict[int, Buffer]] = {}
        self._arena: Buffer | None = None
        self._calls: Final[dict[tuple[str, bool], _Call]] = {}
        self._last_call: _Call | None = None
        self._lock: Final = Lock()

    def call(self, function: str, *arguments: Array) -> Result:
        """Run a function on NumPy arrays.

        Returns one array, a tuple when there are several results, None when there is none. Shapes
        and element types are those of the bundle's function; raises `ArgumentError` when the
        arguments have others, and `DeviceError` when the device fails.
        """
        return self._run(function, arguments, profiling=False)[0]

    def profile(self, function: str, *arguments: Array) -> tuple[Result, tuple[Timing, ...]]:
        """Run a function as `call` does; return its result and when each command ran.

        Raises `NoVariantError` on a device without the feature `timestamps`.
        """
        if "timestamps" not in self.device.features:
            raise NoVariantError(f"'{self.device.name}' has no timestamps to profile with")
        return self._run(function, arguments, profiling=True)

    def __getattr__(self, name: str) -> Callable[..., Result]:
        if name.startswith("_") or name not in self._bodies:
            raise AttributeError(f"the bundle has no function '{name}'")
        return partial(self.call, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._bodies]

    def _run(
        self, name: str, arguments: Sequence[Array], profiling: bool
    ) -> tuple[Result, tuple[Timing, ...]]:
        if name not in self._bodies:
            known = ", ".join(f"'{other}'" for other in self._bodies) or "none"
            raise ArgumentError(f"the bundle has no function '{name}'; it has {known}")
        function, body = self._bodies[name]
        check_arguments(function, arguments)
        with self._lock:
            call = self._calls.get((name, profiling))
            if call is None:
                call = self._record(function, body, profiling)
                self._calls[name, profiling] = call
            # A call that was interrupted while it waited may still use the shared buffers.
            if self._last_call is not None:
                self._last_call.finish()
            self._last_call = call
            results = call.run(arguments)
            timings = call.commands.timings() if profiling else ()
        match results:
            case []:
                return None, timings
            case [one]:
                return one, timings
            case _:
                return tuple(results), timings

    def _record(self, function: Function, body: FunctionBody, profiling: bool) -> _Call:
        arguments = [self._transfer(tensor) for tensor in function.arguments]
        results = [self._transfer(tensor) for tensor in function.results]

        def resolve(ref: BufferRef) -> BufferRange:
            match ref.kind:
                case BufferKind.ARGUMENT:
                    buffer = arguments[ref.index].device
                case BufferKind.RESULT:
                    buffer = results[ref.index].device
                case BufferKind.CONSTANT:
                    buffer = self._constant(ref.index)
                case BufferKind.TRANSIENT:
                    buffer = self._transient()
            return BufferRange(buffer, ref.offset, ref.length)

        commands = self.device.create_command_buffer(profiling)
        commands.begin()
        _copy_staged(commands, [(t.host, t.device) for t in arguments])
        if any(t.is_staged for t in arguments):
            commands.barrier()
        for command in body.commands:
            match command:
                case Dispatch():
                    commands.dispatch(
                        self._executable.pipelines[command.kernel],
                        command.groups,
                        [resolve(ref) for ref in command.bindings],
                        command.push_constants,
                    )
                case Fill():
                    commands.fill(resolve(command.target), command.pattern)
                case Copy():
                    commands.copy(resolve(command.source), resolve(command.target))
                case Barrier():
                    commands.barrier()
        if any(t.is_staged for t in results):
            commands.barrier()
        _copy_staged(commands, [(t.device, t.host) for t in results])
        commands.end()
        return _Call(self.device, commands, arguments, results)

    def _transfer(self, tensor: TensorType) -> _Transfer:
        device = self.device.allocate(tensor.byte_size, Memory.DEVICE)
        staged = not self.device.unified_memory
        host = self.device.allocate(tensor.byte_size, Memory.HOST) if staged else device
        # NumPy refuses to make an array over an empty buffer.
        content = np.frombuffer(host.map(), np.uint8) if host.size else np.empty(0, np.uint8)
        return _Transfer(tensor, host, device, content)

    def _constant(self, index: int) -> Buffer:
        if index not in self._constants:
            data = memoryview(self.bundle.constants[index].data)
            buffer = self.device.allocate(data.nbytes)
            buffer.write(0, data)
            self._constants[index] = buffer
        return self._constants[index]

    def _transient(self) -> Buffer:
        """The arena, shared by all functions: only one of them runs at a time."""
        if self._arena is None:
            self._arena = self.device.allocate(max(b.transient_size for b in self.variant.bodies))
        return self._arena


def check_arguments(function: Function, arguments: Sequence[object]) -> None:
    """Raise `ArgumentError` unless `arguments` are arrays as `function` declares them."""
    expected = function.arguments
    if len(arguments) != len(expected):
        raise ArgumentError(
            f"function '{function.name}' takes {len(expected)} "
            f"argument{'s' * (len(expected) != 1)}, got {len(arguments)}"
        )
    for position, (tensor, value) in enumerate(zip(expected, arguments, strict=True)):
        problem = _mismatch(tensor, value)
        if problem:
            name = function.argument_names[position] if function.argument_names else ""
            label = f" ({name})" if name else ""
            raise ArgumentError(
                f"argument {position}{label} of function '{function.name}': expected "
                f"{spell(tensor)} ({numpy_dtype(tensor.dtype)}), got {problem}"
            )


def _mismatch(tensor: TensorType, value: object) -> str:
    """Return how `value` differs from what was expected, "" when it fits."""
    if not isinstance(value, np.ndarray | np.generic):
        return f"{type(value).__name__}, which is not a NumPy array"
    array = cast("Array", value)
    if array.dtype not in accepted_dtypes(tensor.dtype):
        return f"element type {array.dtype}"
    if array.shape != tensor.shape:
        return "shape " + ("x".join(map(str, array.shape)) or "() (a scalar)")
    return ""


@dataclass(frozen=True)
class _Transfer:
    """An argument or result: where kernels use it and where the host does, perhaps the same."""

    type: TensorType
    host: Buffer
    device: Buffer
    bytes: Array
    """The host buffer as uint8."""

    @property
    def is_staged(self) -> bool:
        return self.host is not self.device

    def store(self, array: Array) -> None:
        """Copy an array of the right shape and type in, whatever its strides."""
        if self.type.dtype is DType.I4:
            self.bytes[:] = pack_int4(array)
        else:
            self.bytes.view(array.dtype).reshape(self.type.shape)[...] = array

    def fetch(self) -> Array:
        """Return a new array with the contents."""
        if self.type.dtype is DType.I4:
            return unpack_int4(self.bytes, self.type.shape)
        return self.bytes.copy().view(numpy_dtype(self.type.dtype)).reshape(self.type.shape)


class _Call:
    """One function's buffers and recorded commands."""

    def __init__(
        self,
        device: Device,
        commands: CommandBuffer,
        arguments: Sequence[_Transfer],
        results: Sequence[_Transfer],
    ) -> None:
        self.commands: Final = commands
        self._device: Final = device
        self._arguments: Final = arguments
        self._results: Final = results
        self._done = device.create_semaphore()
        self._count = 0
        self._is_running = False

    def run(self, arguments: Sequence[Array]) -> list[Array]:
        """Copy in, submit once, wait, copy out."""
        for transfer, array in zip(self._arguments, arguments, strict=True):
            transfer.store(array)
        self._count += 1
        self._is_running = True
        try:
            self._device.queue.submit([self.commands], signal=[(self._done, self._count)])
        except DeviceError:
            self._forget()
            raise
        self.finish()
        return [transfer.fetch() for transfer in self._results]

    def finish(self) -> None:
        """Wait for the submission, if one is still running."""
        if not self._is_running:
            return
        try:
            self._done.wait(self._count)
        except DeviceError:
            self._forget()
            raise
        self._is_running = False

    def _forget(self) -> None:
        """A failed semaphore stays failed; the next call starts with a new one."""
        self._done, self._count, self._is_running = self._device.create_semaphore(), 0, False


def _copy_staged(commands: CommandBuffer, pairs: Sequence[tuple[Buffer, Buffer]]) -> None:
    for source, target in pairs:
        if source is not target:
            commands.copy(BufferRange(source, 0, source.size), BufferRange(target, 0, target.size))
