// Memory whose end touches an inaccessible page, so that running over it faults at once.
#pragma once

#include <stddef.h>

extern "C" {
struct ingot_region {
  char* mapping;        ///< first byte of the mapping, which begins and ends with a guard
  size_t mapping_size;  ///< bytes mapped, guards included
  char* data;           ///< first byte of the data
  size_t size;          ///< bytes of data
};

/// Maps a zeroed region between two inaccessible guards of at least `guard` bytes. The data end
/// where the upper guard begins, or up to alignment - 1 bytes before it when `size` is no multiple
/// of `alignment`. Returns 0, or an errno value.
int ingot_region_allocate(size_t size, size_t alignment, size_t guard, ingot_region* region);
void ingot_region_free(const ingot_region* region);
}

namespace ingot {

size_t page_size();

/// True when `address` lies in the region's mapping, guards included.
inline bool contains(const ingot_region& region, const void* address) {
  const char* at = static_cast<const char*>(address);
  return region.mapping && at >= region.mapping && at < region.mapping + region.mapping_size;
}

}  // namespace ingot
