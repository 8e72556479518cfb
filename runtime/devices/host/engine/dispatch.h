// The interface of the engine to Python.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../include/metal/abi.h"

extern "C" {

enum { INGOT_MAX_THREADGROUP_BUFFERS = 31 };

enum ingot_order {
  INGOT_ORDER_FORWARD = 0,          ///< every thread runs up to the next wait, first to last
  INGOT_ORDER_REVERSE = 1,          ///< the same, last to first
  INGOT_ORDER_SIMDGROUPS = 2,       ///< a SIMD-group runs as far as it can before the next one
  INGOT_ORDER_SIMDGROUPS_REVERSE = 3,
  INGOT_ORDER_RANDOM = 4,           ///< a new order after every barrier, threadgroups shuffled too
};

enum ingot_fault_kind {
  INGOT_FAULT_NONE = 0,
  INGOT_FAULT_ACCESS = 1,             ///< an address that is not mapped, or not writable
  INGOT_FAULT_ARITHMETIC = 2,         ///< integer division by zero, or of the least value by -1
  INGOT_FAULT_STACK = 3,              ///< the thread's private memory is used up
  INGOT_FAULT_THREADGROUP_MEMORY = 4, ///< an access past a threadgroup variable
  INGOT_FAULT_DIVERGENT_BARRIER = 5,  ///< threads wait at different barriers
  INGOT_FAULT_MISSED_BARRIER = 6,     ///< a thread ended while others wait at a barrier
  INGOT_FAULT_ILLEGAL = 7,            ///< an instruction that only undefined behaviour reaches
  INGOT_FAULT_RESOURCES = 8,          ///< the machine has no memory left for stacks or variables
};

struct ingot_fault {
  uint32_t kind;
  uint32_t write;               ///< 1: write, 0: read, 2: not known
  uint64_t address;
  uint32_t thread[3];           ///< position in the threadgroup
  uint32_t thread_known;
  uint32_t threadgroup[3];
  int32_t variable;             ///< threadgroup variable, or -1 - n for threadgroup argument n
  int64_t offset;               ///< byte offset from the start of that variable
  uint64_t size;                ///< its size in bytes
  uint32_t other_thread[3];     ///< second thread of a divergent barrier
};

typedef void (*ingot_entry)(const ingot_thread*, void* const* buffers, void* const* threadgroup);

struct ingot_dispatch {
  ingot_entry thread_entry;     ///< runs one thread
  ingot_entry group_entry;      ///< runs all threads of a threadgroup in order; null: may wait
  void* const* buffers;
  const uint64_t* threadgroup_lengths;
  uint32_t threadgroup_buffers;
  uint32_t groups[3];
  uint32_t threadgroup_size[3];
  uint32_t order;
  uint64_t seed;
  uint32_t workers;             ///< OS threads
  uint32_t poison;              ///< byte that fills threadgroup memory at the start of a threadgroup
};

/// Runs a dispatch to its end. Returns 0, or 1 with `fault` filled in.
int ingot_run(const ingot_dispatch* dispatch, ingot_fault* fault);
}
