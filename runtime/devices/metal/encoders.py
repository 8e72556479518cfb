"""The encoders of one command buffer: in what Metal's commands are written, and their order.

Buffers are untracked, so Metal orders nothing by itself. Dispatches between two barriers run at the
same time in one concurrent compute encoder, and a barrier is a memory barrier in it. Fills and
copies are in blit encoders, which have no barriers: there, and wherever the kind of encoder
changes, a fence holds the next encoder until the one before is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ingot.runtime.devices.metal import native
from ingot.runtime.devices.metal.counters import Samples
from ingot.runtime.devices.metal.native import (
    BARRIER_BUFFERS,
    CONCURRENT,
    ENCODER_STATUS,
)
from ingot.runtime.errors import DeviceError


class Recording:
    """The `MTLCommandBuffer`s of one submission, one after the other."""

    def __init__(
        self, mtl_device: Any, mtl_queue: Any, name: str, commit: Callable[[Any], None]
    ) -> None:
        """`commit` gets every buffer but the last one, which is the caller's to commit."""
        self._device: Final = mtl_device
        self._queue: Final = mtl_queue
        self._name: Final = name
        self._commit: Final = commit
        self.buffer: Any = None
        """The one that is being written."""
        self.fence: Any = None
        """Updated by every encoder that is not the last one."""
        self.encoder: Final = Encoder(self)
        """For all command buffers that are not profiled."""
        self.split()

    def split(self) -> Any:
        """Commit the present one, begin another, and return it.

        A queue has 64 that are not complete, and waits for one of them before it makes another.
        """
        if self.buffer is not None:
            self._commit(self.buffer)
        descriptor = native.load_metal().MTLCommandBufferDescriptor.alloc().init()
        descriptor.setErrorOptions_(ENCODER_STATUS)
        buffer = self._queue.commandBufferWithDescriptor_(descriptor)
        if buffer is None:
            raise DeviceError(f"'{self._name}' gives no command buffer")
        self.buffer = buffer
        return buffer

    def update_fence(self, encoder: Any) -> None:
        """Let the next encoder wait for this one."""
        if self.fence is None:
            self.fence = self._device.newFence()
        encoder.updateFence_(self.fence)


class Encoder:
    """The encoders for some of our command buffers; at most one is open."""

    def __init__(self, recording: Recording) -> None:
        self._recording: Final = recording
        self._open: Any = None
        self._is_compute = False

    def compute(self, name: str) -> Any:
        """Return a compute encoder for the command `name`."""
        if self._open is None or not self._is_compute:
            self._is_compute = True
            self._begin(self._new_compute)
        return self._noted(name)

    def blit(self, name: str) -> Any:
        """Return a blit encoder for the command `name`."""
        if self._open is None or self._is_compute:
            self._is_compute = False
            self._begin(self._new_blit)
        return self._noted(name)

    def barrier(self) -> None:
        """Order what follows after what came before."""
        if self._open is not None and self._is_compute:
            self._open.memoryBarrierWithScope_(BARRIER_BUFFERS)
        else:
            self.pause()

    def pause(self) -> None:
        """End the open encoder, and let the next one wait for it."""
        if self._open is not None:
            self._recording.update_fence(self._open)
            self.close()

    def close(self) -> None:
        """End the open encoder, which is the last one."""
        if self._open is not None:
            self._open.endEncoding()
            self._open = None

    def _new_compute(self) -> Any:
        return self._recording.buffer.computeCommandEncoderWithDispatchType_(CONCURRENT)

    def _new_blit(self) -> Any:
        return self._recording.buffer.blitCommandEncoder()

    def _begin(self, new: Any) -> None:
        """Open another encoder, after the present one."""
        self.pause()
        self._open = new()
        if self._recording.fence is not None:
            self._open.waitForFence_(self._recording.fence)

    def _noted(self, name: str) -> Any:
        self._open.insertDebugSignpost_(name)
        return self._open


class SampledEncoder(Encoder):
    """An encoder for each command, which writes the GPU's clock when it starts and ends."""

    def __init__(self, recording: Recording, samples: Samples) -> None:
        super().__init__(recording)
        self._samples: Final = samples
        self._command = 0

    def compute(self, name: str) -> Any:
        self.pause()
        return super().compute(name)

    def blit(self, name: str) -> Any:
        self.pause()
        return super().blit(name)

    def _new_compute(self) -> Any:
        descriptor = native.load_metal().MTLComputePassDescriptor.computePassDescriptor()
        descriptor.setDispatchType_(CONCURRENT)
        self._sample(descriptor)
        return self._recording.buffer.computeCommandEncoderWithDescriptor_(descriptor)

    def _new_blit(self) -> Any:
        descriptor = native.load_metal().MTLBlitPassDescriptor.blitPassDescriptor()
        self._sample(descriptor)
        return self._recording.buffer.blitCommandEncoderWithDescriptor_(descriptor)

    def _sample(self, descriptor: Any) -> None:
        self._samples.attach(descriptor, self._command)
        self._command += 1


class SplitEncoder(Encoder):
    """A Metal command buffer for each command: what is left where encoders cannot be sampled."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self.timed: Final[list[Any]] = []
        """The `MTLCommandBuffer` of each command."""

    def compute(self, name: str) -> Any:
        self._split()
        return super().compute(name)

    def blit(self, name: str) -> Any:
        self._split()
        return super().blit(name)

    def _split(self) -> None:
        self.pause()
        # The first command stays behind what the submission waits for.
        self.timed.append(self._recording.split() if self.timed else self._recording.buffer)
