// The confirmation of a run's winner.
#include <algorithm>

#include "forge/run_folder.h"
#include "forge/run_state.h"
#include "judge/save.h"

namespace kforge {
namespace {

constexpr double kConfirmSeconds = 6;
constexpr double kShortConfirmSeconds = 2;    // after a short search: who wants it soon gets a wider interval
constexpr double kHurriedConfirmSeconds = 1;  // somebody waits for the end

// For the timing rounds, which end sooner where the interval is narrow.
double confirm_seconds(const ForgeState& s) {
  if (s.stopped()) return kHurriedConfirmSeconds;
  const double search = s.options.budget.seconds.value_or(kConfirmSeconds);
  return std::clamp(search / 3, kShortConfirmSeconds, kConfirmSeconds);
}

// What won is the first guess for this family of problems next time.
Result<void> remember_winner(ForgeState& s, const Attempt& winner, double time_ns) {
  if (winner.generation->schedule.empty()) return {};
  for (const auto& generator : s.agents.generators)
    if (std::string family = generator->family(); !family.empty())
      KF_TRY_VOID(s.records->save_winner(family, s.record.platform, s.workspace->setup().device.id,
                                         s.record.precision,
                                         {winner.generation->schedule, s.record.id, time_ns}));
  return {};
}

// Of --check: the program was judged on fresh inputs, and chosen from no others.
Result<void> take_first(ForgeState& s) {
  const Attempt* best = s.attempts->history().best();
  if (!best) return {};
  s.record.best = best->number;
  s.record.result = best->judgement->result;
  KF_TRY(const fs::path folder, run_folder(s.options.out, s.workspace->setup().task, s.record.id));
  s.record.folder = folder.string();
  return {};
}

}  // namespace

Result<void> confirm(ForgeState& s) {
  auto start = ForgeState::Clock::now();
  if (s.options.check_only) return take_first(s);
  while (const Attempt* best = s.attempts->history().best()) {
    s.view().stage("confirming");
    JudgeRequest request;
    request.fresh_inputs = true;
    request.baseline_threads_anew = true;
    request.passed_before = true;
    request.seconds = confirm_seconds(s);
    request.rounds = s.options.timing_rounds;
    KF_TRY(fs::path folder, run_folder(s.options.out, s.workspace->setup().task, s.record.id));
    std::string kernel_path = (folder / kernel_file(*best->program())).string();
    std::expected<Candidate, Failure> program = *best->program();
    KF_TRY(Judged judged, judge_and_save(*s.workspace, program, request, kernel_path));
    const EvalReport& report = judged.report;
    if (!report.passed()) {
      s.view().line(
          fmt::format("  attempt {} did not stand the confirmation: {}", best->number, report.reason));
      KF_TRY_VOID(s.attempts->overturn(best->number, report.gate, report.reason));
      continue;
    }
    s.record.best = best->number;
    s.record.result = report.result_id;
    s.record.folder = folder.string();
    if (report.speedup) {
      s.record.speedup = report.speedup->value;
      s.record.against = report.speedup->against;
    }
    if (report.time_ns) KF_TRY_VOID(remember_winner(s, *best, report.time_ns->value));
    break;
  }
  s.seconds["confirm"] = seconds_since(start);
  return {};
}

}  // namespace kforge
