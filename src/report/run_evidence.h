// What the page of a run tells beyond its report: the machine's limits as they were measured for it, the
// profile of its program, and every word said to models and by them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "profile/profile.h"
#include "report/page_template.h"
#include "report/run_report.h"
#include "store/runs.h"

namespace kforge {

// Calls of models that a page shows with their texts.
inline constexpr std::size_t kMostExchanges = 200;

struct RunEvidence {
  std::optional<Peaks> peaks;   // nothing: programs are not timed there
  std::optional<int> profiled;  // the attempt whose program `profile` is of: the best, or what it came from
  Profile profile;
  std::vector<StoredExchange> exchanges;
  std::uint64_t seed = 0;  // of the draws of the search
};

Result<RunEvidence> evidence_of(RunRecords& records, const RunReport& report);

// The attempts that led to `number`, the first of them first, itself last. Empty: there is no such attempt.
std::vector<const Attempt*> line_of_descent(const std::vector<Attempt>& attempts, std::optional<int> number);

// What pages/run_parts.mustache and pages/result_parts.mustache show; `program` is what was judged, where it
// is known.
PageData page_data(const RunReport& report, const RunEvidence& evidence);
PageData page_data(const EvalReport& report, const Candidate* program);
// One file that needs nothing else: no network, no scripts. An Error: the folder pages/ is not there.
Result<std::string> to_html(const RunReport& report, const RunEvidence& evidence);
Result<std::string> to_html(const EvalReport& report, const Candidate* program);

}  // namespace kforge
