#include "verify/verdict.h"

namespace kforge {

void Verdict::pass(Gate gate, std::string summary, Evidence evidence) {
  gates.push_back({gate, GateState::kPassed, std::move(summary), std::move(evidence)});
}

void Verdict::skip(Gate gate, std::string summary) {
  gates.push_back({gate, GateState::kSkipped, std::move(summary)});
}

void Verdict::flag(Gate gate, std::string summary, Evidence evidence) {
  gates.push_back({gate, GateState::kFlagged, std::move(summary), std::move(evidence)});
}

void Verdict::fail(Failure why) {
  gates.push_back(
      {gate_of(why).value_or(Gate::kRun), GateState::kFailed, reason_text(why), evidence_of(why)});
  failure = std::move(why);
}

void Verdict::add(const GateFinding& finding) {
  if (!finding) return fail(finding.error());
  gates.push_back(*finding);
}

std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ull * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::uint64_t JudgeContext::check_seed(InputKind kind) const {
  return mix_seed(secret, static_cast<std::uint64_t>(kind));
}

Result<ExpectedValues> JudgeContext::expected(InputKind kind) const {
  ExpectedCache nothing_kept(nullptr, 0);
  ExpectedCache& source = expected_cache ? *expected_cache : nothing_kept;
  return source.get(*task, kind, check_seed(kind), secret, machine->threads(), fresh_secret, stop);
}

}  // namespace kforge
