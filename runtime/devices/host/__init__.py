"""The `host` device: runs the MSL text of a bundle on the CPU, and checks it.

`compile_kernel` and `HostKernel.run` execute a kernel; `check_msl` finds what Apple's compiler would
refuse; `device.HostDevice` is the HAL device built on them. See docs/host-device.md.
"""
