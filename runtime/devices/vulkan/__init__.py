"""The Vulkan device: any driver of version 1.2 or later, such as Mesa's lavapipe on a CPU.

Model: one compute queue; one timeline semaphore for each HAL semaphore; binding i of a kernel is
storage buffer i of descriptor set 0; one descriptor set for each dispatch. Device memory is mapped
where the host and the device share it, and reached through staging buffers elsewhere. Robust buffer
access is on, so that a kernel which reads or writes past a binding stays inside its buffer.
"""
