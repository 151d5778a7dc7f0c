#include "verify/special_values.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <span>
#include <string_view>

#include "execute/fill.h"
#include "verify/compare.h"
#include "verify/near_calls.h"

namespace kforge {
namespace {

constexpr double kHuge = 1e28;             // stands for infinity in some readings
constexpr double kTolerance = 1e-3;        // precision is judged on numbers
constexpr double kNarrowTolerance = 2e-2;  // the same for results of 16 bits
constexpr double kSame = 1e-6;             // between readings that a special value does not reach
constexpr double kOracleSeconds = 2;       // for all readings, where sums make the oracle slow
constexpr double kTruthsPerResult = 3;     // the truth's share of what expected values take
constexpr std::size_t kMostInputs = 3;

// What an operator does with a special value, in the order of what may then be asked of the whole graph.
enum class Reach : std::uint8_t {
  kElement,  // one result
  kSum,      // all that are computed from it
  kProduct,  // these, and others by algorithms that are as good
  kUnknown,
};

struct OperatorRow {
  std::string_view op;
  Reach reach;
  bool swallows = false;  // a NaN, by a comparison or a bound
  bool by_order = false;  // what is left of a NaN's neighbours depends on the order of comparisons
};

constexpr OperatorRow kOperators[] = {
    {"Abs", Reach::kElement},
    {"Add", Reach::kElement},
    {"AveragePool", Reach::kProduct},
    {"BatchNormalization", Reach::kSum},
    {"Celu", Reach::kElement, true},
    {"Clip", Reach::kElement, true},
    {"Concat", Reach::kSum},
    {"Constant", Reach::kElement},
    {"Conv", Reach::kProduct},
    {"ConvTranspose", Reach::kProduct},
    {"Div", Reach::kSum},
    {"Einsum", Reach::kProduct},
    {"Elu", Reach::kElement, true},
    {"Erf", Reach::kElement, true},
    {"Exp", Reach::kElement, true},
    {"Flatten", Reach::kSum},
    {"Gelu", Reach::kElement, true},
    {"Gemm", Reach::kProduct},
    {"GlobalAveragePool", Reach::kSum},
    {"GlobalMaxPool", Reach::kSum, true, true},
    {"GroupNormalization", Reach::kSum},
    {"HardSigmoid", Reach::kElement, true},
    {"HardSwish", Reach::kElement, true},
    {"Identity", Reach::kElement},
    {"InstanceNormalization", Reach::kSum},
    {"LayerNormalization", Reach::kSum},
    {"LeakyRelu", Reach::kElement, true},
    {"LogSoftmax", Reach::kSum, true},
    {"LpNormalization", Reach::kSum},
    {"MatMul", Reach::kProduct},
    {"Max", Reach::kElement, true},
    {"MaxPool", Reach::kSum, true, true},
    {"Min", Reach::kElement, true},
    {"Mish", Reach::kElement, true},
    {"Mul", Reach::kElement},
    {"Neg", Reach::kElement},
    {"RMSNormalization", Reach::kSum},
    {"ReduceL1", Reach::kSum},
    {"ReduceL2", Reach::kSum},
    {"ReduceMax", Reach::kSum, true, true},
    {"ReduceMean", Reach::kSum},
    {"ReduceMin", Reach::kSum, true, true},
    {"ReduceSum", Reach::kSum},
    {"ReduceSumSquare", Reach::kSum},
    {"Reciprocal", Reach::kSum},
    {"Relu", Reach::kElement, true},
    {"Reshape", Reach::kSum},
    {"Selu", Reach::kElement, true},
    {"Sigmoid", Reach::kElement, true},
    {"Softmax", Reach::kSum, true},
    {"Softplus", Reach::kElement, true},
    {"Softsign", Reach::kElement},
    {"Sqrt", Reach::kSum},
    {"Squeeze", Reach::kSum},
    {"Sub", Reach::kElement},
    {"Swish", Reach::kElement, true},
    {"Tanh", Reach::kElement, true},
    {"ThresholdedRelu", Reach::kElement, true},
    {"Transpose", Reach::kSum},
    {"Unsqueeze", Reach::kSum},
};

struct Asked {
  Reach reach = Reach::kElement;
  bool swallowed = false;  // some operator may swallow a NaN
  bool mixed = false;      // and more is computed from what it gives
};

Asked asked_of(const Graph& graph) {
  Asked asked;
  std::set<std::string> swallowed;  // values behind an operator that swallows
  for (const Node& node : graph.nodes) {
    const auto* row = std::ranges::find(kOperators, node.op, &OperatorRow::op);
    const bool known = node.domain.empty() || node.domain == "kforge";
    if (!known || row == std::end(kOperators)) return {Reach::kUnknown};
    asked.reach = std::max(asked.reach, row->reach);
    bool behind =
        std::ranges::any_of(node.inputs, [&](const std::string& name) { return swallowed.contains(name); });
    asked.mixed |= row->by_order || (behind && (row->swallows || row->reach != Reach::kElement));
    asked.swallowed |= row->swallows;
    if (behind || row->swallows) swallowed.insert(node.outputs.begin(), node.outputs.end());
  }
  if (asked.reach == Reach::kElement) asked.mixed = false;  // the readings of an element follow it
  return asked;
}

// Readings with a huge number have no place in float16.
bool is_judged_type(DType dtype, const Asked& asked) {
  const bool huge_numbers = asked.reach == Reach::kElement || asked.swallowed;
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16 || (dtype == DType::kFloat16 && !huge_numbers);
}

bool can_hold_special_values(const BoundArgument& argument, const Asked& asked) {
  auto kind = argument.distribution.kind;
  return argument.role == Role::kInput && is_judged_type(argument.dtype, asked) &&
         (kind == Distribution::Kind::kUniform || kind == Distribution::Kind::kNormal);
}

// One output of the program's call, beside one reading after the other: large tensors are not kept for each.
class ReadOutput {
 public:
  ReadOutput(std::size_t argument, DType dtype, std::span<const std::byte> got, double tolerance)
      : argument_(argument), dtype_(dtype), got_(got), tolerance_(tolerance) {}

  // `may_be_meant`: a program may have read its inputs so; else the reading only tells what is reached.
  void compare(std::vector<float> reading, bool may_be_meant) {
    const bool first = first_.empty();
    if (first) {
      first_ = std::move(reading);
      states_.resize(first_.size());
      scale_ = scale_of(first_);
    }
    const std::vector<float>& values = first ? first_ : reading;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i], plain = first_[i];
      if (may_be_meant && matches(got(i), value)) states_[i] |= kRight;
      if (!std::isfinite(value) || std::abs(value - plain) > kSame * std::max(scale_, std::abs(plain)))
        states_[i] |= kReached;
    }
  }

  std::optional<std::size_t> first_wrong(const Asked& asked) const {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (untouched(i)) return i;
      if (states_[i] & kRight) continue;
      const bool reached = states_[i] & kReached;
      if (std::isnan(got(i)) ? reached || asked.reach == Reach::kProduct : reached && asked.mixed) continue;
      return i;
    }
    return std::nullopt;
  }

  std::size_t argument() const { return argument_; }
  bool untouched(std::size_t i) const {
    return std::isnan(got(i)) && is_untouched(dtype_, got_.data(), static_cast<std::int64_t>(i));
  }
  double got(std::size_t i) const {
    return element_as_double(dtype_, got_.data(), static_cast<std::int64_t>(i));
  }
  double wanted(std::size_t i) const { return first_[i]; }
  bool reached(std::size_t i) const { return states_[i] & kReached; }

 private:
  static constexpr std::uint8_t kRight = 1, kReached = 2;

  static double scale_of(const std::vector<float>& values) {
    double squares = 0, finite = 0;
    for (double value : values) {
      if (!std::isfinite(value) || std::abs(value) >= kHuge) continue;
      squares += value * value;
      ++finite;
    }
    return std::max(1.0, std::sqrt(squares / std::max(finite, 1.0)));
  }

  bool matches(double got, double want) const {
    if (std::isnan(want)) return std::isnan(got);
    if (std::abs(want) >= kHuge) return std::signbit(got) == std::signbit(want) && std::abs(got) >= kHuge;
    return std::abs(got - want) <= tolerance_ * std::max(scale_, std::abs(want));
  }

  std::size_t argument_;
  DType dtype_;
  std::span<const std::byte> got_;
  double tolerance_, scale_ = 1;
  std::vector<float> first_;  // the values as they are
  std::vector<std::uint8_t> states_;
};

// One input with special values, and what became of it.
class SpecialCall {
 public:
  SpecialCall(const JudgeContext& context, const Asked& asked, std::size_t input, std::uint64_t seed)
      : context_(context), task_(*context.task), asked_(asked), input_(input) {
    choice_.variation = {.part = VariedPart::kSpecial,
                         .seed = seed,
                         .only = static_cast<int>(input),
                         .sparse = asked.reach != Reach::kElement};
  }

  // False when the verdict has failed.
  Result<bool> make(const InputMemory& memory, ProgramProcess& process, Verdict& verdict) {
    fill_inputs(task_, memory, choice_, 0);
    reset_outputs(task_, process.outputs(), choice_, 0);
    return checked_call(process, {0}, context_.call_limit, verdict);
  }

  Result<std::optional<Failure>> judge(const InputMemory& memory, const TensorMemory& outputs) {
    std::vector<ReadOutput> read;
    for (std::size_t a = 0; a < task_.arguments.size(); ++a) {
      const BoundArgument& argument = task_.arguments[a];
      if (argument.role != Role::kOutput) continue;
      const double tolerance = argument.dtype == DType::kFloat32 ? kTolerance : kNarrowTolerance;
      read.emplace_back(a, argument.dtype, outputs.tensor(a, 0),
                        std::max(tolerance, 2 * context_.policy.tolerance));
    }
    for (VariedPart part : readings()) {
      InputChoice choice = choice_;
      choice.variation.part = part;
      KF_TRY(auto reading,
             true_outputs_once(task_, own(), choice, context_.machine->threads(), context_.stop));
      for (std::size_t i = 0; i < read.size(); ++i)
        read[i].compare(std::move(reading[i]), part != VariedPart::kSpecialOther);
    }
    for (const ReadOutput& output : read)
      if (auto at = output.first_wrong(asked_)) return wrong(output, *at, memory);
    return std::nullopt;
  }

 private:
  InputChoice own() const { return {InputKind::kOwn, context_.check_seed(InputKind::kOwn)}; }

  std::vector<VariedPart> readings() const {
    std::vector<VariedPart> parts{VariedPart::kSpecial};
    if (asked_.swallowed)
      parts.insert(parts.end(),
                   {VariedPart::kSpecialLow, VariedPart::kSpecialHigh, VariedPart::kSpecialZero});
    else if (asked_.reach == Reach::kElement)
      parts.push_back(VariedPart::kSpecialZero);  // denormals
    if (asked_.swallowed && asked_.reach != Reach::kElement) parts.push_back(VariedPart::kSpecialRow);
    if (asked_.reach == Reach::kElement) parts.push_back(VariedPart::kSpecialOther);
    return parts;
  }

  Failure wrong(const ReadOutput& output, std::size_t i, const InputMemory& memory) const {
    const auto at = static_cast<std::int64_t>(i);
    const BoundArgument &in = task_.arguments[input_], &out = task_.arguments[output.argument()];
    if (output.untouched(i))
      return WrongValue{
          Gate::kMemory,
          fmt::format("element {} of {} was not written in a call with NaN among the inputs", i, out.c_name),
          Figures{{{"element", at}}}};
    std::string where;
    if (asked_.reach == Reach::kElement && in.shape == out.shape) {
      double x = element_as_double(in.dtype, memory.inputs.tensor(input_, 0).data(), at);
      where = fmt::format("where {} is {:.9g} (element {})", in.c_name, x, at);
    } else {
      where =
          fmt::format("where the oracle has {:.9g} (element {}), {} special value of {}", output.wanted(i),
                      at, output.reached(i) ? "reached by a" : "which depends on no", in.c_name);
    }
    return WrongValue{
        Gate::kNonfinite,
        fmt::format("{} is {:.9g} {}; inputs may hold NaN, infinities, denormals and -0, unless "
                    "`// kforge: flags -ffast-math` says otherwise",
                    out.c_name, output.got(i), where),
        Figures{{{"element", at}}}};
  }

  const JudgeContext& context_;
  const BoundTask& task_;
  const Asked asked_;
  const std::size_t input_;
  InputChoice choice_ = own();
};

// Which inputs: all of them, a drawn one where the oracle is slow, none where it is very slow.
Result<std::vector<std::size_t>> inputs_to_try(const JudgeContext& context, const Asked& asked) {
  const BoundTask& task = *context.task;
  std::vector<std::size_t> inputs;
  for (std::size_t a = 0; a < task.arguments.size(); ++a)
    if (can_hold_special_values(task.arguments[a], asked)) inputs.push_back(a);
  std::mt19937_64 random(mix_seed(context.secret, 98));
  std::ranges::shuffle(inputs, random);
  inputs.resize(std::min(inputs.size(), kMostInputs));
  if (asked.reach == Reach::kElement) return inputs;
  KF_TRY(ExpectedValues expected, context.expected(InputKind::kOwn));
  const double each = expected->seconds / kTruthsPerResult * (asked.swallowed ? 5 : 1);
  if (expected->from_cache || each > kOracleSeconds) return std::vector<std::size_t>{};
  if (each * static_cast<double>(inputs.size()) > kOracleSeconds) inputs.resize(1);
  return inputs;
}

}  // namespace

bool judges_special_values(const BoundTask& task) {
  const Asked asked = asked_of(task.graph);
  if (asked.reach == Reach::kUnknown) return false;
  bool any = false;
  for (const BoundArgument& argument : task.arguments) {
    if (argument.role == Role::kInout) return false;
    if (argument.role == Role::kOutput && !is_judged_type(argument.dtype, asked)) return false;
    any |= can_hold_special_values(argument, asked);
  }
  return any;
}

Result<SpecialFinding> judge_special_values(const JudgeContext& context, const InputMemory& memory,
                                            ProgramProcess& process, Verdict& verdict) {
  const BoundTask& task = *context.task;
  const Asked asked = asked_of(task.graph);
  KF_TRY(auto inputs, inputs_to_try(context, asked));
  SpecialFinding finding;
  if (inputs.empty()) return finding;
  finding.judged = true;
  fill_params(task, memory, {InputKind::kOwn, context.check_seed(InputKind::kOwn)});
  KF_TRY(auto prepared, process.prepare(context.call_limit));
  if (!prepared) {
    finding.failure = prepared.error();
    return finding;
  }
  for (std::size_t input : inputs) {
    SpecialCall call(context, asked, input, mix_seed(context.secret, 99 + input));
    KF_TRY(bool alive, call.make(memory, process, verdict));
    if (!alive) return finding;
    KF_TRY(finding.failure, call.judge(memory, process.outputs()));
    if (finding.failure) return finding;
  }
  return finding;
}

}  // namespace kforge
