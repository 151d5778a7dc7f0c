#include "base/failure.h"

namespace kforge {
namespace {
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// Offsets are the last resort: they help whoever has the library at hand.
std::string where_text(const Crash& crash) {
  if (!crash.where.empty()) return " " + crash.where;
  std::string text;
  for (std::uint64_t frame : crash.frames)
    if (frame != 0) text += fmt::format("{}{:#x}", text.empty() ? " at kernel.so+" : " <- +", frame);
  return text;
}
}  // namespace

std::string_view outcome_name(const Failure& failure) {
  static constexpr std::string_view kNames[] = {"no_program",  "compile_error", "crash",   "timeout",
                                                "wrong_shape", "wrong_value",   "rejected"};
  return kNames[failure.index()];
}

std::string_view gate_name(const Failure& failure) {
  if (auto* wrong = std::get_if<WrongValue>(&failure)) return wrong->gate;
  if (auto* rejected = std::get_if<Rejected>(&failure)) return rejected->gate;
  if (std::holds_alternative<WrongShape>(failure)) return "shape";
  return "";
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
                    },
                    failure);
}

std::string_view evidence_json(const Failure& failure) {
  if (auto* wrong = std::get_if<WrongValue>(&failure)) return wrong->evidence;
  if (auto* rejected = std::get_if<Rejected>(&failure)) return rejected->evidence;
  return "";
}

}  // namespace kforge
