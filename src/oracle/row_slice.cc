#include "oracle/row_slice.h"

#include <algorithm>
#include <cmath>

#include "oracle/interruption.h"
#include "oracle/made_inputs.h"
#include "oracle/oracle.h"

namespace kforge {
namespace {

constexpr std::int64_t kLeastRows = 8;  // else there is little to gain
// The same sums, perhaps in another order.
constexpr double kSameTruth = 1e-5;

// The common first dimension of all outputs; 0: they have none.
std::int64_t rows_of(const BoundTask& task) {
  std::int64_t rows = 0;
  for (const BoundArgument& argument : task.arguments) {
    if (argument.role == Role::kInout) return 0;
    if (argument.role != Role::kOutput) continue;
    if (argument.dtype != DType::kFloat32 || argument.shape.empty()) return 0;
    if (rows != 0 && argument.shape[0] != rows) return 0;
    rows = argument.shape[0];
  }
  return rows >= kLeastRows ? rows : 0;
}

// Whether rows from `first` on are those of the whole.
bool equals_rows(const ExpectedOutput& whole, const std::vector<float>& part, std::int64_t rows,
                 std::int64_t first) {
  const std::size_t row = whole.values.size() / static_cast<std::size_t>(rows);
  if (part.size() != row * RowSlice::kRows) return false;
  const float* at = whole.values.data() + static_cast<std::size_t>(first) * row;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (std::isnan(part[i]) != std::isnan(at[i])) return false;
    if (std::abs(part[i] - at[i]) > kSameTruth * std::max<double>(whole.rms, std::abs(at[i]))) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<std::vector<float>>> RowSlice::compute(const BoundTask& task, const InputChoice& params,
                                                          const InputChoice& inputs, std::int64_t first,
                                                          int threads, const std::stop_token& stop) const {
  Interruptible scope(stop);
  try {
    MadeInputs made = make_inputs(task, params, inputs);
    for (std::size_t argument : cut_) {
      TensorView& view = made.views[argument];
      view.data +=
          made.bytes[argument].size() / static_cast<std::size_t>(rows_) * static_cast<std::size_t>(first);
      view.shape[0] = kRows;
    }
    KF_TRY(auto truth, run_oracle(task.graph, made.views, Precision::kFp64, threads));
    std::vector<std::vector<float>> outputs;
    for (const OracleTensor& result : truth) {
      const auto* doubles = std::get_if<std::vector<double>>(&result.values);
      outputs.emplace_back();
      if (doubles) outputs.back().assign(doubles->begin(), doubles->end());
    }
    return outputs;
  } catch (const Interrupted&) {
    return fail("interrupted");
  }
}

Result<std::optional<RowSlice>> RowSlice::find(const BoundTask& task, const Expected& whole,
                                               const InputChoice& choice, int threads,
                                               const std::stop_token& stop) {
  const std::int64_t rows = rows_of(task);
  if (rows == 0) return std::nullopt;
  // By position among the arguments that are read, as make_inputs() has them.
  std::vector<std::size_t> fitting;
  std::size_t position = 0;
  for (const BoundArgument& argument : task.arguments) {
    if (argument.role == Role::kOutput) continue;
    if (argument.role == Role::kInput && !argument.shape.empty() && argument.shape[0] == rows)
      fitting.push_back(position);
    ++position;
  }
  std::vector<std::vector<std::size_t>> choices;
  if (!fitting.empty()) choices.push_back(fitting);
  if (fitting.size() > 1)
    for (std::size_t one : fitting) choices.push_back({one});
  for (const std::vector<std::size_t>& cut : choices) {
    RowSlice slice(rows, cut);
    bool same = true;
    for (std::int64_t first : {rows / 2 - 1, rows - kRows}) {
      auto part = slice.compute(task, choice, choice, first, threads, stop);
      if (stop.stop_requested()) return fail("interrupted");
      same = same && part && part->size() == whole.outputs.size();  // an Error: the graph says how many rows
      for (std::size_t i = 0; same && i < whole.outputs.size(); ++i)
        same = equals_rows(whole.outputs[i], (*part)[i], rows, first);
    }
    if (same) return slice;
  }
  return std::nullopt;
}

}  // namespace kforge
