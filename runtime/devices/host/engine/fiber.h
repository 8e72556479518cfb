// Switching between stacks: hand-written for x86-64 and AArch64, ucontext elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(INGOT_FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define INGOT_FIBER_UCONTEXT 1
#endif

#if defined(INGOT_FIBER_UCONTEXT)
#include <ucontext.h>
#endif

namespace ingot {

#if defined(INGOT_FIBER_UCONTEXT)

struct Fiber {
  ucontext_t context;
};

inline void fiber_switch(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

inline void fiber_prepare(Fiber& fiber, char* stack, size_t size, void (*entry)()) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack;
  fiber.context.uc_stack.ss_size = size;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, entry, 0);
}

#else

/// A suspended fiber is the address of its saved registers, which lie on its own stack.
struct Fiber {
  void* stack_pointer;
};

/// Saves the callee-saved registers on this stack, stores its pointer in `*from`, continues at `to`.
extern "C" void ingot_fiber_switch(void** from, void* to);

inline void fiber_switch(Fiber& from, Fiber& to) {
  ingot_fiber_switch(&from.stack_pointer, to.stack_pointer);
}

/// Lays out the stack as if the fiber had been suspended just before the first line of `entry`.
inline void fiber_prepare(Fiber& fiber, char* stack, size_t size, void (*entry)()) {
  char* top = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(stack + size) & ~uintptr_t{63});
#if defined(__x86_64__)
  // rbp rbx r12 r13 r14 r15, the address to return to, and the slot of `entry`'s own return address
  void** frame = reinterpret_cast<void**>(top) - 8;
  __builtin_memset(frame, 0, 64);
  frame[6] = reinterpret_cast<void*>(entry);
#else
  // x19..x30 (x30 is the address to return to), d8..d15
  void** frame = reinterpret_cast<void**>(top - 160);
  __builtin_memset(frame, 0, 160);
  frame[11] = reinterpret_cast<void*>(entry);
#endif
  fiber.stack_pointer = frame;
}

#endif

}  // namespace ingot
