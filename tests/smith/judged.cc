#include "judged.h"

#include <cstring>

#include "oracle/expected.h"
#include "verify/compare.h"

namespace kforge {
namespace {

bool ordinary(InputKind kind) {
  return kind == InputKind::kOwn || kind == InputKind::kNormal || kind == InputKind::kHeavyTail;
}

std::string judge(const BoundTask& task, const AnyCall& call, std::string_view policy, InputKind kind,
                  std::uint64_t seed) {
  {
    auto expected = expected_outputs(task, kind, seed, 1, nullptr);
    if (!expected) return expected.error().message;
    if (!expected->yardstick_finite) return {};
    std::vector<std::vector<std::byte>> memory(task.arguments.size());
    std::vector<void*> pointers;
    std::vector<std::vector<std::byte>> original(task.arguments.size());
    constexpr std::size_t kSlack = 256;
    for (std::size_t i = 0; i < task.arguments.size(); ++i) {
      const BoundArgument& argument = task.arguments[i];
      memory[i].assign(argument.bytes() + 64 + kSlack, std::byte{0xa5});
      auto at = reinterpret_cast<std::uintptr_t>(memory[i].data());
      auto* aligned = memory[i].data() + (64 - at % 64) % 64;
      if (argument.role != Role::kOutput) fill_argument(argument, kind, seed, i, {aligned, argument.bytes()});
      original[i].assign(aligned, aligned + argument.bytes());
      pointers.push_back(aligned);
    }
    call(pointers.data());
    for (const ExpectedOutput& want : expected->outputs) {
      for (std::size_t i = 0; i < task.arguments.size(); ++i) {
        const BoundArgument& argument = task.arguments[i];
        const bool is_this = argument.role == Role::kOutput
                                 ? argument.name == want.name
                                 : argument.role == Role::kInout && argument.output == want.name;
        if (!is_this) continue;
        CompareOptions options{*policy_from_name(policy),
                               policy == "fp32" && kind == InputKind::kInteger && exact_on_integers(task), 1,
                               ordinary(kind), ordinary(kind) && kind != InputKind::kHeavyTail};
        const Comparison c =
            compare_output(want, {static_cast<std::byte*>(pointers[i]), argument.bytes()}, options);
        if (!c.ok())
          return fmt::format(
              "{} on {} inputs: {} of {} elements of '{}' are wrong, first at {} ({}); worst got {} want {} "
              "ratio {}",
              task.task->name, name_of(kind), c.wrong, c.elements, want.name, c.first_wrong, c.pattern,
              c.worst[0].got, c.worst[0].want, c.worst_ratio);
      }
    }
    for (std::size_t i = 0; i < task.arguments.size(); ++i) {
      const BoundArgument& argument = task.arguments[i];
      const auto* p = static_cast<std::byte*>(pointers[i]);
      for (std::size_t k = 0; k < 64; ++k)
        if (p[argument.bytes() + k] != std::byte{0xa5} &&
            p + argument.bytes() + k < memory[i].data() + memory[i].size())
          return fmt::format("wrote behind '{}'", argument.name);
      if ((argument.role == Role::kInput || argument.role == Role::kParam) &&
          std::memcmp(p, original[i].data(), argument.bytes()) != 0)
        return fmt::format("changed its input '{}'", argument.name);
    }
  }
  return {};
}

}  // namespace

// Normalising what is nothing but rounding (a convolution of inputs with a large mean) flips single elements
// of any fp32 program, now and then. A wrong program is wrong for every seed.
std::string judge(const BoundTask& task, const AnyCall& call, std::string_view policy) {
  for (const InputKind kind : kAllInputKinds) {
    std::string failure;
    for (const std::uint64_t seed : {4242, 77, 9}) {
      failure = judge(task, call, policy, kind, seed);
      const bool extreme =
          kind == InputKind::kLarge || kind == InputKind::kShifted || kind == InputKind::kEqual;
      if (failure.empty() || !extreme) break;
    }
    if (!failure.empty()) return failure;
  }
  return {};
}

}  // namespace kforge
