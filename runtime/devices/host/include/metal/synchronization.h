// Barriers, fences and the enumerations that go with them.
#pragma once

namespace metal {
enum class mem_flags : uint {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }
enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

INGOT_INLINE void threadgroup_barrier(mem_flags) { ingot_barrier(); }
INGOT_INLINE void threadgroup_barrier(mem_flags, thread_scope) { ingot_barrier(); }
INGOT_INLINE void simdgroup_barrier(mem_flags) {
  char nothing = 0;
  ingot_simd_exchange(&nothing, 1);
}
INGOT_INLINE void simdgroup_barrier(mem_flags flags, thread_scope) { simdgroup_barrier(flags); }
inline void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
}  // namespace metal
