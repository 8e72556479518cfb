#include "worker.h"

#include <stdlib.h>

namespace ingot {

__thread Worker* current_worker = nullptr;

Worker::~Worker() {
  for (unsigned i = 0; i < stack_count_; i++) {
    ingot_region_free(&stacks_[i]->region);
    free(stacks_[i]);
  }
  for (const ingot_region& region : variables_) ingot_region_free(&region);
  for (const ingot_region& region : arguments_) ingot_region_free(&region);
}

void Worker::bind(const ingot_dispatch& dispatch) {
  dispatch_ = &dispatch;
  fault = ingot_fault{};
  const uint32_t(&size)[3] = dispatch.threadgroup_size;
  count_ = size[0] * size[1] * size[2];
  simdgroups_ = (count_ + INGOT_SIMD_WIDTH - 1) / INGOT_SIMD_WIDTH;
  for (int k = 0; k < 3; k++) {
    base_.threads_per_threadgroup[k] = size[k];
    base_.threadgroups_per_grid[k] = dispatch.groups[k];
    base_.threads_per_grid[k] = dispatch.groups[k] * size[k];
  }
  base_.simdgroups_per_threadgroup = simdgroups_;
  for (unsigned i = 0; i < count_; i++) {
    positions_[i][0] = static_cast<uint16_t>(i % size[0]);
    positions_[i][1] = static_cast<uint16_t>(i / size[0] % size[1]);
    positions_[i][2] = static_cast<uint16_t>(i / size[0] / size[1]);
  }
}

bool Worker::run_threadgroup(uint64_t index, bool thread_by_thread) {
  const uint32_t(&groups)[3] = dispatch_->groups;
  const uint64_t rows = index / groups[0];
  const unsigned group[3] = {static_cast<unsigned>(index % groups[0]),
                             static_cast<unsigned>(rows % groups[1]),
                             static_cast<unsigned>(rows / groups[1])};
  for (int k = 0; k < 3; k++) {
    base_.threadgroup_position_in_grid[k] = group[k];
    base_.thread_position_in_grid[k] = group[k] * base_.threads_per_threadgroup[k];
  }
  if (sigsetjmp(escape_, 0)) {
    abandon_fibers();
    return false;
  }
  whole_group_ = dispatch_->group_entry && !thread_by_thread;
  random_ = Random(dispatch_->seed ^ (index * 0x9e3779b97f4a7c15u));
  live_ = whole_group_ ? 1 : count_;
  waiting_ = 0;
  diverged_ = false;
  current_ = 0;
  for (unsigned g = 0; g < simdgroups_; g++) {
    const unsigned first = g * INGOT_SIMD_WIDTH;
    const unsigned lanes = count_ - first < INGOT_SIMD_WIDTH ? count_ - first : INGOT_SIMD_WIDTH;
    groups_[g].first = first;
    groups_[g].live = lanes;
    groups_[g].blocked = groups_[g].exchanging = 0;
  }
  memset(state_, static_cast<int>(State::fresh), count_);
  const int poison = static_cast<int>(dispatch_->poison);
  for (ingot_region& region : variables_) {
    if (region.data) memset(region.data, poison, region.size);
  }
  for (unsigned n = 0; n < dispatch_->threadgroup_buffers; n++) {
    const size_t length = dispatch_->threadgroup_lengths[n];
    argument_pointers_[n] = length ? reserve(arguments_[n], length, 16) : nullptr;
    if (length) memset(argument_pointers_[n], poison, length);
  }
  if (whole_group_) {
    ready_.clear();
    ready_.push_back(0);
  } else {
    fill_ready();
  }
  const unsigned first = ready_.pop_front();
  start(first, take_stack());
  current_ = first;
  fiber_switch(main_, threads_[first].fiber);
  return true;
}

void Worker::fiber_main() {
  for (;;) {
    Worker* worker = current_worker;
    worker->run_thread(worker->current_);
    worker->finish(worker->current_);
  }
}

void Worker::run_thread(unsigned thread) {
  if (whole_group_) {
    dispatch_->group_entry(&base_, dispatch_->buffers, argument_pointers_);
    return;
  }
  ingot_thread place = base_;
  for (int k = 0; k < 3; k++) {
    place.thread_position_in_threadgroup[k] = positions_[thread][k];
    place.thread_position_in_grid[k] += positions_[thread][k];
  }
  place.thread_index_in_threadgroup = thread;
  place.thread_index_in_simdgroup = thread % INGOT_SIMD_WIDTH;
  place.simdgroup_index_in_threadgroup = thread / INGOT_SIMD_WIDTH;
  dispatch_->thread_entry(&place, dispatch_->buffers, argument_pointers_);
}

void Worker::start(unsigned thread, Stack* stack) {
  state_[thread] = State::ready;
  threads_[thread].stack = stack;
  threads_[thread].slot = 0;
  fiber_prepare(threads_[thread].fiber, stack->region.data, stack->usable, fiber_main);
}

/// Suspends the running thread; it must have put itself where something will wake it.
void Worker::switch_to_next() {
  const unsigned from = current_, next = ready_.pop_front();
  if (next == from) return;
  if (state_[next] == State::fresh) start(next, take_stack());
  current_ = next;
  fiber_switch(threads_[from].fiber, threads_[next].fiber);
}

/// Ends the running thread. Returns when its fiber is to run another, fresh thread.
void Worker::finish(unsigned thread) {
  Simdgroup& group = groups_[thread / INGOT_SIMD_WIDTH];
  state_[thread] = State::finished;
  group.live--;
  live_--;
  Stack* stack = threads_[thread].stack;
  if (live_ == 0) {
    free_stacks_[free_count_++] = stack;
    fiber_switch(threads_[thread].fiber, main_);
  }
  if (waiting_ == live_) fail(INGOT_FAULT_MISSED_BARRIER, barrier_thread_, thread);
  if (group.exchanging && group.blocked == group.live) wake(group);
  const unsigned next = ready_.pop_front();
  current_ = next;
  if (state_[next] == State::fresh) {
    state_[next] = State::ready;
    threads_[next].stack = stack;
    threads_[next].slot = 0;
    return;
  }
  free_stacks_[free_count_++] = stack;
  fiber_switch(threads_[thread].fiber, threads_[next].fiber);
}

void Worker::fill_ready() {
  ready_.clear();
  const bool reverse = dispatch_->order == INGOT_ORDER_REVERSE ||
                       dispatch_->order == INGOT_ORDER_SIMDGROUPS_REVERSE;
  for (unsigned i = 0; i < count_; i++) ready_.push_back(reverse ? count_ - 1 - i : i);
  if (dispatch_->order != INGOT_ORDER_RANDOM) return;
  for (unsigned i = count_; i > 1; i--) {
    uint16_t& a = ready_.at(i - 1);
    uint16_t& b = ready_.at(random_.below(i));
    const uint16_t moved = a;
    a = b;
    b = moved;
  }
}

void Worker::barrier(const void* site) {
  const unsigned thread = current_;
  if (whole_group_) fail(INGOT_FAULT_ILLEGAL, thread, thread);
  state_[thread] = State::at_barrier;
  if (waiting_++ == 0) {
    barrier_site_ = site;
    barrier_thread_ = thread;
  } else if (site != barrier_site_) {
    diverged_ = true;
    other_thread_ = thread;
  }
  Simdgroup& group = groups_[thread / INGOT_SIMD_WIDTH];
  group.blocked++;
  if (waiting_ == live_) {
    if (live_ != count_) fail(INGOT_FAULT_MISSED_BARRIER, thread, first_finished());
    if (diverged_) fail(INGOT_FAULT_DIVERGENT_BARRIER, barrier_thread_, other_thread_);
    waiting_ = 0;
    memset(state_, static_cast<int>(State::ready), count_);
    for (unsigned g = 0; g < simdgroups_; g++) groups_[g].blocked = 0;
    fill_ready();
  } else if (group.exchanging && group.blocked == group.live) {
    wake(group);
  }
  switch_to_next();
}

ingot_exchange* Worker::exchange(const void* value, unsigned size, const void* site) {
  const unsigned thread = current_, lane = thread % INGOT_SIMD_WIDTH;
  if (whole_group_) fail(INGOT_FAULT_ILLEGAL, thread, thread);
  Simdgroup& group = groups_[thread / INGOT_SIMD_WIDTH];
  Thread& self = threads_[thread];
  char* slot = group.slots[lane][self.slot];
  self.slot ^= 1;
  self.site = site;
  if (size == 4) {
    memcpy(slot, value, 4);
  } else {
    memcpy(slot, value, size < kMaxPosted ? size : kMaxPosted);
  }
  state_[thread] = State::in_exchange;
  group.exchanging++;
  if (++group.blocked == group.live) wake(group);
  switch_to_next();
  group.exchange.lane = lane;
  return &group.exchange;
}

/// All live lanes wait, some of them in an operation: completes the one at the lowest address,
/// which is where diverged lanes of a SIMD-group meet again in code laid out in program order.
void Worker::wake(Simdgroup& group) {
  const unsigned end = group.first + INGOT_SIMD_WIDTH < count_ ? INGOT_SIMD_WIDTH
                                                               : count_ - group.first;
  const void* site = nullptr;
  for (unsigned l = 0; l < end; l++) {
    const unsigned thread = group.first + l;
    if (state_[thread] != State::in_exchange) continue;
    if (!site || threads_[thread].site < site) site = threads_[thread].site;
  }
  unsigned active = 0;
  for (unsigned l = 0; l < end; l++) {
    const unsigned thread = group.first + l;
    if (state_[thread] != State::in_exchange || threads_[thread].site != site) continue;
    state_[thread] = State::ready;
    active |= 1u << l;
    group.exchange.value[l] = group.slots[l][threads_[thread].slot ^ 1];
  }
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(active));
  group.blocked -= lanes;
  group.exchanging -= lanes;
  group.exchange.active = active;
  group.exchange.done = 0;
  const unsigned order = dispatch_->order;
  for (unsigned i = 0; i < end; i++) {
    const bool upwards = order == INGOT_ORDER_FORWARD || order == INGOT_ORDER_SIMDGROUPS_REVERSE;
    const unsigned lane = upwards ? i : end - 1 - i;
    if (!(active >> lane & 1)) continue;
    const unsigned thread = group.first + lane;
    // A queue's front runs first: lanes pushed there one by one run in the opposite order.
    if (order == INGOT_ORDER_SIMDGROUPS || order == INGOT_ORDER_SIMDGROUPS_REVERSE) {
      ready_.push_front(thread);
    } else {
      ready_.push_back(thread);
    }
    if (order == INGOT_ORDER_RANDOM) {
      uint16_t& other = ready_.at(random_.below(ready_.size()));
      uint16_t& last = ready_.at(ready_.size() - 1);
      const uint16_t moved = other;
      other = last;
      last = moved;
    }
  }
}

void* Worker::reserve(ingot_region& region, size_t size, size_t alignment) {
  if (region.data && region.size == size) return region.data;
  ingot_region_free(&region);
  region = ingot_region{};
  if (ingot_region_allocate(size, alignment, kVariableGuard, &region)) {
    fail(INGOT_FAULT_RESOURCES, current_, current_);
  }
  memset(region.data, static_cast<int>(dispatch_->poison), size);
  return region.data;
}

void* Worker::variable(unsigned index, size_t size, size_t alignment) {
  return reserve(variables_[index], size, alignment);
}

Stack* Worker::take_stack() {
  if (free_count_) return free_stacks_[--free_count_];
  Stack* stack = static_cast<Stack*>(calloc(1, sizeof(Stack)));
  if (!stack || ingot_region_allocate(kStackSize, 64, kStackGuard, &stack->region)) {
    free(stack);
    fail(INGOT_FAULT_RESOURCES, current_, current_);
  }
  stack->usable = kStackSize - stack_count_ * 7 % 48 * 64;
  stacks_[stack_count_++] = stack;
  return stack;
}

void Worker::abandon_fibers() {
  free_count_ = stack_count_;
  for (unsigned i = 0; i < stack_count_; i++) free_stacks_[i] = stacks_[i];
}

}  // namespace ingot

extern "C" {

void ingot_barrier() { ingot::current_worker->barrier(__builtin_return_address(0)); }

ingot_exchange* ingot_simd_exchange(const void* value, unsigned size) {
  return ingot::current_worker->exchange(value, size, __builtin_return_address(0));
}

unsigned ingot_lane_index() { return ingot::current_worker->lane(); }

void* ingot_threadgroup_variable(unsigned index, unsigned long size, unsigned long alignment) {
  return ingot::current_worker->variable(index, size, alignment);
}
}
