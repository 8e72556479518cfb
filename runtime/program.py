"""A bundle bound to a device: what a call does is recorded once, in as few submissions as it can.

The first call of a function allocates its buffers and records its command list; later calls copy
the arguments in, submit what was recorded and copy the results out. A function with sizes that are
known at run time is recorded once for each combination of them, the latest few are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from ingot.runtime.arguments import Transfer, check_arguments
from ingot.runtime.calls import PreparedCall, RecordedCall, Result, Turns
from ingot.runtime.dtypes import Array
from ingot.runtime.errors import ArgumentError, BundleError, NoVariantError
from ingot.runtime.execution import Execution, Recorder
from ingot.runtime.hal import Buffer, BufferRange, Device, Executable, Timing
from ingot.runtime.select import select_variant
from ingot.runtime.setup import CallShapes, call_shapes, value_of
from ingot.targets.bundle.model import (
    BufferKind,
    BufferRef,
    Bundle,
    Function,
    FunctionBody,
    Variant,
)

_KEPT: Final = 16
"""Recorded calls that are kept of functions with sizes known at run time, over all functions."""


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
        self._calls: Final[OrderedDict[_Key, RecordedCall]] = OrderedDict()
        self._turns: Final = Turns()

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
        self._require_timestamps()
        return self._run(function, arguments, profiling=True)

    def prepare(self, function: str, *arguments: Array, profiling: bool = False) -> PreparedCall:
        """Put the arguments on the device and record the call, to run it again and again there.

        Raises what `call` raises, and with `profiling` what `profile` raises.
        """
        if profiling:
            self._require_timestamps()
        declared, body = self._checked(function, arguments)
        shapes = call_shapes(declared, body, tuple(np.shape(array) for array in arguments))
        with self._turns.lock:
            call = self._record(body, shapes, profiling, resident=True)
        prepared = PreparedCall(declared, call, self._turns)
        prepared.write(*arguments)
        return prepared

    def __getattr__(self, name: str) -> Callable[..., Result]:
        if name.startswith("_") or name not in self._bodies:
            raise AttributeError(f"the bundle has no function '{name}'")
        return partial(self.call, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._bodies]

    def _run(
        self, name: str, arguments: Sequence[Array], profiling: bool
    ) -> tuple[Result, tuple[Timing, ...]]:
        function, body = self._checked(name, arguments)
        shapes = tuple(np.shape(array) for array in arguments)
        with self._turns.lock:
            call = self._recorded((name, profiling, shapes), function, body)
            self._turns.start(call.execution)
            return call.run(arguments), tuple(call.execution.timings)

    def _checked(self, name: str, arguments: Sequence[Array]) -> tuple[Function, FunctionBody]:
        """The function, whose signature the arguments fit; raises `ArgumentError`."""
        if name not in self._bodies:
            known = ", ".join(f"'{other}'" for other in self._bodies) or "none"
            raise ArgumentError(f"the bundle has no function '{name}'; it has {known}")
        function, body = self._bodies[name]
        check_arguments(function, arguments)
        return function, body

    def _require_timestamps(self) -> None:
        if "timestamps" not in self.device.features:
            raise NoVariantError(f"'{self.device.name}' has no timestamps to profile with")

    def _recorded(self, key: _Key, function: Function, body: FunctionBody) -> RecordedCall:
        call = self._calls.get(key)
        if call is not None:
            self._calls.move_to_end(key)
            return call
        _, profiling, shapes = key
        call = self._record(body, call_shapes(function, body, shapes), profiling)
        self._calls[key] = call
        of_open_sizes = [k for k, c in self._calls.items() if c.has_open_sizes]
        for old in of_open_sizes[:-_KEPT]:
            del self._calls[old]
        return call

    def _record(
        self, body: FunctionBody, shapes: CallShapes, profiling: bool, resident: bool = False
    ) -> RecordedCall:
        arguments = [Transfer.allocate(tensor, self.device) for tensor in shapes.arguments]
        results = [Transfer.allocate(tensor, self.device) for tensor in shapes.results]

        def resolve(ref: BufferRef) -> BufferRange:
            match ref.kind:
                case BufferKind.ARGUMENT:
                    buffer = arguments[ref.index].device
                case BufferKind.RESULT:
                    buffer = results[ref.index].device
                case BufferKind.CONSTANT:
                    buffer = self._constant(ref.index)
                case BufferKind.TRANSIENT:
                    buffer = self._transient(shapes.transient)
            offset, length = (value_of(o, shapes.registers) for o in (ref.offset, ref.length))
            if not 0 <= offset <= offset + length <= buffer.size:
                raise BundleError(
                    f"the bundle is damaged: bytes {offset} to {offset + length} of "
                    f"{ref.kind.name.lower()} {ref.index}, which has {buffer.size}"
                )
            return BufferRange(buffer, offset, length)

        recorder = Recorder(self.device, self._executable, resolve, shapes.registers, profiling)
        steps = recorder.record(
            body.commands,
            before=[(t.host, t.device) for t in arguments if t.is_staged and not resident],
            after=[(t.device, t.host) for t in results if t.is_staged and not resident],
        )
        execution = Execution(self.device, shapes.registers, profiling)
        return RecordedCall(execution, steps, arguments, results, bool(body.setup))

    def _constant(self, index: int) -> Buffer:
        if index not in self._constants:
            data = memoryview(self.bundle.constants[index].data)
            self._constants[index] = self.device.hold(data)
        return self._constants[index]

    def _transient(self, size: int) -> Buffer:
        """The arena, shared by all functions: only one of them runs at a time.

        It is replaced by a larger one where a call needs that; earlier calls keep theirs.
        """
        if self._arena is None or self._arena.size < size:
            known = max(body.transient_size for body in self.variant.bodies)
            self._arena = self.device.allocate(max(known, size))
        return self._arena


_Key = tuple[str, bool, tuple[tuple[int, ...], ...]]
"""Function, whether it is profiled, and the shapes of its arguments."""
