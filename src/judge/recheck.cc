#include "judge/recheck.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "judge/evaluate.h"
#include "store/store.h"
#include "task/task.h"
#include "verify/statistics.h"

namespace kforge {
namespace {

bool overlap(double lo1, double hi1, double lo2, double hi2) { return lo1 <= hi2 && lo2 <= hi1; }

bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

const SampleSeries* series_of(const EvalReport& report, std::string_view sampled) {
  for (const SampleSeries& series : report.samples)
    if (series.contender == sampled) return &series;
  return nullptr;
}

// With one shape case the published interval is a function of the samples; nothing else may have entered it.
bool figures_follow(const EvalReport& report) {
  if (!report.time_ns || report.cases.size() != 1) return true;
  const SampleSeries* own = series_of(report, "candidate");
  if (!own) return false;
  Interval ns = median_interval(own->ns_per_call);
  if (!close(ns.value, report.time_ns->value) || !close(ns.lo, report.time_ns->lo) ||
      !close(ns.hi, report.time_ns->hi))
    return false;
  if (!report.speedup) return true;
  const SampleSeries* opponent = series_of(report, report.speedup->against);
  if (!opponent || opponent->ns_per_call.size() != own->ns_per_call.size()) return false;
  Interval ratio = paired_ratio(opponent->ns_per_call, own->ns_per_call);
  return close(ratio.value, report.speedup->value) && close(ratio.lo, report.speedup->lo) &&
         close(ratio.hi, report.speedup->hi);
}

}  // namespace

Result<void> restore(const StoredCandidate& candidate, const fs::path& folder) {
  for (const SourceFile& file : candidate.files) {
    std::error_code error;
    fs::create_directories((folder / file.name).parent_path(), error);
    KF_TRY_VOID(write_file_atomic(folder / file.name, file.content));
  }
  return {};
}

JudgeOptions judge_options_of(const EvalReport& report) {
  JudgeOptions options;
  options.task = report.task_path.empty() ? report.task : report.task_path;
  options.platform = report.platform;
  options.precision = report.precision;
  options.shape_set = report.shape_set;
  options.set = report.set;
  options.call_limit_seconds = report.asked_timeout;
  options.cold = report.cache == "cold";
  options.threads = report.threads;
  options.allow_libraries = report.libraries_allowed;
  options.baselines = report.asked_baselines;
  options.deterministic = report.deterministic;
  options.march = report.asked_march;
  if (report.sandbox == "none") options.sandbox = SandboxTier::kNone;
  return options;
}

Result<Recheck> recheck(std::string_view result_id, const std::string& python, Progress& progress) {
  KF_TRY(Store store, Store::open());
  KF_TRY(StoredResult record, store.result(result_id));
  Recheck check;
  KF_TRY(check.stored, eval_report_from_json(record.document));
  if (record.candidate.empty())
    return fail("result {} has no program to judge again: its outcome was {}", record.id, record.outcome);
  KF_TRY(StoredCandidate candidate, store.candidate(record.candidate));
  EvalOptions options;
  static_cast<JudgeOptions&>(options) = judge_options_of(check.stored);
  options.check_only = check.stored.check_only;
  options.python = python;
  KF_TRY(Task task, load_task(options.task));
  check.task_unchanged = task.content_hash == check.stored.task_hash;
  check.figures_follow = figures_follow(check.stored);

  KF_TRY(TempDir folder, TempDir::create());
  KF_TRY_VOID(restore(candidate, folder.path()));
  options.kernel = candidate.files.size() == 1 ? folder.path() / candidate.files.front().name : folder.path();
  KF_TRY(check.again, evaluate(options, progress));

  check.same_machine = check.again.machine == check.stored.machine;
  check.same_outcome = check.again.outcome == check.stored.outcome && check.again.gate == check.stored.gate;
  if (check.stored.time_ns && check.again.time_ns)
    check.times_overlap = overlap(check.stored.time_ns->lo, check.stored.time_ns->hi, check.again.time_ns->lo,
                                  check.again.time_ns->hi);
  if (check.stored.speedup && check.again.speedup) {
    check.speedups_comparable =
        check.stored.speedup->against == check.again.speedup->against && check.same_machine;
    check.speedups_overlap = overlap(check.stored.speedup->lo, check.stored.speedup->hi,
                                     check.again.speedup->lo, check.again.speedup->hi);
  }
  return check;
}

}  // namespace kforge
