// One worker runs whole threadgroups on one OS thread; each MSL thread is a fiber.
#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "../include/metal/abi.h"
#include "dispatch.h"
#include "fiber.h"
#include "memory.h"

namespace ingot {

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxSimdgroups = kMaxThreads / INGOT_SIMD_WIDTH;
constexpr unsigned kMaxVariables = 64;
constexpr unsigned kMaxPosted = 64;
constexpr size_t kStackSize = 256 * 1024;
constexpr size_t kStackGuard = 64 * 1024;
constexpr size_t kVariableGuard = 64 * 1024;

enum class State : uint8_t { fresh, ready, at_barrier, in_exchange, finished };

/// A fiber's stack; the lower guard page turns an overflow into a fault.
struct Stack {
  ingot_region region;
  size_t usable;  ///< bytes from the bottom; tops differ by cache lines against L1 set conflicts
};

struct Thread {
  Fiber fiber;
  Stack* stack;
  const void* site;  ///< return address of the call the thread waits in
  uint8_t slot;      ///< which of its two slots the thread posts to next
};

struct Simdgroup {
  unsigned first, live, blocked, exchanging;
  ingot_exchange exchange;
  // Two slots a lane: a lane may post again before its neighbours have read the value before.
  alignas(64) char slots[INGOT_SIMD_WIDTH][2][kMaxPosted];
};

/// Threads that can run, in the order in which they will.
class ReadyQueue {
 public:
  void clear() { head_ = count_ = 0; }
  bool empty() const { return count_ == 0; }
  unsigned size() const { return count_; }
  void push_back(unsigned thread) { at(count_++) = static_cast<uint16_t>(thread); }
  void push_front(unsigned thread) {
    head_ = (head_ - 1) % kMaxThreads;
    count_++;
    at(0) = static_cast<uint16_t>(thread);
  }
  unsigned pop_front() {
    const unsigned thread = at(0);
    head_ = (head_ + 1) % kMaxThreads;
    count_--;
    return thread;
  }
  uint16_t& at(unsigned position) { return threads_[(head_ + position) % kMaxThreads]; }

 private:
  uint16_t threads_[kMaxThreads];
  unsigned head_ = 0, count_ = 0;
};

/// A small generator (xorshift64*): the same seed gives the same order on every machine.
class Random {
 public:
  explicit Random(uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {}
  unsigned below(unsigned limit) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<unsigned>(((state_ * 0x2545f4914f6cdd1du) >> 32) % limit);
  }

 private:
  uint64_t state_;
};

class Worker {
 public:
  ~Worker();
  /// Placement form: the engine does without the C++ library.
  static void* operator new(size_t, void* memory) { return memory; }

  /// Binds a dispatch; `run_threadgroup` may then be called for any of its threadgroups.
  void bind(const ingot_dispatch& dispatch);
  /// Runs threadgroup `index` (x fastest). False when it failed: `fault` says how.
  bool run_threadgroup(uint64_t index, bool thread_by_thread);

  void barrier(const void* site);
  ingot_exchange* exchange(const void* value, unsigned size, const void* site);
  unsigned lane() const { return current_ % INGOT_SIMD_WIDTH; }
  void* variable(unsigned index, size_t size, size_t alignment);

  /// Called by the signal handler: describes the fault and leaves the threadgroup. Never returns.
  [[noreturn]] void on_signal(int signal, void* address, void* context);

  ingot_fault fault{};

 private:
  static void fiber_main();
  void run_thread(unsigned thread);
  void start(unsigned thread, Stack* stack);
  void switch_to_next();
  void fill_ready();
  void wake(Simdgroup& group);
  void finish(unsigned thread);
  [[noreturn]] void fail(unsigned kind, unsigned thread, unsigned other);
  void set_position(uint32_t (&out)[3], unsigned thread) const;
  unsigned first_finished() const;
  void* reserve(ingot_region& region, size_t size, size_t alignment);
  Stack* take_stack();
  void abandon_fibers();
  bool in_stack_guard(const void* address) const;

  const ingot_dispatch* dispatch_ = nullptr;
  ingot_thread base_{};
  unsigned count_ = 0, live_ = 0, waiting_ = 0, current_ = 0;
  unsigned simdgroups_ = 0;
  bool whole_group_ = false;
  const void* barrier_site_ = nullptr;
  unsigned barrier_thread_ = 0, other_thread_ = 0;
  bool diverged_ = false;
  Random random_;
  ReadyQueue ready_;
  uint16_t positions_[kMaxThreads][3];
  State state_[kMaxThreads];
  Thread threads_[kMaxThreads];
  Simdgroup groups_[kMaxSimdgroups];
  Fiber main_;
  sigjmp_buf escape_;

  Stack* stacks_[kMaxThreads];
  Stack* free_stacks_[kMaxThreads];
  unsigned stack_count_ = 0, free_count_ = 0;

  ingot_region variables_[kMaxVariables]{};
  ingot_region arguments_[INGOT_MAX_THREADGROUP_BUFFERS]{};
  void* argument_pointers_[INGOT_MAX_THREADGROUP_BUFFERS];
};

/// The worker that runs on this OS thread, if any.
extern __thread Worker* current_worker
#if defined(__linux__)
    __attribute__((tls_model("initial-exec")))
#endif
    ;

}  // namespace ingot
