#include "verify/special_values.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "execute/fill.h"
#include "verify/compare.h"
#include "verify/near_calls.h"

namespace kforge {
namespace {

constexpr double kHuge = 1e28;       // stands for infinity in some readings
constexpr double kTolerance = 1e-3;  // precision is judged on numbers

const BoundArgument* only_of_role(const BoundTask& task, Role role, std::size_t& index) {
  const BoundArgument* found = nullptr;
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != role) continue;
    if (found) return nullptr;
    found = &task.arguments[a];
    index = a;
  }
  return found;
}

bool elementwise(const Node& node) {
  static constexpr std::string_view kOps[] = {
      "Abs",   "Add",         "Celu",           "Clip",     "Constant",  "Elu",      "Erf",      "Exp",
      "Gelu",  "HardSigmoid", "HardSwish",      "Identity", "LeakyRelu", "Max",      "Min",      "Mish",
      "Mul",   "Neg",         "Relu",           "Selu",     "Sigmoid",   "Softplus", "Softsign", "Sub",
      "Swish", "Tanh",        "ThresholdedRelu"};
  return node.domain.empty() && std::ranges::find(kOps, node.op) != std::end(kOps);
}

// One reading that the actual value may agree with.
bool matches(double got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::abs(want) >= kHuge) return std::signbit(got) == std::signbit(want) && std::abs(got) >= kHuge;
  return std::abs(got - want) <= kTolerance * std::max(1.0, std::abs(want));
}

}  // namespace

bool judges_special_values(const BoundTask& task) {
  std::size_t in = 0, out = 0;
  const BoundArgument *input = only_of_role(task, Role::kInput, in),
                      *output = only_of_role(task, Role::kOutput, out);
  std::size_t none = 0;
  if (!input || !output || only_of_role(task, Role::kInout, none)) return false;
  auto kind = input->distribution.kind;
  return input->dtype == DType::kFloat32 && output->dtype == DType::kFloat32 &&
         input->shape == output->shape &&
         (kind == Distribution::Kind::kUniform || kind == Distribution::Kind::kNormal) &&
         std::ranges::all_of(task.graph.nodes, elementwise);
}

Result<std::optional<Failure>> judge_special_values(const JudgeContext& context, const InputMemory& memory,
                                                    ProgramProcess& process, Verdict& verdict) {
  const BoundTask& task = *context.task;
  std::size_t in = 0, out = 0;
  only_of_role(task, Role::kInput, in);
  only_of_role(task, Role::kOutput, out);
  const InputChoice own{InputKind::kOwn, context.check_seed(InputKind::kOwn)};
  InputChoice choice = own;
  choice.variation = {VariedPart::kSpecial, mix_seed(context.secret, 99)};
  fill_params(task, memory, own);
  KF_TRY(auto prepared, process.prepare(context.call_limit));
  if (!prepared) return prepared.error();
  fill_inputs(task, memory, choice, 0);
  reset_outputs(task, process.outputs(), choice, 0);
  KF_TRY(bool alive, checked_call(process, {0}, context.call_limit, verdict));
  if (!alive) return std::nullopt;

  const auto got = process.outputs().tensor(out, 0), input = memory.inputs.tensor(in, 0);
  std::vector<bool> right(static_cast<std::size_t>(element_count(task.arguments[out].shape)));
  for (VariedPart reading :
       {VariedPart::kSpecial, VariedPart::kSpecialLow, VariedPart::kSpecialHigh, VariedPart::kSpecialZero}) {
    choice.variation.part = reading;
    KF_TRY(Expected truth,
           expected_outputs_once(task, own, choice, context.machine->threads(), context.stop));
    for (std::size_t i = 0; i < right.size(); ++i)
      right[i] =
          right[i] || matches(element_as_double(DType::kFloat32, got.data(), static_cast<std::int64_t>(i)),
                              truth.outputs[0].values[i]);
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    auto at = static_cast<std::int64_t>(i);
    double x = element_as_double(DType::kFloat32, input.data(), at),
           y = element_as_double(DType::kFloat32, got.data(), at);
    // What is not a number may always stay so.
    if (right[i] || (!std::isfinite(x) && std::isnan(y))) continue;
    return WrongValue{
        Gate::kNonfinite,
        fmt::format("{} is {:.9g} where {} is {:.9g} (element {}); inputs may hold NaN, infinities, "
                    "denormals and -0, unless `// kforge: flags -ffast-math` says otherwise",
                    task.arguments[out].c_name, y, task.arguments[in].c_name, x, at),
        Figures{{{"element", at}}}};
  }
  return std::nullopt;
}

}  // namespace kforge
