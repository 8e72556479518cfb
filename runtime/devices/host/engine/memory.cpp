#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace ingot {

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace ingot

int ingot_region_allocate(size_t size, size_t alignment, size_t guard, ingot_region* region) {
  const size_t page = ingot::page_size();
  const auto pages = [page](size_t bytes) { return (bytes + page - 1) / page * page; };
  const size_t body = pages(size), margin = pages(guard);
  const size_t total = body + 2 * margin;
  void* mapping =
      mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return errno;
  char* base = static_cast<char*>(mapping);
  if (body && mprotect(base + margin, body, PROT_READ | PROT_WRITE)) {
    const int error = errno;
    munmap(mapping, total);
    return error;
  }
  const size_t slack = (body - size) / alignment * alignment;
  *region = ingot_region{base, total, base + margin + slack, size};
  return 0;
}

void ingot_region_free(const ingot_region* region) {
  if (region->mapping) munmap(region->mapping, region->mapping_size);
}
