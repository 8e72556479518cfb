"""The Metal device on the stand-in: argument buffers, faults; and that the stand-in has rules.

The HAL's contract and programs run on it by the `device` fixture.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import metal_stand_in
from support.metal_stand_in import MetalRule, MTLCompileOptions, MTLCopyAllDevices, libraries

import ingot.runtime as rt
from ingot.runtime.devices.metal.device import MetalDevice
from ingot.runtime.hal import BufferRange
from ingot.targets.bundle.model import Metallib

from .conformance.work import filled, record, run
from .conftest import METAL
from .kernels import axpy

pytestmark = pytest.mark.skipif(METAL == "metal", reason="this is a Mac: its own Metal is tested")

ARGUMENT_BUFFER_MSL = """
#include <metal_stdlib>
using namespace metal;
struct Constants { uint n; float a; };
struct Buffers {
    const device float* x [[id(0)]];
    const device float* y [[id(1)]];
    device float* out [[id(2)]];
};
kernel void axpy_main(constant Buffers& b [[buffer(0)]], constant Constants& c [[buffer(1)]],
                      uint3 gid [[thread_position_in_grid]]) {
    if (gid.x < c.n) { b.out[gid.x] = b.x[gid.x] * c.a + b.y[gid.x]; }
}
"""


def test_kernels_with_an_argument_buffer(metal: MetalDevice) -> None:
    kernel = replace(axpy(), msl=ARGUMENT_BUFFER_MSL, argument_buffer=True)
    pipeline = metal.load([kernel], "safe", (3, 1)).pipelines[0]
    area = filled(metal, np.arange(128, dtype=np.float32).tobytes())
    out = filled(metal, bytes(256))
    bindings = [BufferRange(area, 0, 256), BufferRange(area, 256, 256), out.whole]
    constants = struct.pack("<If", 64, 2.0)
    run(metal, lambda c: c.dispatch(pipeline, (1, 1, 1), bindings, constants))
    x = np.arange(128, dtype=np.float32)
    assert np.array_equal(np.frombuffer(out.read(), np.float32), 2 * x[:64] + x[64:])


def test_a_kernel_that_fails_reaches_all_who_wait_and_nobody_else(metal: MetalDevice) -> None:
    pipeline = metal.load([axpy()], "safe", (3, 1)).pipelines[0]
    small = filled(metal, bytes(256))
    reaches_past = record(
        metal,
        lambda c: c.dispatch(
            pipeline, (64, 1, 1), [small.whole] * 3, struct.pack("<If", 64 * 64, 1.0)
        ),
    )
    failed, after = metal.create_semaphore(), metal.create_semaphore()
    metal.queue.submit([reaches_past], signal=[(failed, 1)])
    metal.queue.submit([], wait=[(failed, 1)], signal=[(after, 1)])
    for semaphore in (after, failed):
        with pytest.raises(rt.KernelError, match=r"^Metal failed: .* \(in axpy\)$"):
            semaphore.wait(1, 60)
    run(metal, lambda c: c.fill(small.whole, b"\xa5"))
    assert small.read() == b"\xa5" * 256


def test_a_kernel_for_other_simd_groups_does_not_load(
    metal: MetalDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "SIMD_WIDTH", 64)
    with pytest.raises(rt.KernelError, match=r"SIMD-groups of 64 threads .* compiled for 32"):
        metal.load([axpy()], "safe", (3, 1))


def test_a_metallib_for_the_platform_goes_before_the_text(metal: MetalDevice) -> None:
    text = axpy().msl
    library = Metallib("macosx", f"MTLB macosx\n{text}".encode())
    other = Metallib("iphoneos", f"MTLB iphoneos\n{text}".encode())
    ahead = replace(axpy(), msl="no MSL", metallibs=(other, library))
    assert metal.load([ahead], "safe", (3, 1)).exports == ("axpy",)
    assert metal.load([replace(axpy(), metallibs=(other,))], "safe", (3, 1)).exports == ("axpy",)
    with pytest.raises(rt.KernelError, match="does not load: Invalid library file"):
        broken = Metallib("macosx", b"no library")
        metal.load([replace(axpy(), metallibs=(broken,))], "safe", (3, 1))
    with pytest.raises(rt.KernelError, match="neither MSL nor a metallib for macOS"):
        metal.load([replace(axpy(), msl="", metallibs=(other,))], "safe", (3, 1))


def compute(mtl: Any, use: Callable[[Any], None]) -> None:
    encoder = mtl.newCommandQueue().commandBuffer().computeCommandEncoderWithDispatchType_(1)
    use(encoder)


def blit(mtl: Any, use: Callable[[Any, Any], None]) -> None:
    buffer = mtl.newBufferWithLength_options_(64, 256)
    use(mtl.newCommandQueue().commandBuffer().blitCommandEncoder(), buffer)


def commit_an_open_encoder(mtl: Any) -> None:
    buffer = mtl.newCommandQueue().commandBuffer()
    buffer.blitCommandEncoder()
    buffer.commit()


def open_many(mtl: Any) -> None:
    queue = mtl.newCommandQueue()
    kept = [queue.commandBuffer() for _ in range(65)]
    assert not kept


def wait_for_nothing(mtl: Any) -> None:
    compute(mtl, lambda encoder: encoder.waitForFence_(mtl.newFence()))


def capture_nothing(mtl: Any) -> None:
    descriptor = metal_stand_in.MTLCaptureDescriptor.alloc().init()
    manager = metal_stand_in.MTLCaptureManager.sharedCaptureManager()
    manager.startCaptureWithDescriptor_error_(descriptor, None)


def dispatch_without_buffers(mtl: Any) -> None:
    options = MTLCompileOptions.alloc().init()
    options.setMathMode_(0)
    options.setMathFloatingPointFunctions_(1)
    library, _ = mtl.newLibraryWithSource_options_error_(axpy().msl, options, None)
    pipeline = metal_stand_in.MTLComputePipelineDescriptor.alloc().init()
    pipeline.setComputeFunction_(library.newFunctionWithName_("axpy_main"))
    make = mtl.newComputePipelineStateWithDescriptor_options_reflection_error_
    state, _ = make(pipeline, 0, None, None)

    def use(encoder: Any) -> None:
        encoder.setComputePipelineState_(state)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (64, 1, 1))

    compute(mtl, use)


@pytest.mark.parametrize("is_ordered", [True, False])
def test_the_stand_in_disorders_encoders_without_a_fence(is_ordered: bool) -> None:
    mtl = MTLCopyAllDevices()[0]
    with metal_stand_in.autorelease_pool():
        _fill_twice(mtl, is_ordered)


def _fill_twice(mtl: Any, is_ordered: bool) -> None:
    area = mtl.newBufferWithLength_options_(4, 256)
    buffer = mtl.newCommandQueue().commandBuffer()
    fence = mtl.newFence()
    for value in (1, 2):
        encoder = buffer.blitCommandEncoder()
        if is_ordered and value == 2:
            encoder.waitForFence_(fence)
        encoder.fillBuffer_range_value_(area, (0, 4), value)
        encoder.updateFence_(fence)
        encoder.endEncoding()
    buffer.commit()
    buffer.waitUntilCompleted()
    assert bytes(area.contents().as_buffer(4)) == bytes([2 if is_ordered else 1] * 4)


@pytest.mark.parametrize(
    ("misuse", "rule"),
    [
        (lambda m: m.newBufferWithLength_options_(0, 256), "at least one byte"),
        (lambda m: m.newBufferWithLength_options_(-1, 256), "argument 0 .* is no 'Q': -1"),
        (lambda m: m.newBufferWithLength_options_(4), "takes 2 arguments, got 1"),
        (lambda m: blit(m, lambda e, b: e.fillBuffer_range_value_(b, (0, 64), 200)), "no 'z': 200"),
        (lambda m: blit(m, lambda e, b: e.fillBuffer_range_value_(b, (1, 4), 0)), "whole words"),
        (lambda m: blit(m, lambda e, b: (e.endEncoding(), e.endEncoding())), "after endEncoding"),
        (lambda m: compute(m, lambda e: e.setBytes_length_atIndex_(b"1", 2, 0)), "not that of"),
        (lambda m: compute(m, lambda e: e.setBytes_length_atIndex_(b"1", 1, 31)), "no buffer 31"),
        (lambda m: m.newCommandQueue().commandBuffer().waitUntilCompleted(), "not committed"),
        (open_many, "more than 64 uncommitted"),
        (wait_for_nothing, "nothing updates this fence"),
        (capture_nothing, "a capture of nothing"),
        (commit_an_open_encoder, "commit while an encoder is open"),
        (dispatch_without_buffers, "buffer 0 is not bound"),
    ],
)
def test_the_stand_in_enforces_rules(misuse: Callable[[Any], None], rule: str) -> None:
    with pytest.raises(MetalRule, match=rule), metal_stand_in.autorelease_pool():
        misuse(MTLCopyAllDevices()[0])


@pytest.mark.parametrize("is_ordered", [True, False])
def test_the_stand_in_disorders_command_buffers_without_an_event(is_ordered: bool) -> None:
    mtl = MTLCopyAllDevices()[0]
    area = mtl.newBufferWithLength_options_(4, 256)
    queue, event = mtl.newCommandQueue(), mtl.newSharedEvent()
    with metal_stand_in.autorelease_pool():
        for value in (1, 2):
            buffer = queue.commandBuffer()
            if is_ordered and value == 2:
                buffer.encodeWaitForEvent_value_(event, 1)
            encoder = buffer.blitCommandEncoder()
            encoder.fillBuffer_range_value_(area, (0, 4), value)
            encoder.endEncoding()
            if is_ordered:
                buffer.encodeSignalEvent_value_(event, value)
            buffer.commit()
        buffer.waitUntilCompleted()
    assert bytes(area.contents().as_buffer(4)) == bytes([2 if is_ordered else 1] * 4)


def test_what_metal_returns_needs_a_pool() -> None:
    with pytest.raises(MetalRule, match="commandBuffer without an autorelease pool"):
        MTLCopyAllDevices()[0].newCommandQueue().commandBuffer()
