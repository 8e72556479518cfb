#include "dispatch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "faults.h"
#include "worker.h"

namespace ingot {

namespace {

constexpr unsigned kMaxWorkers = 256;
constexpr size_t kSignalStackSize = 64 * 1024;

pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
Worker* pool[kMaxWorkers];
unsigned pooled = 0;

Worker* take_worker() {
  Worker* worker = nullptr;
  pthread_mutex_lock(&pool_lock);
  if (pooled) worker = pool[--pooled];
  pthread_mutex_unlock(&pool_lock);
  if (worker) return worker;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Worker), sizeof(Worker))) return nullptr;
  return new (memory) Worker;
}

void give_back(Worker* worker) {
  pthread_mutex_lock(&pool_lock);
  if (pooled < kMaxWorkers) {
    pool[pooled++] = worker;
    worker = nullptr;
  }
  pthread_mutex_unlock(&pool_lock);
  if (worker) {
    worker->~Worker();
    free(worker);
  }
}

unsigned long long greatest_common_divisor(unsigned long long a, unsigned long long b) {
  while (b) {
    const unsigned long long rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// The order of threadgroups: position -> index, a bijection on [0, total).
class GroupOrder {
 public:
  GroupOrder(unsigned order, uint64_t seed, uint64_t total) : total_(total) {
    if (order == INGOT_ORDER_REVERSE || order == INGOT_ORDER_SIMDGROUPS_REVERSE) {
      factor_ = total - 1;  // -1 modulo total
      offset_ = total - 1;
    } else if (order == INGOT_ORDER_RANDOM) {
      Random random(seed);
      do {
        factor_ = 1 + random.below(static_cast<unsigned>(total < ~0u ? total : ~0u));
      } while (greatest_common_divisor(factor_, total) != 1);
      offset_ = random.below(~0u) % total;
    }
  }
  uint64_t operator()(uint64_t position) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(position) * factor_ + offset_) %
                                 total_);
  }

 private:
  uint64_t total_, factor_ = 1, offset_ = 0;
};

struct Job {
  const ingot_dispatch& dispatch;
  uint64_t total;
  GroupOrder order;
  uint64_t next;
  pthread_mutex_t fault_lock;
  ingot_fault fault;

  void report(const ingot_fault& found) {
    __atomic_store_n(&next, total, __ATOMIC_RELAXED);
    pthread_mutex_lock(&fault_lock);
    if (fault.kind == INGOT_FAULT_NONE) fault = found;
    pthread_mutex_unlock(&fault_lock);
  }
};

void run_job(Job& job) {
  Worker* worker = take_worker();
  void* signal_stack = malloc(kSignalStackSize);
  if (!worker || !signal_stack) {
    ingot_fault fault{};
    fault.kind = INGOT_FAULT_RESOURCES;
    job.report(fault);
  } else {
    stack_t alternate = {}, previous = {};
    alternate.ss_sp = signal_stack;
    alternate.ss_size = kSignalStackSize;
    sigaltstack(&alternate, &previous);
    worker->bind(job.dispatch);
    current_worker = worker;
    for (;;) {
      const uint64_t position = __atomic_fetch_add(&job.next, 1, __ATOMIC_RELAXED);
      if (position >= job.total) break;
      const uint64_t group = job.order(position);
      if (worker->run_threadgroup(group, false)) continue;
      const ingot_fault found = worker->fault;
      // All threads ran in one call: run the threadgroup again to learn which thread it was.
      if (!found.thread_known) worker->run_threadgroup(group, true);
      job.report(worker->fault.thread_known ? worker->fault : found);
      break;
    }
    current_worker = nullptr;
    sigaltstack(&previous, nullptr);
  }
  if (worker) give_back(worker);
  free(signal_stack);
}

void* thread_main(void* job) {
  run_job(*static_cast<Job*>(job));
  return nullptr;
}

}  // namespace

}  // namespace ingot

int ingot_run(const ingot_dispatch* dispatch, ingot_fault* fault) {
  const uint64_t total =
      uint64_t{dispatch->groups[0]} * dispatch->groups[1] * dispatch->groups[2];
  if (total == 0) return 0;
  ingot::FaultHandler handler;
  ingot::Job job{*dispatch, total, {dispatch->order, dispatch->seed, total}, 0,
                 PTHREAD_MUTEX_INITIALIZER, {}};
  unsigned helpers = dispatch->workers > 1 ? dispatch->workers - 1 : 0;
  if (helpers >= ingot::kMaxWorkers) helpers = ingot::kMaxWorkers - 1;
  if (helpers >= total) helpers = static_cast<unsigned>(total - 1);
  pthread_t threads[ingot::kMaxWorkers];
  unsigned started = 0;
  while (started < helpers &&
         pthread_create(&threads[started], nullptr, ingot::thread_main, &job) == 0) {
    started++;
  }
  ingot::run_job(job);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], nullptr);
  *fault = job.fault;
  return job.fault.kind != INGOT_FAULT_NONE;
}
