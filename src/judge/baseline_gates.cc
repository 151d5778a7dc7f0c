#include "judge/baseline_gates.h"

#include "base/hash.h"
#include "verify/value_gates.h"

namespace kforge {

Result<std::optional<std::string>> gates_of_baseline(const JudgeContext& context,
                                                     const ContenderSpec& program,
                                                     const std::string& identity, FileCache* cache) {
  std::string key = Hasher()
                        .add("baseline gates 2")
                        .add(identity)
                        .add(program.name)
                        .add(context.task->key())
                        .add(context.policy.name)
                        .add(std::to_string(context.threads))
                        .hex();
  if (cache && !identity.empty())
    if (auto known = cache->load(key)) return known->empty() ? std::nullopt : std::optional(*known);
  Verdict verdict;
  KF_TRY_VOID(judge_values(context, program, verdict));
  std::string failed;
  if (verdict.failed()) {
    std::string gate(gate_name(*verdict.failure));
    failed = fmt::format("{}: {}", gate.empty() ? outcome_name(*verdict.failure) : gate,
                         reason_text(*verdict.failure));
  }
  // A cache that cannot be written only costs time.
  if (cache && !identity.empty()) (void)cache->store(key, failed);
  return failed.empty() ? std::nullopt : std::optional(failed);
}

}  // namespace kforge
