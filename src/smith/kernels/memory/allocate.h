// Memory that outlives a call.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace {

// Large buffers lie on huge pages where the system has them: fewer page walks.
inline void* allocated(size_t bytes) {
  const size_t page = bytes < (1 << 20) ? 4096 : 2 << 20;
  const size_t whole = (bytes + page - 1) / page * page;
  void* p = std::aligned_alloc(page, whole);
  if (p && page > 4096) madvise(p, whole, MADV_HUGEPAGE);
  if (p) std::memset(p, 0, whole);  // pages are touched here, not in the first call
  return p;
}

}  // namespace
