#include "verify/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "verify/compare.h"

namespace kforge {
namespace {

void store_element(DType dtype, double value, std::byte* data, std::int64_t index) {
  std::byte* at = data + index * static_cast<std::int64_t>(size_of(dtype));
  auto put = [at](auto typed) { std::memcpy(at, &typed, sizeof typed); };
  switch (dtype) {
    case DType::kFloat32:
      return put(static_cast<float>(value));
    case DType::kFloat64:
      return put(value);
    case DType::kFloat16:
      return put(fp16_from_double(value));
    case DType::kBFloat16:
      return put(bf16_from_double(value));
    case DType::kInt8:
      return put(static_cast<std::int8_t>(value));
    case DType::kInt16:
      return put(static_cast<std::int16_t>(value));
    case DType::kInt32:
      return put(static_cast<std::int32_t>(value));
    case DType::kInt64:
      return put(static_cast<std::int64_t>(value));
    case DType::kUInt8:
    case DType::kBool:
      return put(static_cast<std::uint8_t>(value));
    case DType::kUInt16:
      return put(static_cast<std::uint16_t>(value));
    case DType::kUInt32:
      return put(static_cast<std::uint32_t>(value));
    case DType::kUInt64:
      return put(static_cast<std::uint64_t>(value));
    case DType::kString:
      return;
  }
}

double mean_of(const ExpectedOutput& output) {
  double sum = 0;
  for (float value : output.values) sum += std::isfinite(value) ? static_cast<double>(value) : 0;
  for (std::int64_t value : output.ints) sum += static_cast<double>(value);
  auto n = static_cast<double>(std::max<std::int64_t>(element_count(output.shape), 1));
  return is_float(output.dtype) ? sum / n : std::round(sum / n);
}

// What each null candidate would put into one output.
struct NullCandidate {
  std::string name;
  double worst_ratio = 0;  // over all kinds and outputs
};

void constant(const ExpectedOutput& output, double value, std::vector<std::byte>& data) {
  if (data.empty()) return;
  // One element, then doubled until the end: copying is quicker than converting each.
  std::size_t done = size_of(output.dtype);
  store_element(output.dtype, value, data.data(), 0);
  while (done < data.size()) {
    std::size_t more = std::min(done, data.size() - done);
    std::memcpy(data.data() + done, data.data(), more);
    done += more;
  }
}

// The first input with as many elements and the same type; false when there is none.
bool copy_of_input(const BoundTask& task, InputKind kind, std::uint64_t seed, const ExpectedOutput& output,
                   std::vector<std::byte>& data) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role == Role::kOutput || argument.dtype != output.dtype || argument.bytes() != data.size())
      continue;
    fill_argument(argument, kind, seed, a, data);
    return true;
  }
  return false;
}

double ratio_of(const ExpectedOutput& output, const std::vector<std::byte>& data, CompareOptions options) {
  options.stop_when_wrong = true;
  Comparison found = compare_output(output, data, options);
  // A wrong element of an integer output counts as far off.
  return found.wrong > 0 ? std::max(found.worst_ratio, 1.000001) : std::min(found.worst_ratio, 1.0);
}

}  // namespace

Result<Calibration> calibrate(const JudgeContext& context) {
  const BoundTask& task = *context.task;
  CompareOptions options{context.policy, false, context.machine->threads()};
  NullCandidate nulls[] = {{"zeros"}, {"ones"}, {"mean"}, {"copy of an input"}};
  for (InputKind kind : {InputKind::kOwn, InputKind::kNormal}) {
    std::uint64_t seed = context.check_seed(kind);
    KF_TRY(ExpectedValues expected, context.expected(kind));
    for (const ExpectedOutput& output : expected->outputs) {
      std::vector<std::byte> data(static_cast<std::size_t>(element_count(output.shape)) *
                                  size_of(output.dtype));
      double constants[] = {0, 1, mean_of(output)};
      for (std::size_t n = 0; n < 3; ++n) {
        // The mean of a single element is the answer itself: nothing a candidate could know.
        bool is_answer = n == 2 && element_count(output.shape) == 1;
        constant(output, constants[n], data);
        double ratio = is_answer ? std::numeric_limits<double>::infinity() : ratio_of(output, data, options);
        nulls[n].worst_ratio = std::max(nulls[n].worst_ratio, ratio);
      }
      bool copied = copy_of_input(task, kind, seed, output, data);
      nulls[3].worst_ratio = copied ? std::max(nulls[3].worst_ratio, ratio_of(output, data, options))
                                    : std::numeric_limits<double>::infinity();
    }
  }
  Calibration calibration;
  calibration.closest = std::numeric_limits<double>::infinity();
  for (const NullCandidate& null : nulls) {
    if (null.worst_ratio <= 1) calibration.passing.push_back(null.name);
    if (null.worst_ratio >= calibration.closest) continue;
    calibration.closest = null.worst_ratio;
    calibration.closest_name = null.name;
  }
  return calibration;
}

GateResult finding_of(const Calibration& calibration) {
  if (calibration.vacuous())
    return {Gate::kCalibration, GateState::kFlagged,
            fmt::format("the task is vacuous: {} would pass too", calibration.passing.front())};
  return passed(
      Gate::kCalibration,
      fmt::format(
          "programs that do nothing fail; the nearest ({}) is at least {:.3g} times outside the bound",
          calibration.closest_name, calibration.closest));
}

}  // namespace kforge
