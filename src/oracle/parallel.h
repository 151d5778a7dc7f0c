// Splits work over threads. The split depends only on `count` and `grain`, never on the number of threads, so
// that code which keeps state per range gives the same result with one thread as with many.
#pragma once

#include <cstdint>
#include <functional>

namespace kforge {

// Calls body(begin, end) for the ranges [0, grain), [grain, 2 grain), ... of [0, count), from up to `threads`
// threads. An exception thrown by a body is thrown again here (the one of the lowest range that failed).
void parallel_for(int threads, std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

// A grain that makes one range worth starting a thread for, where one item costs `item_cost` simple
// operations.
std::int64_t grain_for(std::int64_t item_cost);

}  // namespace kforge
