// The loop. run() is a whole run; forge_candidate() is one candidate, by the method of the paper.
#include "forge/forge.h"
#include "base/random_seed.h"

#include <algorithm>

#include "forge/agent_caller.h"
#include "forge/given_program.h"
#include "forge/lanes.h"
#include "forge/option_fields.h"
#include "forge/run_folder.h"
#include "forge/run_state.h"
#include "forge/telling_view.h"
#include "judge/tune.h"
#include "profile/profile_candidate.h"
#include "search/plan_of.h"

namespace kforge {
namespace {

constexpr double kDefaultSeconds = 30;  // of generators that cost nothing, when no budget is given
constexpr int kDefaultAttempts = 10;    // of those that do

class Forge {
 public:
  Forge(const ForgeOptions& options, const ForgeHost& host) : telling_(*host.view) {
    s_.options = options;
    s_.host = &host;
    s_.told = &telling_;
  }

  Result<RunReport> begin();
  Result<RunReport> go_on(const StoredRun& run);

 private:
  Result<RunReport> run();
  Result<void> forge_batch(std::vector<Attempt> batch);
  Result<void> forge_candidate(Attempt& attempt, const History& all, Lane& lane);

  Result<void> open();
  Result<void> open_agents_and_attempts();
  Result<void> read_reference();
  Result<std::vector<Attempt>> next_batch();
  Result<void> profile_and_advise(Attempt& attempt, Plan& plan, Lane& lane);
  Result<void> write(Attempt& attempt, const Plan& plan, Lane& lane);
  Result<void> judge(Attempt& attempt);

  TellingView telling_;
  ForgeState s_;
  std::optional<FileLock> lock_;  // nobody else works on this run
  std::optional<AgentCaller> caller_;
  std::vector<Attempt> under_way_;  // from --from, or from the process that was killed
};

// --- the table of contents --------------------------------------------------------------------------------

Result<RunReport> Forge::run() {
  KF_TRY(fs::path home, kforge_home());
  telling_.announce(home, s_.record.id);
  KF_TRY_VOID(prepare(s_));
  if (s_.host->prepared) s_.host->prepared();
  // They are needed when the search ends, and start while its programs are compiled.
  for (std::size_t i = 0; s_.races && i < s_.workspace->setup().cases.size(); ++i)
    KF_TRY_VOID(s_.workspace->start_baselines(i));
  s_.searching = true;
  s_.workspace->stop_on(s_.host->stop);
  s_.last_judged = ForgeState::Clock::now();
  telling_.search_clock(s_.clock());
  std::optional<double> left;
  if (s_.options.budget.seconds) left = *s_.options.budget.seconds - s_.clock();
  s_.waits.emplace(s_.host->stop, left);
  caller_.emplace(s_.agents, *s_.attempts, s_.context, s_.view(), s_.waits->token());
  if (!under_way_.empty()) KF_TRY_VOID(forge_batch(std::exchange(under_way_, {})));
  for (;;) {
    KF_TRY(s_.record.ended, reason_to_stop(s_));
    if (s_.record.ended) break;
    KF_TRY(auto batch, next_batch());
    KF_TRY_VOID(forge_batch(std::move(batch)));
  }
  s_.searching = false;
  telling_.search_clock(std::nullopt);
  s_.workspace->stop_on({});  // the best so far is confirmed also after an interrupt
  s_.races.reset();
  KF_TRY_VOID(confirm(s_));
  return finish(s_);
}

// Plan, profile and advise, write, judge, decide, save. What is missing at a return was stopped or has
// failed: a later run goes on there.
Result<void> Forge::forge_candidate(Attempt& attempt, const History& all, Lane& lane) {
  const History history = all.up_to(attempt.proposal.known);
  if (!attempt.generation) {
    Plan plan = plan_of(history, attempt.proposal, attempt.number);
    KF_TRY_VOID(profile_and_advise(attempt, plan, lane));
    KF_TRY_VOID(write(attempt, plan, lane));
  }
  if (!attempt.generation || attempt.generation->status == ReplyStatus::kExhausted) return {};
  return lane.in_turn([&]() -> Result<void> {
    const History& now = s_.attempts->history();
    const Attempt *best = now.best(), *rival = now.find(attempt.proposal.rival);
    auto judged = judge(attempt);
    if (s_.stopped()) return {};  // what a signal cut short is no verdict
    if (!judged) return judged;
    attempt.decision = decide(*attempt.judgement, best, rival);
    KF_TRY_VOID(s_.attempts->save_judgement(attempt));
    s_.last_judged = ForgeState::Clock::now();
    TerminalStyle style = terminal_style();
    s_.view().line(attempt_line(attempt, Paint(style.colour), static_cast<std::size_t>(style.width)));
    return {};
  });
}

// Models write while others are judged.
Result<void> Forge::forge_batch(std::vector<Attempt> batch) {
  const History history = s_.attempts->history();
  std::vector<LaneWork> work;
  for (Attempt& attempt : batch)
    work.push_back([&](Lane& lane) { return forge_candidate(attempt, history, lane); });
  KF_TRY_VOID(run_lanes(work, !s_.agents.every(&GeneratorTraits::local)));
  s_.exhausted = std::ranges::all_of(batch, [](const Attempt& attempt) {
    return attempt.generation && attempt.generation->status == ReplyStatus::kExhausted;
  });
  return {};
}

// --- the steps
// ----------------------------------------------------------------------------------------------

Result<std::vector<Attempt>> Forge::next_batch() {
  const History& history = s_.attempts->history();
  std::vector<Proposal> proposals = s_.strategy->propose(history, s_.strategy_settings);
  if (s_.options.budget.attempts) {
    KF_TRY(Spent so_far, spent(s_));
    auto left = static_cast<std::size_t>(std::max(1, *s_.options.budget.attempts - so_far.attempts));
    if (proposals.size() > left) proposals.resize(left);
  }
  number_siblings(proposals);
  std::vector<Attempt> batch;
  for (Proposal& proposal : proposals) {
    proposal.known = history.attempts.empty() ? -1 : history.attempts.back().number;
    proposal.generator = caller_->working(proposal.generator).value_or(proposal.generator);
    // A race has one incumbent, whatever its challenger was made from.
    if (const Attempt* best = s_.races ? history.best() : nullptr) proposal.rival = best->number;
    KF_TRY(Attempt attempt, s_.attempts->plan(proposal));
    batch.push_back(std::move(attempt));
  }
  return batch;
}

Result<void> Forge::profile_and_advise(Attempt& attempt, Plan& plan, Lane& lane) {
  plan.reference = s_.measured.reference;
  plan.reference_platform = s_.measured.reference_platform;
  plan.advice = attempt.advice;
  if (attempt.proposal.pass != Pass::kOptimization || !plan.last) return {};
  auto wanted = [&](const char* block) { return !s_.options.without.contains(block); };
  const bool told = s_.agents.any(&GeneratorTraits::prompted) && (wanted("profile") || wanted("assembly"));
  if (!told && (!wanted("advice") || attempt.advice)) return {};
  Profile profile;
  KF_TRY_VOID(lane.alone([&]() -> Result<void> {
    KF_TRY(profile, profile_of(s_, attempt.proposal.parent));
    return {};
  }));
  plan.profile = profile_summary(profile);
  plan.hot_loop = hot_loop_of(profile);
  if (!wanted("advice") || attempt.advice) return {};
  return caller_->advise(attempt, plan, profile);
}

Result<void> Forge::write(Attempt& attempt, const Plan& plan, Lane& lane) {
  if (s_.waits->over()) return {};
  auto ask = [&] { return caller_->write(attempt, plan); };
  auto who = static_cast<std::size_t>(attempt.proposal.generator);
  auto written = s_.agents.generators[who]->traits().local ? lane.alone(ask) : ask();
  if (written || !s_.agents.any(&GeneratorTraits::paid)) return written;
  // Services come back: the run ends with the best so far, and can go on.
  return lane.in_turn([&]() -> Result<void> {
    s_.service_error = written.error();
    return {};
  });
}

Result<void> Forge::judge(Attempt& attempt) {
  const History& history = s_.attempts->history();
  const Attempt *best = history.best(), *rival = history.find(attempt.proposal.rival);
  std::expected<Candidate, Failure> program = attempt.generation->program;
  AttemptJudgement judged;
  Tuning tuning;
  if (s_.races) {
    KF_TRY(judged, s_.races->judge(program, best));
  } else {
    if (program && has_tunables(*program) && !s_.options.check_only) {
      double left = s_.options.budget.seconds ? *s_.options.budget.seconds - s_.clock() : 60;
      KF_TRY(tuning, tune(*s_.workspace, *s_.records, *program, std::clamp(left / 2, 2.0, 30.0)));
      if (tuning.failure) program = std::unexpected(*tuning.failure);
      if (tuning.best) program = *tuning.best;
    }
    JudgeSettings settings{s_.options.timing_seconds, s_.options.timing_rounds, s_.options.check_only, {}};
    if (program && settings.check_only) {
      KF_TRY(const fs::path folder, run_folder(s_.options.out, s_.workspace->setup().task, s_.record.id));
      settings.kernel_path = (folder / kernel_file(*program)).string();
    }
    KF_TRY(judged, judge_fully(*s_.workspace, program, best, rival, settings));
  }
  attempt.judgement = std::move(judged);
  attempt.judgement->tuning = tuning.table;
  attempt.judgement->tuned = tuning.best;
  attempt.judgement->clock = s_.clock();
  return {};
}

// --- opening a run
// --------------------------------------------------------------------------------------------

Result<void> Forge::open() {
  KF_TRY_VOID(check_blocks(s_.options.without));
  KF_TRY(s_.strategy, find_strategy(s_.options.strategy));
  KF_TRY(s_.workspace, Workspace::open(s_.options.session, s_.view()));
  if (s_.options.target && !s_.timed())
    return fail_with_remedy(
        "leave --target out",
        s_.options.check_only
            ? "--check times nothing: there is no speedup to reach"
            : fmt::format("programs for {} are not timed here: there is no speedup to reach",
                          s_.workspace->setup().platform.name));
  KF_TRY(s_.records, RunRecords::open());
  return {};
}

Result<void> Forge::open_agents_and_attempts() {
  KF_TRY(s_.agents, open_agents(s_.options, *s_.host, *s_.records, s_.record.id, *s_.workspace));
  s_.attempts = std::make_unique<Attempts>(*s_.records, s_.record.id);
  StrategySettings& settings = s_.strategy_settings;
  settings.generators = static_cast<int>(s_.options.generators.size());
  settings.width = s_.options.width > 0             ? s_.options.width
                   : s_.strategy->default_width > 0 ? s_.strategy->default_width
                                                    : settings.generators;
  settings.repairs = s_.agents.any(&GeneratorTraits::repairs) ? s_.options.repairs : 0;
  return {};
}

Result<void> Forge::read_reference() {
  KF_TRY(auto reference, find_reference(s_.options.reference, *s_.records, *s_.workspace));
  if (!reference) return {};
  s_.measured.reference = std::move(reference->program);
  s_.measured.reference_platform = std::move(reference->platform);
  return {};
}

Result<RunReport> Forge::begin() {
  KF_TRY_VOID(open());
  KF_TRY_VOID(read_reference());
  StoredRun& record = s_.record;
  record.id = new_result_id();
  record.seed = s_.options.seed != 0 ? static_cast<std::uint64_t>(s_.options.seed) : random_seed();
  KF_TRY(lock_, s_.records->hold(record.id));
  KF_TRY_VOID(open_agents_and_attempts());
  // A budget that the user did not give.
  Budget& budget = s_.options.budget;
  if (!budget.attempts && !budget.seconds && !budget.tokens && !budget.dollars) {
    if (s_.agents.any(&GeneratorTraits::paid))
      budget.attempts = kDefaultAttempts;
    else
      budget.seconds = kDefaultSeconds;
  }
  const JudgeSetup& setup = s_.workspace->setup();
  KF_TRY(s_.options.out,
         run_folder(s_.options.out, setup.task, record.id));  // also from another folder later
  KF_TRY_VOID(check_run_folder(s_.options.out, setup.platform));
  std::optional<Candidate> given;
  if (!s_.options.from.empty()) {
    KF_TRY(given, read_given(s_.options.from, *s_.records, s_.workspace->setup().platform));
  }
  const Task& task = s_.workspace->setup().task;
  record.created_at = utc_now();
  record.task = task.suite.empty() ? task.name : task.suite + "/" + task.name;
  if (task.suite.empty()) s_.options.session.task = task.path;
  s_.options.session.platform = s_.workspace->setup().platform_spec();
  record.task_hash = task.content_hash;
  record.shape_set = s_.options.session.shape_set;
  record.platform = s_.workspace->setup().platform.name;
  record.precision = s_.options.session.precision;
  for (const auto& generator : s_.agents.generators)
    record.generator += (record.generator.empty() ? "" : ",") + generator->name();
  record.analyst = s_.agents.analysts.front()->name();
  record.strategy = s_.options.strategy;
  record.options = to_options(s_.options);
  KF_TRY_VOID(s_.records->begin(record));
  if (given) {
    KF_TRY(Attempt attempt, s_.attempts->plan_given(*given));
    under_way_.push_back(std::move(attempt));
  }
  return run();
}

Result<RunReport> Forge::go_on(const StoredRun& stored) {
  KF_TRY_VOID(open());
  s_.record = stored;
  if (s_.workspace->setup().task.content_hash != s_.record.task_hash)
    return fail_with_remedy("start a new run", fmt::format("the task {} has changed since run {} began",
                                                           s_.record.task, s_.record.id));
  KF_TRY_VOID(open_agents_and_attempts());
  KF_TRY(auto recorded, s_.records->setting(s_.record.id));
  if (!recorded) KF_TRY_VOID(read_reference());
  KF_TRY(under_way_, s_.attempts->restore());
  for (const auto& generator : s_.agents.generators) {
    for (const Attempt& attempt : s_.attempts->history().attempts) generator->recall(attempt);
    for (const Attempt& attempt : under_way_) generator->recall(attempt);
  }
  // Why it ended the last time is no longer how it stands: killed from here on, it is dead and not stopped.
  s_.record.ended.reset();
  KF_TRY_VOID(s_.records->finish(s_.record));
  return run();
}

}  // namespace

Result<RunReport> forge(const ForgeOptions& options, const ForgeHost& host) {
  return Forge(options, host).begin();
}

Result<RunReport> resume(std::string_view id, const ForgeHost& host) {
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(StoredRun run, records->run(id));
  if (run.state == RunState::kFinished) return report_of(*records, run.id);
  KF_TRY(FileLock alone, records->hold(run.id));
  KF_TRY(run, records->run(run.id));  // whoever held it may have gone on
  KF_TRY(ForgeOptions options, options_from(run.options));
  return Forge(options, host).go_on(run);
}

}  // namespace kforge
