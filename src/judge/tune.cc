#include "judge/tune.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "judge/program.h"
#include "judge/race.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::size_t kMostAssignments = 200;

// "BM=64 BK=16   1.23 ms" per line; where it did not work, why.
std::string row(const Assignment& values, const std::string& what) {
  return fmt::format("{:<32} {}\n", to_text(values), what);
}

std::optional<Tuning> recall(const std::string& document, const Candidate& candidate) {
  Json json = Json::parse(document, nullptr, false);
  if (!json.is_object() || !json.contains("values") || !json.contains("table") ||
      !json["values"].is_array() || !json["table"].is_string())
    return std::nullopt;
  Assignment values;
  for (const Json& pair : json["values"]) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_integer())
      return std::nullopt;
    values.emplace_back(pair[0], pair[1]);
  }
  return Tuning{with_values(candidate, values), std::nullopt, json["table"], true};
}

// Where nothing is timed the platform's model takes the place of a race.
Result<RaceResult> modelled(Workspace& workspace, const Candidate& filled, const Build& build,
                            const BoundTask& task, double best_ns) {
  RaceResult result;
  KF_TRY(JudgeContext context, workspace.context(task, false));
  KF_TRY(ModelledTime time,
         model_time(workspace.setup(), filled, build, task, context.check_seed(InputKind::kOwn)));
  const double ns = time.ns;
  result.ns = {ns, ns, ns};
  if (best_ns > 0) result.ratio = Interval{best_ns / ns, best_ns / ns, best_ns / ns};
  return result;
}

}  // namespace

Result<Tuning> tune(Workspace& workspace, RunRecords& records, const Candidate& candidate, double seconds) {
  Tuning tuning;
  auto tunables = tunables_of(candidate);
  if (!tunables) {
    tuning.failure = CompileError{tunables.error().message};
    return tuning;
  }
  const BoundTask& task = workspace.setup().bound(0);
  std::string hash = candidate.content_hash(), machine = workspace.setup().device.id;
  KF_TRY(auto known, records.tuning(hash, task.key(), machine));
  if (known)
    if (auto recalled = recall(*known, candidate)) return *recalled;

  auto start = Clock::now();
  Race race(workspace, 0);
  std::optional<Assignment> best;
  double best_ns = 0;
  std::optional<Failure> first_failure;
  std::map<std::string, std::string> by_code;  // hash of the machine code -> the values that gave it first
  std::size_t tried = 0;
  for (const Assignment& values : tunables->assignments(kMostAssignments)) {
    if (best && std::chrono::duration<double>(Clock::now() - start).count() > seconds) {
      tuning.table += "(the time for tuning was used up)\n";
      break;
    }
    workspace.progress().stage("tuning " + to_text(values));
    Candidate filled = with_values(candidate, values);
    KF_TRY(auto built, build_program(workspace, filled, task));
    ++tried;
    if (built) {
      // Measured once: the same code again would only show the noise.
      auto [first, fresh] = by_code.emplace(built->artefact_hash, to_text(values));
      if (!fresh) {
        tuning.table += row(values, "the same machine code as " + first->second);
        continue;
      }
    }
    std::optional<Failure> failure;
    if (!built) failure = built.error();
    if (built)
      if (GateFinding symbols = judge_symbols(workspace.setup(), *built); !symbols) failure = symbols.error();
    RaceResult result;
    if (!failure) {
      if (workspace.setup().modelled()) {
        KF_TRY(result, modelled(workspace, filled, *built, task, best_ns));
      } else {
        KF_TRY(result, race.challenge(*built));
      }
      failure = result.failure;
      if (failure && !first_failure) locate_crash(workspace.setup(), *failure, filled, *built, task);
    }
    if (failure) {
      if (!first_failure) first_failure = failure;
      tuning.table += row(values, std::string(outcome_name(*failure)));
      // An error that has nothing to do with the values would only come again.
      if (!best && std::holds_alternative<CompileError>(*failure)) break;
      continue;
    }
    tuning.table += row(values, readable_time(result.ns.value));
    if (best && (!result.ratio || result.ratio->lo <= 1)) continue;
    best = values;
    best_ns = result.ns.value;
    if (!workspace.setup().modelled()) race.promote();
  }
  if (!best) {
    tuning.failure =
        first_failure ? *first_failure : Failure(CompileError{"kforge: tune: no values meet the conditions"});
    return tuning;
  }
  tuning.best = with_values(candidate, *best);
  tuning.table += "best: " + to_text(*best) + "\n";
  if (tried > 1 && by_code.size() == 1)
    tuning.table +=
        "the values change nothing: is each macro used, and defined only where it is not yet (#ifndef)?\n";
  Json values = Json::array();
  for (const auto& [name, value] : *best) values.push_back({name, value});
  KF_TRY_VOID(records.save_tuning(hash, task.key(), machine,
                                  Json{{"values", values}, {"table", tuning.table}}.dump()));
  return tuning;
}

}  // namespace kforge
