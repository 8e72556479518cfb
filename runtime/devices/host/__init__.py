"""The `host` device: runs the MSL text of a bundle on the CPU, and checks it.

`kernel.compile_kernel` and `HostKernel.run` execute a kernel; `check.check_msl` finds what Apple's
compiler would refuse; `device.HostDevice` is the HAL device. docs/host-device.md describes it.
"""
