#include "judge/compare_results.h"

#include "base/subprocess.h"
#include "base/text.h"
#include "judge/judge.h"
#include "judge/recheck.h"
#include "store/runs.h"

namespace kforge {
namespace {

Result<std::string> source_difference(const NamedProgram& a, const NamedProgram& b) {
  KF_TRY(TempDir work, TempDir::create());
  KF_TRY_VOID(restore(a.program, work.path() / "a"));
  // Main files are compared with each other whatever they are called: v2.cc and v3.cc are two versions of
  // one.
  StoredCandidate other = b.program;
  const std::string main_name = other.files.empty() ? "" : other.files[0].name;
  if (!other.files.empty() && !a.program.files.empty()) other.files[0].name = a.program.files[0].name;
  KF_TRY_VOID(restore(other, work.path() / "b"));
  KF_TRY(Finished done,
         run_command({.argv = {"diff", "-ruN", "a", "b"}, .cwd = work.path(), .output_limit = 8 << 20}));
  if (done.signal != 0 || done.exit_code > 1) return fail("the program diff failed: {}", done.err);
  // Times of files that were made a moment ago say nothing.
  std::string text;
  for (std::string_view line : lines_of(done.out)) {
    if (line.starts_with("diff -ruN")) continue;
    const bool head = line.starts_with("--- ") || line.starts_with("+++ ");
    const std::string_view shown = head ? line.substr(0, line.find('\t')) : line;
    const bool renamed = head && !other.files.empty() && shown == "+++ b/" + other.files[0].name;
    text += (renamed ? "+++ b/" + main_name : std::string(shown)) + "\n";
  }
  return text;
}

Candidate candidate_of(const StoredCandidate& stored) { return {stored.files, stored.origin}; }

// Why their times would not be of the same thing, or not to be trusted.
std::string untimed(const NamedProgram& first, const NamedProgram& second) {
  for (const NamedProgram* one : {&first, &second})
    if (!one->report) return fmt::format("there is no stored result of {}", one->name);
  const EvalReport &a = *first.report, &b = *second.report;
  if (a.task_hash != b.task_hash)
    return fmt::format("they are for different tasks, {} and {}", a.task, b.task);
  if (a.platform != b.platform)
    return fmt::format("they are for different platforms, {} and {}", a.platform, b.platform);
  if (a.shape_set != b.shape_set || a.set != b.set) return "they were judged on different shapes";
  for (const EvalReport* report : {&a, &b})
    if (!report->passed())
      return fmt::format("{} is not verified: its outcome was {}", report->result_id,
                         name_of(report->outcome));
  return "";
}

Result<void> time_both(ProgramComparison& comparison, const CompareRequest& request, Progress& progress) {
  const EvalReport& stored = *comparison.a.report;
  JudgeOptions options = judge_options_of(stored);
  options.baselines = {"none"};
  options.store = false;
  KF_TRY(auto workspace, Workspace::open(options, progress));
  if (workspace->setup().task.content_hash != stored.task_hash) {
    comparison.not_timed = fmt::format("the task {} has changed since", stored.task);
    return {};
  }
  if (workspace->setup().modelled()) {
    comparison.not_timed = "programs for this platform are ranked by a model, not timed";
    return {};
  }
  Candidate other = candidate_of(comparison.b.program);
  JudgeRequest judging;
  judging.incumbents = {&other};
  judging.seconds = request.seconds;
  judging.hopeless = 0;
  KF_TRY(Judgement judgement, judge(*workspace, candidate_of(comparison.a.program), judging));
  if (const Failure* failure = judgement.failure()) {
    comparison.not_timed =
        fmt::format("{} does not pass any more: {}", comparison.a.name, reason_text(*failure));
    return {};
  }
  std::vector<Interval> over = judgement.over_incumbents();
  const CaseJudgement& first = judgement.cases.front();
  if (over.empty() || !first.times) {
    comparison.not_timed = fmt::format("{} could not be timed", comparison.b.name);
    return {};
  }
  comparison.a_ns = first.times->ns;
  comparison.b_ns = first.incumbents.front().ns;
  comparison.ratio = over.front();
  return {};
}

}  // namespace

Result<ProgramComparison> compare_results(const CompareRequest& request, Progress& progress) {
  KF_TRY(Store store, Store::open());
  KF_TRY(auto records, RunRecords::open());
  ProgramComparison comparison;
  KF_TRY(comparison.a, named_program(store, *records, request.a));
  KF_TRY(comparison.b, named_program(store, *records, request.b));
  comparison.same_program = comparison.a.program.hash == comparison.b.program.hash;
  if (!comparison.same_program) {
    KF_TRY(comparison.diff, source_difference(comparison.a, comparison.b));
  }
  comparison.not_timed = request.timed ? untimed(comparison.a, comparison.b) : "it was not asked for";
  if (comparison.not_timed.empty()) KF_TRY_VOID(time_both(comparison, request, progress));
  return comparison;
}

}  // namespace kforge
