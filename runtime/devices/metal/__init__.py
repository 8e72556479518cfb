"""The Metal device, through PyObjC; macOS only.

Model: shared-storage buffers, one command queue, a shared event for each semaphore. Metal's command
buffers are used once, so ours keep their commands and encode them at every submission, without
waiting: dispatches go into one concurrent compute encoder with explicit memory barriers, aligned
fills and copies into blit encoders between, other fills and copies into two small kernels of our
own. Resources are untracked: fences order encoders, and shared events submissions, as the HAL's
contract says. Compiled pipelines are kept in binary archives in the cache.

Binding i of a kernel is buffer i, and push constants are the buffer after the last; with an
argument buffer all bindings live in buffer 0 and push constants are buffer 1.
"""
