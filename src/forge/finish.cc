// The end of a run: its record, the user's folder, the report.
#include <algorithm>

#include "forge/remembering_model.h"
#include "forge/run_folder.h"
#include "forge/run_state.h"

namespace kforge {

namespace {

Result<void> write_folder(ForgeState& s, RunReport& report) {
  const JudgeSetup& setup = s.workspace->setup();
  // Who interrupts does not wait for one more evaluation of the task.
  const bool callers = s.options.callers && !s.stopped();
  if (callers) s.view().stage("writing the callers");
  KF_TRY(RunEvidence evidence, evidence_of(*s.records, report));
  RunFolderContent content{*s.attempts->history().find(*s.record.best)->program(),
                           setup.bound(0),
                           setup.platform,
                           setup.policy,
                           evidence,
                           setup.threads,
                           callers};
  auto written = write_run_folder(s.record.folder, content, report);
  s.view().finish();
  return written;
}

}  // namespace

Result<RunReport> finish(ForgeState& s) {
  s.view().finish();
  StoredRun& record = s.record;
  record.state = record.ended && !can_go_on(*record.ended) ? RunState::kFinished : RunState::kRunning;
  KF_TRY_VOID(s.records->finish(record));
  if (s.service_error && !record.best)
    return fail_with_remedy(
        fmt::format("{}{}then `kforge forge --resume {}` goes on", s.service_error->remedy,
                    s.service_error->remedy.empty() ? "" : "; ", record.id),
        s.service_error->message);
  KF_TRY(RunReport report, report_of(*s.records, record.id));
  for (const auto& [name, seconds] : s.seconds) report.seconds[name] = seconds;
  KF_TRY(auto calls, s.records->calls(record.id));
  auto drifted = std::ranges::count(calls, kOtherPrompt, &StoredCall::detail);
  if (drifted > 0)
    report.notes.push_back(fmt::format("{} of {} replies of the cassette were recorded for other prompts",
                                       drifted, calls.size()));
  if (s.service_error) report.notes.push_back("the search ended early: " + s.service_error->text());
  if (record.best) KF_TRY_VOID(write_folder(s, report));
  record.document = to_json(report);
  KF_TRY_VOID(s.records->finish(record));
  return report;
}

}  // namespace kforge
