// Writes the new page only, one task for each sequence.
//
// task: llm/kv_cache_append
// shapes: odd
// mode: check
// expect: outcome=passed
#include <algorithm>

#include "task.h"

extern "C" void kernel(uint16_t* cache, const uint16_t* keys, const int64_t* page) {
#pragma omp parallel
#pragma omp single
  for (long b = 0; b < task::B; ++b)
#pragma omp task
    std::copy_n(keys + b * task::T * task::D, task::T * task::D,
                cache + (b * task::P + page[b]) * task::T * task::D);
}
