#include "report/run_evidence.h"

#include <algorithm>
#include <set>

namespace kforge {

std::vector<const Attempt*> line_of_descent(const std::vector<Attempt>& attempts, std::optional<int> number) {
  std::vector<const Attempt*> line;
  std::set<int> seen;
  while (number && seen.insert(*number).second) {
    auto found = std::ranges::find(attempts, *number, &Attempt::number);
    if (found == attempts.end()) break;
    line.push_back(&*found);
    number = found->proposal.parent < 0 ? std::nullopt : std::optional(found->proposal.parent);
  }
  std::ranges::reverse(line);
  return line;
}

Result<RunEvidence> evidence_of(RunRecords& records, const RunReport& report) {
  RunEvidence evidence;
  KF_TRY(StoredRun run, records.run(report.id));
  evidence.seed = run.seed;
  KF_TRY(auto setting, records.setting(run.id));
  if (setting) evidence.peaks = setting->peaks;
  const auto line = line_of_descent(report.attempts, report.best_attempt);
  for (auto attempt = line.rbegin(); attempt != line.rend() && !evidence.profiled; ++attempt) {
    KF_TRY(auto profile, records.profile(run.id, (*attempt)->number));
    if (!profile) continue;
    evidence.profile = std::move(*profile);
    evidence.profiled = (*attempt)->number;
  }
  KF_TRY(evidence.exchanges, records.exchanges(run.id, kMostExchanges));
  return evidence;
}

}  // namespace kforge
