#include "judge/evaluate.h"

#include "generate/tunables.h"
#include "judge/report_of.h"
#include "judge/save.h"

namespace kforge {
namespace {

// Somebody who wrote a tune line may think that its values were tried.
std::optional<std::string> tunables_note(const Program& program) {
  if (!program || !has_tunables(*program)) return std::nullopt;
  const auto tunables = tunables_of(*program);
  if (!tunables) return std::nullopt;
  std::string names;
  for (const Tunable& tunable : tunables->list) names += (names.empty() ? "" : ", ") + tunable.name;
  return fmt::format(
      "{}: the kernel's own values were taken, no others of its tune line tried; `kforge forge --from` "
      "searches",
      names);
}

}  // namespace

Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress) {
  KF_TRY(auto workspace, Workspace::open(options, progress));
  KF_TRY(Program program, read_candidate(options.kernel, workspace->setup().platform));
  JudgeRequest request;
  request.check_only = options.check_only;
  // What a program prints, how it fails and how long it takes may tell of its inputs: none comes again.
  request.fresh_inputs = true;
  request.rounds = options.rounds;
  request.seconds = options.seconds;
  KF_TRY(Judgement judgement, judge(*workspace, program, request));
  judgement.seconds["open"] = workspace->open_seconds();
  judgement.seconds["total"] += workspace->open_seconds();
  EvalReport report = report_of(workspace->setup(), program, request, judgement);
  report.kernel_path = options.kernel.string();
  if (auto said = tunables_note(program)) report.notes.push_back(*said);
  // The verdict is worth more than its record: a full disk must not take it away.
  if (auto saved = save(*workspace, program, judgement, report))
    report.result_id = *saved;
  else
    report.notes.push_back("NOT SAVED: " + saved.error().text());
  progress.finish();
  return report;
}

}  // namespace kforge
