// Runs and suites as lists show them: what each is doing, and which suite a run belongs to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "store/runs.h"
#include "suite/suite_report.h"

namespace kforge {

// What a run is doing now, from its record and from whether a process has it.
RunActivity activity_of(RunRecords& records, const StoredRun& run);
// Why it has ended, else what it is doing.
std::string state_words(const StoredRun& run, RunActivity activity);
// "1.31x over onednn", "verified", "nothing verified"; "" while it is under way.
std::string outcome_words(const StoredRun& run);

// The suite that a run belongs to, by where it writes; null: none.
const SuiteFolder* suite_of(const StoredRun& run, const std::vector<SuiteFolder>& suites);
// "running", "finished", "stopped"
std::string state_words(const SuiteFolder& suite, const SuiteReport& report);

// Lines of `kforge runs --json`.
nlohmann::ordered_json to_json(const StoredRun& run, RunActivity activity, const SuiteFolder* suite);
nlohmann::ordered_json to_json(const SuiteFolder& suite, const SuiteReport& report);

}  // namespace kforge
