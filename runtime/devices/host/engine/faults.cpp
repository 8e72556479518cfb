// Turns signals and misuse of barriers into an `ingot_fault`.
#include "faults.h"

#include <pthread.h>
#include <signal.h>

#include "worker.h"

#if defined(__APPLE__)
#include <sys/ucontext.h>
#else
#include <ucontext.h>
#endif

namespace ingot {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
struct sigaction previous[sizeof(kSignals) / sizeof(int)];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned users = 0;

/// 1 when the faulting instruction writes, 0 when it reads, 2 when the machine does not say.
uint32_t is_write(void* context) {
  [[maybe_unused]] ucontext_t* machine = static_cast<ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
  return machine->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#elif defined(__APPLE__) && defined(__x86_64__)
  return machine->uc_mcontext->__es.__err >> 1 & 1;
#elif defined(__APPLE__) && defined(__aarch64__)
  return machine->uc_mcontext->__es.__esr >> 6 & 1;
#elif defined(__linux__) && defined(__aarch64__)
  // The kernel appends the exception syndrome as a record: magic, size, syndrome (bit 6: write).
  const char* record = reinterpret_cast<const char*>(machine->uc_mcontext.__reserved);
  for (int i = 0; i < 16; i++) {
    uint32_t head[2];
    memcpy(head, record, sizeof(head));
    if (head[0] == 0x45535201u) {
      uint64_t syndrome;
      memcpy(&syndrome, record + 8, sizeof(syndrome));
      return syndrome >> 6 & 1;
    }
    if (head[0] == 0 || head[1] < 8) break;
    record += head[1];
  }
  return 2;
#else
  return 2;
#endif
}

void handle(int signal, siginfo_t* info, void* context) {
  if (current_worker) current_worker->on_signal(signal, info->si_addr, context);
  // Not from a kernel: give the signal to whoever had it before; returning repeats the fault.
  for (unsigned i = 0; i < sizeof(kSignals) / sizeof(int); i++) {
    if (kSignals[i] == signal) sigaction(signal, &previous[i], nullptr);
  }
}

}  // namespace

FaultHandler::FaultHandler() {
  pthread_mutex_lock(&lock);
  if (users++ == 0) {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof(kSignals) / sizeof(int); i++) {
      sigaction(kSignals[i], &action, &previous[i]);
    }
  }
  pthread_mutex_unlock(&lock);
}

FaultHandler::~FaultHandler() {
  pthread_mutex_lock(&lock);
  if (--users == 0) {
    for (unsigned i = 0; i < sizeof(kSignals) / sizeof(int); i++) {
      sigaction(kSignals[i], &previous[i], nullptr);
    }
  }
  pthread_mutex_unlock(&lock);
}

void Worker::set_position(uint32_t (&out)[3], unsigned thread) const {
  for (int k = 0; k < 3; k++) out[k] = positions_[thread][k];
}

unsigned Worker::first_finished() const {
  for (unsigned i = 0; i < count_; i++) {
    if (state_[i] == State::finished) return i;
  }
  return 0;
}

bool Worker::in_stack_guard(const void* address) const {
  for (unsigned i = 0; i < stack_count_; i++) {
    if (contains(stacks_[i]->region, address)) return true;
  }
  return false;
}

void Worker::fail(unsigned kind, unsigned thread, unsigned other) {
  fault.kind = kind;
  fault.thread_known = !whole_group_;
  set_position(fault.thread, thread);
  set_position(fault.other_thread, other);
  for (int k = 0; k < 3; k++) fault.threadgroup[k] = base_.threadgroup_position_in_grid[k];
  siglongjmp(escape_, 1);
}

void Worker::on_signal(int signal, void* address, void* context) {
  fault.address = reinterpret_cast<uint64_t>(address);
  fault.write = is_write(context);
  unsigned kind = INGOT_FAULT_ACCESS;
  if (signal == SIGFPE) {
    kind = INGOT_FAULT_ARITHMETIC;
  } else if (signal == SIGILL || signal == SIGTRAP) {
    kind = INGOT_FAULT_ILLEGAL;
  } else if (in_stack_guard(address)) {
    kind = INGOT_FAULT_STACK;
  } else {
    const auto locate = [&](const ingot_region& region, int variable) {
      if (!contains(region, address)) return;
      kind = INGOT_FAULT_THREADGROUP_MEMORY;
      fault.variable = variable;
      fault.offset = static_cast<const char*>(address) - region.data;
      fault.size = region.size;
    };
    for (unsigned n = 0; n < kMaxVariables; n++) locate(variables_[n], static_cast<int>(n));
    for (unsigned n = 0; n < INGOT_MAX_THREADGROUP_BUFFERS; n++) {
      locate(arguments_[n], -1 - static_cast<int>(n));
    }
  }
  fail(kind, current_, current_);
}

}  // namespace ingot
