// What is known before the first attempt.
#include <algorithm>

#include "baseline/operator_times.h"
#include "forge/idle_options.h"
#include "forge/run_state.h"
#include "judge/program.h"
#include "task/inputs.h"

namespace kforge {
namespace {

constexpr std::size_t kOperatorCacheBytes = 16 << 20;

// For the prompts: where the baseline that works operator by operator spends its time.
Result<void> time_operators(ForgeState& s) {
  bool present = std::ranges::any_of(s.measured.baselines, [](const auto& b) { return b.name == "onednn"; });
  if (!present || !s.agents.any(&GeneratorTraits::prompted) || s.options.without.contains("operators"))
    return {};
  s.view().stage("timing operators");
  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "cache" / "operators", kOperatorCacheBytes);
  KF_TRY(TempDir work, TempDir::create(0755));
  KF_TRY(auto times,
         operator_times(s.workspace->setup().bound(0), s.workspace->setup().machine,
                        s.workspace->setup().threads, s.options.session.cold, work.path(), cache));
  if (times.size() < 2) return {};  // one operator alone is the baseline
  for (const OperatorTime& time : times)
    s.measured.operators.push_back({fmt::format("{} ({})", time.op, time.node), time.ns});
  return {};
}

// Peaks and compiler line, where the records do not have them: what is measured anew later on is not told.
Result<void> describe_machine_once(ForgeState& s) {
  if (!s.measured.peaks && s.timed()) {
    KF_TRY(const Peaks* peaks, s.workspace->peaks());
    s.measured.peaks = *peaks;
  }
  if (!s.measured.compiler_line.empty()) return {};
  if (auto planned = planned_build(s.workspace->setup()); planned && *planned) {
    s.measured.compiler_line = (*planned)->command;
    s.measured.flag_set = (*planned)->march;
  }
  return {};
}

// Who is told what to beat, or stops at a factor over it, needs all of them. Programs that are raced against
// each other are told nothing: the baselines that take seconds to start are timed with the result.
BaselineScope baselines_to_beat(const ForgeState& s) {
  const bool unused = s.agents.every(&GeneratorTraits::raced) && !s.options.target;
  return unused && s.options.session.baselines.empty() ? BaselineScope::kQuickToStart : BaselineScope::kAll;
}

// A resumed run goes by what the first process measured.
Result<void> measure(ForgeState& s) {
  KF_TRY(auto recorded, s.records->setting(s.record.id));
  if (recorded) {
    s.measured = std::move(*recorded);
    if (!s.measured.baselines.empty()) s.workspace->set_fastest(0, s.measured.baselines.front().name);
    return describe_machine_once(s);
  }
  KF_TRY_VOID(describe_machine_once(s));
  if (s.timed()) {
    KF_TRY(auto measured, measure_baselines(*s.workspace, 0, baselines_to_beat(s)));
    for (const MeasuredBaseline& baseline : measured)
      s.measured.baselines.push_back({baseline.name, baseline.ns.value, baseline.ns});
    KF_TRY_VOID(time_operators(s));
  }
  s.measured.notes = idle_options(s.options, s.agents, *s.strategy);
  return s.records->save_setting(s.record.id, s.measured);
}

// The expected values on every kind of input, so that the first candidate does not pay for them.
Result<void> compute_expected_values(ForgeState& s) {
  for (std::size_t i = 0; i < s.workspace->setup().cases.size(); ++i) {
    KF_TRY(JudgeContext judge, s.workspace->context(s.workspace->setup().bound(i)));
    for (InputKind kind : kAllInputKinds) {
      s.view().stage(fmt::format("computing expected values on {} inputs", name_of(kind)));
      KF_TRY([[maybe_unused]] ExpectedValues expected, judge.expected(kind));
    }
  }
  return {};
}

void fill_context(ForgeState& s) {
  AgentSetting& context = s.context;
  context.task = &s.workspace->setup().bound(0);
  context.platform = &s.workspace->setup().platform;
  context.machine = &s.workspace->setup().machine;
  const Peaks* peaks = context.peaks = s.measured.peaks ? &*s.measured.peaks : nullptr;
  const auto& device = s.workspace->setup().device.facts;
  context.device = device ? &*device : nullptr;
  context.threads = s.workspace->setup().threads;
  context.precision = s.workspace->setup().policy.name;
  context.tolerance = s.workspace->setup().policy.tolerance;
  context.precision_words = s.workspace->setup().policy.what;
  context.cold = s.options.session.cold;
  context.allow_libraries = s.options.session.allow_libraries;
  context.deterministic = s.options.session.deterministic;
  context.baselines = s.measured.baselines;
  context.operator_times = s.measured.operators;
  context.operator_times_of = "onednn";
  context.compiler_line = s.measured.compiler_line;
  context.flag_set = s.measured.flag_set;
  context.without = s.options.without;
  if (!peaks) return;
  RooflinePosition position =
      roofline_position(*context.task, s.workspace->setup().machine, *peaks, 1, s.options.session.cold);
  context.roofline_bound = position.bound;
  context.roofline_ns = position.bound_ns;
}

// Programs that are raced share one best program, kept alive.
Result<void> open_races(ForgeState& s) {
  bool any = !s.measured.baselines.empty();
  s.races.emplace(*s.workspace, any ? s.measured.baselines.front().ns : 0,
                  any ? s.measured.baselines.front().name : "");
  for (const auto& generator : s.agents.generators) {
    std::string family = generator->family();
    if (family.empty()) continue;
    KF_TRY(auto winner,
           s.records->winner(family, s.record.platform, s.workspace->setup().device.id, s.record.precision));
    if (winner) generator->start_from(winner->schedule);
  }
  return {};
}

}  // namespace

Result<void> prepare(ForgeState& s) {
  auto start = ForgeState::Clock::now();
  s.strategy_settings.seed = s.record.seed;
  const bool timed = s.timed();
  KF_TRY_VOID(measure(s));
  if (!s.options.check_only) KF_TRY_VOID(compute_expected_values(s));  // else inputs are drawn later
  fill_context(s);
  if (timed && s.agents.every(&GeneratorTraits::raced)) KF_TRY_VOID(open_races(s));
  s.seconds["prepare"] = seconds_since(start);
  const StoredRun& record = s.record;
  s.view().line(
      fmt::format("run {}  {}  {}  {}", record.id, record.task, record.shape_set, record.precision));
  for (const NamedTime& baseline : s.measured.baselines)
    s.view().line(fmt::format("  to beat: {} {}", baseline.name, readable_time(baseline.ns)));
  if (timed)
    s.view().line(
        fmt::format("  {} bound: {}", s.context.roofline_bound, readable_time(s.context.roofline_ns)));
  for (const std::string& note : s.measured.notes) s.view().line("  note: " + note);
  return {};
}

}  // namespace kforge
