#include "suite/run_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/readable.h"

namespace kforge {

RunActivity activity_of(RunRecords& records, const StoredRun& run) {
  if (run.state == RunState::kFinished) return RunActivity::kFinished;
  auto asked = records.waiting_for(run.id);
  return activity_of(run, records.held(run.id), asked && asked->has_value());
}

std::string state_words(const StoredRun& run, RunActivity activity) {
  return std::string(activity == RunActivity::kFinished && run.ended ? name_of(*run.ended)
                                                                     : name_of(activity));
}

std::string outcome_words(const StoredRun& run) {
  if (run.speedup) return fmt::format("{}x over {}", readable_ratio(*run.speedup), run.against);
  if (run.best) return "verified";
  return run.state == RunState::kFinished ? "nothing verified" : "";
}

namespace {

// Where a run writes, also before it has; empty: not known.
std::string folder_of(const StoredRun& run) {
  auto out = run.options.find("out");
  const auto* folder = out == run.options.end() ? nullptr : std::get_if<std::string>(&out->second);
  return run.folder.empty() && folder ? *folder : run.folder;
}

}  // namespace

const SuiteFolder* suite_of(const StoredRun& run, const std::vector<SuiteFolder>& suites) {
  const std::string folder = folder_of(run);
  auto found = std::ranges::find_if(suites, [&](const SuiteFolder& suite) {
    return folder.starts_with((suite.path() / "runs").string() + "/");
  });
  return found == suites.end() ? nullptr : &*found;
}

std::string state_words(const SuiteFolder& suite, const SuiteReport& report) {
  return suite.held() ? "running" : report.complete() ? "finished" : "stopped";
}

nlohmann::ordered_json to_json(const StoredRun& run, RunActivity activity, const SuiteFolder* suite) {
  using Json = nlohmann::ordered_json;
  const std::string folder = folder_of(run);
  return {{"id", run.id},
          {"suite", suite ? Json(suite->plan().id) : Json(nullptr)},
          {"created_at", run.created_at},
          {"task", run.task},
          {"shape_set", run.shape_set},
          {"platform", run.platform},
          {"precision", run.precision},
          {"generator", run.generator},
          {"analyst", run.analyst},
          {"strategy", run.strategy},
          {"state", name_of(run.state)},
          {"activity", name_of(activity)},
          {"ended", run.ended ? Json(name_of(*run.ended)) : Json(nullptr)},
          {"best", run.best ? Json(*run.best) : Json(nullptr)},
          {"speedup", run.speedup ? Json(*run.speedup) : Json(nullptr)},
          {"against", run.against.empty() ? Json(nullptr) : Json(run.against)},
          {"folder", folder.empty() ? Json(nullptr) : Json(folder)}};
}

nlohmann::ordered_json to_json(const SuiteFolder& suite, const SuiteReport& report) {
  return {{"id", suite.plan().id},
          {"created_at", suite.plan().created_at},
          {"name", suite.plan().name},
          {"platforms", suite.plan().platforms},
          {"state", state_words(suite, report)},
          {"finished", report.finished},
          {"of", suite.plan().items()},
          {"folder", suite.path().string()}};
}

}  // namespace kforge
