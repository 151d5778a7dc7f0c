// What a task's outputs must be for given inputs, and what a straightforward fp32 program reaches there:
// everything verification compares with. Dear results are cached by content.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file_cache.h"
#include "base/result.h"
#include "task/inputs.h"
#include "task/task.h"

namespace kforge {

// For an output of indices that ArgMax, ArgMin or TopK chose: the values they were chosen from, so that
// another index that reaches the same value is as good (ties, and values closer than rounding).
struct IndexSource {
  Shape shape;  // of the operator's input
  int axis = 0;
  std::vector<float> values;
  double yardstick_worst_abs = 0;  // how far the yardstick is from the truth in these values
};

struct ExpectedOutput {
  std::string name;  // graph output (for an inout: the one that holds its new value)
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<float> values;       // floats: the fp64 result rounded once; infinities and NaN as they are
  std::vector<double> doubles;     // in addition, for float64 outputs only
  std::vector<std::int64_t> ints;  // everything that is not a float
  double rms = 0;                  // of the finite values
  double mean = 0, deviation = 0;  // of the finite values; 0 and rms where there are too few to tell
  // Largest |yardstick - truth| over the elements finite in both, beyond what rounding to a narrow dtype
  // costs.
  double yardstick_worst_abs = 0;
  // Products of exponentials (Softmax, Exp): small values are as good as large ones. Then the largest
  // |yardstick - truth| / truth over the elements that are neither zero nor denormal; else nothing.
  std::optional<double> yardstick_worst_rel;
  bool long_sums =
      false;  // some value on the way is the sum of more than 65,536: the yardstick's error may be large
  std::optional<IndexSource> index_source;
};

struct Expected {
  std::vector<ExpectedOutput> outputs;  // in the order of graph.outputs
  bool yardstick_finite = true;         // the yardstick is finite wherever the truth is
  double seconds = 0;                   // spent on computing it now; 0 when it came from the cache
  bool from_cache = false;

  std::size_t bytes() const;  // of the values
};

inline constexpr double kWorthCaching = 0.25;

// Inputs are made by fill_argument(argument, kind, seed, index of the argument). `cache` may be null.
// Only results that took longer than `worth_caching` seconds and what the disk takes for them are cached:
// others are cheaper to compute than to read. Once `stop` is requested it is an Error, soon.
Result<Expected> expected_outputs(const BoundTask& task, InputKind kind, std::uint64_t seed, int threads,
                                  FileCache* cache, double worth_caching = kWorthCaching,
                                  const std::stop_token& stop = {});

// For one call among many: params chosen for themselves, nothing kept.
Result<Expected> expected_outputs_once(const BoundTask& task, const InputChoice& params,
                                       const InputChoice& inputs, int threads,
                                       const std::stop_token& stop = {});

// `expected`, with the error of the yardstick on these inputs replaced by what other roundings of fp32 differ
// by, where that is more: for a program that is outside the bound, on a graph that may magnify a last bit (a
// deep network on large inputs) and has few independent rows. Nothing where the graph may jump, or has rows
// enough for the yardstick to have drawn by itself. Takes as long as four runs of the oracle.
Result<std::optional<Expected>> allowing_other_roundings(const BoundTask& task, const InputChoice& inputs,
                                                         const Expected& expected, int threads,
                                                         const std::stop_token& stop = {});

// The truth alone, output by output in the order of graph.outputs: for values that no precision is judged by.
// REQUIRES: all outputs are floats.
Result<std::vector<std::vector<float>>> true_outputs_once(const BoundTask& task, const InputChoice& params,
                                                          const InputChoice& inputs, int threads,
                                                          const std::stop_token& stop = {});

}  // namespace kforge
