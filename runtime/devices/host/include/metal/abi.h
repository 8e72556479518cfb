// What compiled kernels and the engine share. Plain C types: included by both sides.
#pragma once

#if defined(__OPENCL_CPP_VERSION__)
#define INGOT_ANY __generic
#else
#define INGOT_ANY
#endif

enum { INGOT_SIMD_WIDTH = 32 };

/// Where one thread stands in its threadgroup and in the grid: the source of all id attributes.
struct ingot_thread {
  unsigned thread_position_in_grid[3];
  unsigned thread_position_in_threadgroup[3];
  unsigned threadgroup_position_in_grid[3];
  unsigned threads_per_threadgroup[3];
  unsigned threadgroups_per_grid[3];
  unsigned threads_per_grid[3];
  unsigned thread_index_in_threadgroup;
  unsigned thread_index_in_simdgroup;
  unsigned simdgroup_index_in_threadgroup;
  unsigned simdgroups_per_threadgroup;
};

/// What a lane sees when a SIMD-group operation completes.
struct ingot_exchange {
  INGOT_ANY const void* value[INGOT_SIMD_WIDTH];  ///< posted by each lane; valid for active lanes
  unsigned active;                                ///< bit l: lane l takes part
  unsigned lane;                                  ///< the lane that asks
  unsigned done;                                  ///< the first lane to resume has left `result`
  unsigned reserved;
  unsigned long result[32];                       ///< shared by the lanes of one operation
};

extern "C" {
/// Waits for all threads of the threadgroup.
__attribute__((noduplicate, convergent, nomerge)) void ingot_barrier();

/// Posts `size` (at most 64) bytes and waits for the other lanes of the SIMD-group.
__attribute__((noduplicate, convergent, nomerge)) INGOT_ANY ingot_exchange* ingot_simd_exchange(
    INGOT_ANY const void* value, unsigned size);

/// The lane of the running thread.
unsigned ingot_lane_index();

/// The storage of threadgroup variable `index` of this threadgroup.
INGOT_ANY void* ingot_threadgroup_variable(unsigned index, unsigned long size,
                                           unsigned long alignment);
}
