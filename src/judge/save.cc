#include "judge/save.h"

#include <fmt/ranges.h>
#include "store/evidence_json.h"

#include "judge/report_of.h"

namespace kforge {

StoredResult to_stored(const EvalReport& report) {
  StoredResult stored;
  stored.id = report.result_id;
  stored.created_at = report.created_at;
  stored.task = report.task;
  stored.task_hash = report.task_hash;
  stored.shape_set = report.shape_set;
  stored.platform = report.platform;
  stored.precision = report.precision;
  stored.outcome = name_of(report.outcome);
  stored.gate = report.gate_name();
  stored.machine = report.machine;
  if (report.time_ns) stored.time_ns = report.time_ns->value;
  if (report.speedup) {
    stored.speedup = report.speedup->value;
    stored.against = report.speedup->against;
  }
  stored.document = to_json(report, true);
  for (const GateResult& gate : report.gates)
    stored.gates.push_back({std::string(name_of(gate.gate)), std::string(name_of(gate.state)), gate.summary,
                            evidence_text(gate.evidence)});
  stored.samples = report.samples;
  stored.seeds = report.seeds;
  return stored;
}

Result<std::string> save(Workspace& workspace, const Program& program, const Judgement& judgement,
                         EvalReport report) {
  Store* store = workspace.store();
  if (!store) return "";
  workspace.progress().stage("writing the result");
  report.result_id = new_result_id();
  StoredResult stored = to_stored(report);
  if (program && !program->files.empty()) {
    KF_TRY_VOID(store->save_candidate({report.kernel_hash, program->origin, program->files}));
    stored.candidate = report.kernel_hash;
    if (!judgement.cases.empty() && judgement.cases.back().build) {
      const Build& build = *judgement.cases.back().build;
      KF_TRY(stored.build,
             store->save_build({report.kernel_hash, workspace.setup().platform.name, report.task_hash,
                                build.march, fmt::format("{}", fmt::join(build.command, " ")), build.log,
                                build.seconds, build.from_cache, build.artefact}));
    }
  }
  KF_TRY_VOID(store->save_result(stored));
  return stored.id;
}

Result<Judged> judge_and_save(Workspace& workspace, const Program& program, const JudgeRequest& request,
                              const std::string& kernel_path) {
  Judged judged;
  KF_TRY(judged.judgement, judge(workspace, program, request));
  judged.report = report_of(workspace.setup(), program, request, judged.judgement);
  judged.report.kernel_path = kernel_path;
  KF_TRY(judged.report.result_id, save(workspace, program, judged.judgement, judged.report));
  return judged;
}

}  // namespace kforge
