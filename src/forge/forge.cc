// The loop: run() and forge_candidate() are the table of contents.
#include "forge/forge.h"

#include <algorithm>
#include <chrono>

#include "baseline/operator_times.h"
#include "forge/agent_talk.h"
#include "forge/agents.h"
#include "forge/attempts.h"
#include "forge/given_program.h"
#include "forge/judge_attempt.h"
#include "forge/remembering_model.h"
#include "forge/run_folder.h"
#include "judge/program.h"
#include "judge/save.h"
#include "judge/tune.h"
#include "profile/profile_candidate.h"
#include "search/strategy.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNearRoofline = 0.95;
constexpr int kModelPatience = 8, kSmithPatience = 60;
constexpr double kDefaultSeconds = 30;  // of the built-in agents, when no budget is given
constexpr int kDefaultAttempts = 10;    // of models
constexpr double kConfirmSeconds = 6;
constexpr double kHurriedConfirmSeconds = 1;  // somebody waits for the end
constexpr double kLongRace = 120;
constexpr std::size_t kOperatorCacheBytes = 16 << 20;
constexpr int kSetting = -1;  // the "attempt" under which the setting is recorded

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Forge {
 public:
  Forge(const ForgeOptions& options, const ForgeHost& host)
      : options_(options), host_(host), view_(*host.view) {}

  Result<RunReport> begin();
  Result<RunReport> go_on(const StoredRun& run);

 private:
  Result<void> open();
  void open_talk(const std::optional<Reference>& reference);
  Result<RunReport> run();
  Result<void> prepare();
  Result<void> time_operators();
  Result<void> judge_given();
  Result<void> forge_batch(std::vector<PendingAttempt> batch);
  Result<void> forge_candidate(Job& job);
  Result<std::vector<PendingAttempt>> next_batch();
  Result<std::shared_ptr<const Profile>> profile_of(int number);
  Result<JudgedAttempt> judge(const PendingAttempt& attempt);
  Result<std::optional<std::string>> reason_to_stop();
  Result<Spent> spent();
  Result<void> confirm();
  Result<RunReport> finish();

  double clock() const { return attempts_->clock() + (searching_ ? seconds_since(last_judged_) : 0); }
  bool stopped() const { return host_.stop.stop_requested(); }
  void say(const PendingAttempt& attempt, const VerdictRecord& verdict);

  ForgeOptions options_;
  const ForgeHost& host_;
  RunView& view_;
  StoredRun record_;
  std::unique_ptr<Workspace> session_;
  std::unique_ptr<RunRecords> records_;
  std::unique_ptr<Attempts> attempts_;
  Agents agents_;
  std::optional<AgentTalk> talk_;
  const StrategyEntry* strategy_ = nullptr;
  StrategySettings strategy_settings_;
  GenerationContext context_;
  SettingRecord setting_;
  std::optional<Races> races_;
  std::vector<PendingAttempt> pending_;
  std::optional<Build> last_build_;
  bool searching_ = false;
  bool exhausted_ = false;  // the built-in generator has nothing more to try
  std::optional<Error> service_error_;
  Clock::time_point last_judged_ = Clock::now();
  std::map<std::string, double> seconds_;
};

// --- the table of contents
// -------------------------------------------------------------------------------------

Result<RunReport> Forge::run() {
  KF_TRY_VOID(prepare());
  searching_ = true;
  session_->stop_on(host_.stop);
  last_judged_ = Clock::now();
  KF_TRY_VOID(judge_given());
  for (;;) {
    KF_TRY(auto reason, reason_to_stop());
    if (reason) {
      record_.ended = *reason;
      break;
    }
    KF_TRY(auto batch, next_batch());
    KF_TRY_VOID(forge_batch(std::move(batch)));
  }
  searching_ = false;
  session_->stop_on({});  // the best so far is confirmed also after an interrupt
  races_.reset();
  KF_TRY_VOID(confirm());
  return finish();
}

// One candidate from its plan to the decision. Its agents (advice, program) were asked beside the judging of
// others.
Result<void> Forge::forge_candidate(Job& job) {
  PendingAttempt& attempt = job.attempt;
  if (job.agents.valid()) {
    view_.stage(fmt::format("attempt {}: {} is writing", attempt.number, job.writer));
    if (auto asked = job.agents.get(); !asked) {
      if (agents_.all_builtin) return asked;
      service_error_ = asked.error();
    }
  }
  if (!attempt.generation) return {};  // stopped, or the service failed: a later run goes on here
  exhausted_ = attempt.generation->extraction == "exhausted";
  if (exhausted_) return {};
  auto judged = judge(attempt);
  if (stopped()) return {};  // what a signal cut short is no verdict
  if (!judged) return std::unexpected(judged.error());
  KF_TRY_VOID(attempts_->save_verdict(attempt, judged->program, judged->verdict, judged->result, clock()));
  last_judged_ = Clock::now();
  if (judged->build) last_build_ = judged->build;
  say(attempt, judged->verdict);
  return {};
}

// --- the steps
// --------------------------------------------------------------------------------------------------

Result<void> Forge::open() {
  KF_TRY_VOID(check_blocks(options_.without));
  KF_TRY(strategy_, find_strategy(options_.strategy));
  KF_TRY(session_, Workspace::open(options_.session, view_));
  if (options_.target && session_->setup().modelled())
    return fail_with_remedy("leave --target out",
                            fmt::format("programs for {} are ranked by a model: there is no speedup to reach",
                                        session_->setup().platform.name));
  KF_TRY(records_, RunRecords::open());
  strategy_settings_.generators = static_cast<int>(options_.generators.size());
  strategy_settings_.width = options_.width > 0             ? options_.width
                             : strategy_->default_width > 0 ? strategy_->default_width
                                                            : strategy_settings_.generators;
  strategy_settings_.repairs = options_.repairs;
  return {};
}

Result<RunReport> Forge::begin() {
  KF_TRY_VOID(open());
  record_.id = new_result_id();
  record_.seed = random_seed();
  KF_TRY(agents_, open_agents(options_, host_, *records_, record_.id, *session_));
  // A budget that the user did not give.
  Budget& budget = options_.budget;
  if (!budget.attempts && !budget.seconds && !budget.tokens && !budget.dollars) {
    if (agents_.all_builtin) {
      budget.seconds = kDefaultSeconds;
    } else {
      budget.attempts = kDefaultAttempts;
    }
  }
  KF_TRY(auto reference, find_reference(options_.reference, *records_, *session_));
  std::optional<Candidate> given;
  if (!options_.from.empty()) {
    KF_TRY(given, read_given(options_.from, *records_, session_->setup().platform));
  }
  const Task& task = session_->setup().task;
  record_.created_at = utc_now();
  record_.task = task.suite.empty() ? task.name : task.suite + "/" + task.name;
  if (task.suite.empty()) options_.session.task = task.path;
  record_.task_hash = task.content_hash;
  record_.shape_set = options_.session.shape_set;
  record_.platform = session_->setup().platform.name;
  record_.precision = options_.session.precision;
  for (const auto& generator : agents_.generators)
    record_.generator += (record_.generator.empty() ? "" : ",") + generator->name();
  record_.analyst = agents_.analysts.front()->name();
  record_.strategy = options_.strategy;
  record_.options = to_document(options_);
  KF_TRY_VOID(records_->begin(record_));
  open_talk(reference);
  if (given) {
    KF_TRY(PendingAttempt attempt, attempts_->plan_given(*given));
    pending_.push_back(std::move(attempt));
  }
  return run();
}

Result<RunReport> Forge::go_on(const StoredRun& stored) {
  KF_TRY_VOID(open());
  record_ = stored;
  if (session_->setup().task.content_hash != record_.task_hash)
    return fail_with_remedy("start a new run", fmt::format("the task {} has changed since run {} began",
                                                           record_.task, record_.id));
  KF_TRY(agents_, open_agents(options_, host_, *records_, record_.id, *session_));
  KF_TRY(auto reference, find_reference(options_.reference, *records_, *session_));
  open_talk(reference);
  KF_TRY(pending_, attempts_->restore());
  if (agents_.smith) {
    for (const Trial& trial : attempts_->history().trials)
      if (auto generation = attempts_->generation(trial.attempt.number);
          generation && !generation->schedule.empty())
        agents_.smith->remember(trial.attempt.number, generation->schedule);
    for (const PendingAttempt& attempt : pending_)
      if (attempt.generation && !attempt.generation->schedule.empty())
        agents_.smith->remember(attempt.number, attempt.generation->schedule);
  }
  return run();
}

void Forge::open_talk(const std::optional<Reference>& reference) {
  attempts_ = std::make_unique<Attempts>(*records_, record_.id);
  talk_.emplace(agents_, *attempts_, context_, view_, host_.stop);
  if (reference) talk_->set_reference(reference->program, reference->platform);
}

// What is known before the first attempt: the baselines' times and the machine's limits.
Result<void> Forge::prepare() {
  auto start = Clock::now();
  strategy_settings_.seed = record_.seed;
  const bool timed = !session_->setup().modelled();
  const Peaks* peaks = nullptr;
  if (timed) {
    KF_TRY(peaks, session_->peaks());
  }
  KF_TRY(auto recorded, records_->profile(record_.id, kSetting));
  if (recorded) {
    KF_TRY(setting_, setting_from(*recorded));
    if (!setting_.baselines.empty()) session_->set_fastest(0, setting_.baselines.front().name);
  } else if (timed) {
    KF_TRY(auto measured, measure_baselines(*session_, 0));
    for (const MeasuredBaseline& baseline : measured)
      setting_.baselines.push_back({baseline.name, baseline.ns});
    KF_TRY_VOID(time_operators());
    KF_TRY_VOID(records_->save_profile(record_.id, kSetting, to_document(setting_)));
  }
  // The truth about every kind of input, so that the first candidate does not pay for it.
  for (std::size_t i = 0; i < session_->setup().cases.size(); ++i) {
    KF_TRY(JudgeContext judge, session_->context(session_->setup().bound(i)));
    for (InputKind kind : kAllInputKinds) {
      view_.stage(fmt::format("computing the truth on {} inputs", name_of(kind)));
      KF_TRY([[maybe_unused]] ExpectedValues expected, judge.expected(kind));
    }
  }
  const BoundTask& task = session_->setup().bound(0);
  context_.task = &task;
  context_.platform = &session_->setup().platform;
  context_.machine = &session_->setup().machine;
  context_.peaks = peaks;
  context_.threads = session_->setup().threads;
  context_.precision = session_->setup().policy.name;
  context_.tolerance = session_->setup().policy.tolerance;
  context_.precision_words = session_->setup().policy.what;
  context_.cold = options_.session.cold;
  context_.allow_libraries = options_.session.allow_libraries;
  context_.deterministic = options_.session.deterministic;
  context_.baselines = setting_.baselines;
  context_.operator_times = setting_.operators;
  context_.operator_times_of = "onednn";
  if (auto planned = planned_build(session_->setup()); planned && *planned) {
    context_.compiler_line = (*planned)->command;
    context_.flag_set = (*planned)->march;
  }
  context_.without = options_.without;
  if (timed) {
    RooflinePosition position =
        roofline_position(task, session_->setup().machine, *peaks, 1, options_.session.cold);
    context_.roofline_bound = position.bound;
    context_.roofline_ns = position.bound_ns;
  }
  if (agents_.all_builtin && timed) {
    bool any = !setting_.baselines.empty();
    races_.emplace(*session_, any ? setting_.baselines.front().ns : 0,
                   any ? setting_.baselines.front().name : "");
    KF_TRY(auto winner, records_->winner(agents_.smith->family(), record_.platform,
                                         session_->setup().machine.id(), record_.precision));
    if (winner) agents_.smith->set_first_guess(winner->schedule);
  }
  seconds_["prepare"] = seconds_since(start);
  view_.line(
      fmt::format("run {}  {}  {}  {}", record_.id, record_.task, record_.shape_set, record_.precision));
  for (const NamedTime& baseline : setting_.baselines)
    view_.line(fmt::format("  to beat: {} {}", baseline.name, readable_time(baseline.ns)));
  if (timed)
    view_.line(fmt::format("  {} bound: {}", context_.roofline_bound, readable_time(context_.roofline_ns)));
  return {};
}

// For the prompts: where the baseline that works operator by operator spends its time.
Result<void> Forge::time_operators() {
  bool present = std::ranges::any_of(setting_.baselines, [](const auto& b) { return b.name == "onednn"; });
  if (!present || agents_.all_builtin || options_.without.contains("operators")) return {};
  view_.stage("timing operators");
  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "cache" / "operators", kOperatorCacheBytes);
  KF_TRY(TempDir work, TempDir::create(0755));
  KF_TRY(auto times, operator_times(session_->setup().bound(0), session_->setup().machine,
                                    session_->setup().threads, options_.session.cold, work.path(), cache));
  if (times.size() < 2) return {};  // one operator alone is the baseline
  for (const OperatorTime& time : times)
    setting_.operators.push_back({fmt::format("{} ({})", time.op, time.node), time.ns});
  return {};
}

// The user's own program, and what an earlier process left under way, come first.
Result<void> Forge::judge_given() {
  if (pending_.empty()) return {};
  return forge_batch(std::exchange(pending_, {}));
}

Result<std::vector<PendingAttempt>> Forge::next_batch() {
  std::vector<Proposal> proposals;
  const History& history = attempts_->history();
  if (agents_.all_builtin) {
    // Races have one incumbent: whatever comes next starts from it.
    const Trial* best = history.best();
    proposals.push_back(best ? improvement_of(*best) : Proposal{});
  } else {
    proposals = strategy_->propose(history, strategy_settings_);
  }
  if (options_.budget.attempts) {
    KF_TRY(Spent spent, this->spent());
    auto left = static_cast<std::size_t>(std::max(1, *options_.budget.attempts - spent.attempts));
    if (proposals.size() > left) proposals.resize(left);
  }
  std::vector<PendingAttempt> batch;
  for (Proposal& proposal : proposals) {
    proposal.generator = talk_->working(proposal.generator).value_or(proposal.generator);
    KF_TRY(PendingAttempt attempt, attempts_->plan(proposal));
    batch.push_back(std::move(attempt));
  }
  return batch;
}

Result<void> Forge::forge_batch(std::vector<PendingAttempt> batch) {
  auto history = std::make_shared<const History>(attempts_->history());
  std::vector<Job> jobs(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Job& job = jobs[i];
    job.attempt = std::move(batch[i]);
    job.history = history;
    if (job.attempt.generation) continue;
    if (job.attempt.proposal.pass == Pass::kOptimization && !job.attempt.advice &&
        !options_.without.contains("advice")) {
      KF_TRY(job.profile, profile_of(job.attempt.proposal.parent));
    }
    job.writer = talk_->name_of(job.attempt.proposal.generator);
    job.agents = std::async(std::launch::async, [this, &job] { return talk_->ask(job); });
  }
  // Judged in the order of their numbers while the later ones are still being written; only the network is
  // busy then.
  std::optional<Error> failed;
  for (Job& job : jobs) {
    if (failed) {
      if (job.agents.valid()) (void)job.agents.get();
      continue;
    }
    if (auto done = forge_candidate(job); !done) failed = done.error();
  }
  if (failed) return std::unexpected(*failed);
  // Not sooner: the agents read the context while they are asked.
  if (last_build_ && context_.compiler_line.empty()) {
    context_.compiler_line = last_build_->command;
    context_.flag_set = last_build_->march;
  }
  return {};
}

Result<std::shared_ptr<const Profile>> Forge::profile_of(int number) {
  const Trial* trial = attempts_->history().find(number);
  KF_CHECK(trial, "attempt {} to profile is not there", number);
  KF_TRY(auto recorded, records_->profile(record_.id, number));
  if (recorded) {
    KF_TRY(Profile profile, profile_from(*recorded));
    return std::make_shared<const Profile>(std::move(profile));
  }
  if (options_.without.contains("profile")) return std::make_shared<const Profile>();
  if (races_) races_->rest();
  view_.stage("profiling");
  KF_TRY(auto built, build_program(*session_, trial->attempt.program, session_->setup().bound(0)));
  if (!built) return fail("attempt {} does not compile any more: {}", number, reason_text(built.error()));
  ProfileInput input;
  input.task = &session_->setup().bound(0);
  input.platform = &session_->setup().platform;
  input.machine = &session_->setup().machine;
  input.peaks = context_.peaks;
  input.candidate = &trial->attempt.program;
  input.build = &*built;
  input.tier = session_->setup().tier;
  input.threads = session_->setup().threads;
  input.allow_libraries = options_.session.allow_libraries;
  input.time_ns = trial->attempt.time_ns;
  input.cold = options_.session.cold;
  if (auto verdict = attempts_->verdict(number)) input.thread_use = verdict->thread_use;
  input.also = options_.profilers;
  input.without = options_.without;
  // In a short race seconds are better spent on programs than on looking at one closely.
  if (races_ && options_.budget.seconds.value_or(0) < kLongRace)
    for (const Profiler& profiler : session_->setup().platform.profilers)
      if (profiler.name != "roofline") input.without.insert(profiler.name);
  input.progress = [this](std::string_view profiler) { view_.advance(0, profiler); };
  input.stop = [this] { return stopped(); };
  Profile profile = profile_candidate(input);
  // A profile that was cut short is not what a resumed run should go by.
  if (!stopped()) KF_TRY_VOID(records_->save_profile(record_.id, number, to_document(profile)));
  return std::make_shared<const Profile>(std::move(profile));
}

Result<JudgedAttempt> Forge::judge(const PendingAttempt& attempt) {
  std::expected<Candidate, Failure> program =
      std::unexpected(Failure(NoProgram{attempt.generation->no_program}));
  if (attempt.program) program = *attempt.program;
  const Trial* best = attempts_->history().best();
  const Trial* rival = attempts_->history().find(attempt.proposal.rival);
  if (races_) return races_->judge(program, best ? &best->attempt : nullptr);
  JudgeSettings settings{options_.timing_seconds, options_.timing_rounds};
  Tuning tuning;
  if (program && has_tunables(*program)) {
    double left = options_.budget.seconds ? *options_.budget.seconds - clock() : 60;
    KF_TRY(tuning, tune(*session_, *records_, *program, std::clamp(left / 2, 2.0, 30.0)));
    if (tuning.failure) program = std::unexpected(*tuning.failure);
    if (tuning.best) program = *tuning.best;
  }
  KF_TRY(JudgedAttempt judged, judge_fully(*session_, program, best ? &best->attempt : nullptr,
                                           rival ? &rival->attempt : nullptr, settings));
  judged.verdict.tuning = tuning.table;
  if (tuning.best) {
    judged.verdict.tuned_candidate = tuning.best->content_hash();
    StoredCandidate stored{judged.verdict.tuned_candidate, tuning.best->origin, tuning.best->files};
    KF_TRY_VOID(session_->store()->save_candidate(stored));
  }
  return judged;
}

Result<Spent> Forge::spent() {
  Spent spent;
  for (const Trial& trial : attempts_->history().trials) spent.attempts += trial.attempt.number > 0;
  spent.seconds = clock();
  KF_TRY(auto calls, records_->calls(record_.id));
  for (const StoredCall& call : calls) {
    spent.tokens += call.input_tokens + call.output_tokens;
    if (call.dollars) spent.dollars = spent.dollars.value_or(0) + *call.dollars;
  }
  return spent;
}

Result<std::optional<std::string>> Forge::reason_to_stop() {
  if (stopped()) return "interrupted";
  if (service_error_) return "service";
  KF_TRY(Spent spent, this->spent());
  if (auto limit = used_up(options_.budget, spent)) return limit;
  if (exhausted_) return "exhausted";
  const Trial* best = attempts_->history().best();
  if (best) {
    std::optional<VerdictRecord> verdict = attempts_->verdict(best->attempt.number);
    if (options_.target && verdict->speedup && verdict->speedup->lo >= *options_.target) return "target";
    // A baseline that is faster knows something the roofline does not.
    bool behind = verdict->speedup && verdict->speedup->value < 1;
    if (verdict->roofline && verdict->roofline->fraction >= kNearRoofline && !behind) return "roofline";
    int since = static_cast<int>(std::ranges::count_if(attempts_->history().trials, [&](const Trial& trial) {
      return trial.attempt.number > best->attempt.number;
    }));
    int patience = options_.patience > 0 ? options_.patience
                   : agents_.all_builtin ? kSmithPatience
                                         : kModelPatience * strategy_settings_.width;
    if (since >= patience) return "no_gain";
  }
  return std::nullopt;
}

// The published figure: the winner in a fresh process, on fresh inputs, against all baselines. A winner that
// does not stand it makes room for the next one.
Result<void> Forge::confirm() {
  auto start = Clock::now();
  while (const Trial* best = attempts_->history().best()) {
    view_.stage("confirming");
    JudgeRequest request;
    request.fresh_inputs = true;
    request.seconds = stopped() ? kHurriedConfirmSeconds : kConfirmSeconds;
    request.rounds = options_.timing_rounds;
    KF_TRY(fs::path folder, run_folder(options_.out, session_->setup().task, record_.id));
    std::string kernel_path = (folder / kernel_file(best->attempt.program)).string();
    std::expected<Candidate, Failure> program = best->attempt.program;
    KF_TRY(Judged judged, judge_and_save(*session_, program, request, kernel_path));
    const EvalReport& report = judged.report;
    if (!report.passed()) {
      view_.line(fmt::format("  attempt {} did not stand the confirmation: {}", best->attempt.number,
                             report.reason));
      KF_TRY_VOID(attempts_->overturn(best->attempt.number, report.gate_name(), report.reason));
      continue;
    }
    record_.best = best->attempt.number;
    record_.result = report.result_id;
    record_.folder = folder.string();
    if (report.speedup) {
      record_.speedup = report.speedup->value;
      record_.against = report.speedup->against;
    }
    if (agents_.smith && report.time_ns)
      if (auto generation = attempts_->generation(*record_.best); generation && !generation->schedule.empty())
        KF_TRY_VOID(records_->save_winner(agents_.smith->family(), record_.platform,
                                          session_->setup().machine.id(), record_.precision,
                                          {generation->schedule, record_.id, report.time_ns->value}));
    break;
  }
  seconds_["confirm"] = seconds_since(start);
  return {};
}

Result<RunReport> Forge::finish() {
  view_.finish();
  bool found = record_.best.has_value();
  // A run that somebody or something broke off can go on.
  record_.state = record_.ended == "interrupted" || record_.ended == "service" ? "running" : "finished";
  KF_TRY_VOID(records_->finish(record_));
  if (service_error_ && !found)
    return fail_with_remedy(fmt::format("{}{}then `kforge forge --resume {}` goes on", service_error_->remedy,
                                        service_error_->remedy.empty() ? "" : "; ", record_.id),
                            service_error_->message);
  KF_TRY(RunReport report, report_of(*records_, record_.id));
  for (const auto& [name, seconds] : seconds_) report.seconds[name] = seconds;
  KF_TRY(auto calls, records_->calls(record_.id));
  auto drifted = std::ranges::count(calls, kOtherPrompt, &StoredCall::detail);
  if (drifted > 0)
    report.notes.push_back(fmt::format("{} of {} replies of the cassette were recorded for other prompts",
                                       drifted, calls.size()));
  if (service_error_) report.notes.push_back("the search ended early: " + service_error_->text());
  if (found)
    KF_TRY_VOID(write_run_folder(record_.folder, attempts_->history().find(*record_.best)->attempt.program,
                                 session_->setup().bound(0), report));
  record_.document = to_json(report);
  KF_TRY_VOID(records_->finish(record_));
  return report;
}

void Forge::say(const PendingAttempt& attempt, const VerdictRecord& verdict) {
  AttemptReport line;
  line.number = attempt.number;
  line.pass = name_of(attempt.proposal.pass);
  line.change = attempt.generation->change;
  line.outcome = verdict.outcome;
  line.gate = verdict.gate;
  line.reason = verdict.reason;
  line.time_ns = verdict.time_ns;
  line.modelled_ns = verdict.modelled_ns;
  line.speedup = verdict.speedup;
  line.accepted = verdict.accepted;
  TerminalStyle style = terminal_style();
  view_.line(attempt_line(line, Paint(style.colour), static_cast<std::size_t>(style.width)));
}

}  // namespace

Result<RunReport> forge(const ForgeOptions& options, const ForgeHost& host) {
  return Forge(options, host).begin();
}

Result<RunReport> resume(std::string_view id, const ForgeHost& host) {
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(StoredRun run, records->run(id));
  if (run.state == "finished") return report_of(*records, run.id);
  KF_TRY(ForgeOptions options, options_from(run.options));
  return Forge(options, host).go_on(run);
}

}  // namespace kforge
