#include "base/failure.h"

#include "base/overloaded.h"

namespace kforge {
namespace {

// Offsets are the last resort: they help whoever has the library at hand.
std::string where_text(const Crash& crash) {
  if (!crash.where.empty()) return " " + crash.where;
  std::string text;
  for (std::uint64_t frame : crash.frames)
    if (frame != 0) text += fmt::format("{}{:#x}", text.empty() ? " at kernel.so+" : " <- +", frame);
  return text;
}
}  // namespace

Outcome outcome_of(const Failure& failure) {
  constexpr auto kFirst = static_cast<std::size_t>(Outcome::kNoProgram);
  static_assert(std::variant_size_v<Failure> + kFirst ==
                static_cast<std::size_t>(Outcome::kNotVerifiable) + 1);
  return static_cast<Outcome>(failure.index() + kFirst);
}

std::string_view outcome_name(const Failure& failure) { return name_of(outcome_of(failure)); }

std::optional<Gate> gate_of(const Failure& failure) {
  if (auto* wrong = std::get_if<WrongValue>(&failure)) return wrong->gate;
  if (auto* rejected = std::get_if<Rejected>(&failure)) return rejected->gate;
  if (std::holds_alternative<WrongShape>(failure)) return Gate::kShape;
  return std::nullopt;
}

std::string_view gate_name(const Failure& failure) {
  auto gate = gate_of(failure);
  return gate ? name_of(*gate) : "";
}

std::string reason_text(const Failure& failure) {
  return std::visit(Overloaded{
                        [](const NoProgram& f) { return f.reason; },
                        [](const CompileError& f) { return f.log; },
                        [](const Crash& f) {
                          return f.how + where_text(f) + (f.stderr_tail.empty() ? "" : "\n" + f.stderr_tail);
                        },
                        [](const Timeout& f) {
                          return fmt::format("{} did not finish within {:.3g} s", f.stage, f.limit_seconds);
                        },
                        [](const WrongShape& f) { return f.reason; },
                        [](const WrongValue& f) { return f.reason; },
                        [](const Rejected& f) { return f.reason; },
                        [](const NotVerifiable& f) { return f.reason; },
                    },
                    failure);
}

Evidence evidence_of(const Failure& failure) {
  if (auto* wrong = std::get_if<WrongValue>(&failure)) return wrong->evidence;
  if (auto* rejected = std::get_if<Rejected>(&failure)) return rejected->evidence;
  return {};
}

}  // namespace kforge
