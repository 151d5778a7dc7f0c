// The truth for a few rows of a task's outputs, computed from those rows of the inputs that they depend on. A
// product of large matrices takes the oracle minutes; two of its rows take it no time. Whether a graph allows
// that is tried, not read off its operators: what is computed so must equal the rows of a whole result.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "oracle/expected.h"

namespace kforge {

class RowSlice {
 public:
  static constexpr std::int64_t kRows = 2;

  // `whole` is what the oracle gave for all rows, params and inputs as `choice` has them. Nothing: the graph
  // cannot be cut along the first axis of its outputs.
  static Result<std::optional<RowSlice>> find(const BoundTask& task, const Expected& whole,
                                              const InputChoice& choice, int threads,
                                              const std::stop_token& stop = {});

  std::int64_t rows() const { return rows_; }
  // Rows [first, first + kRows) of each output, in the order of graph.outputs.
  Result<std::vector<std::vector<float>>> compute(const BoundTask& task, const InputChoice& params,
                                                  const InputChoice& inputs, std::int64_t first, int threads,
                                                  const std::stop_token& stop = {}) const;

 private:
  RowSlice(std::int64_t rows, std::vector<std::size_t> cut) : rows_(rows), cut_(std::move(cut)) {}

  std::int64_t rows_;
  std::vector<std::size_t> cut_;  // the arguments that are cut; others are taken whole
};

}  // namespace kforge
