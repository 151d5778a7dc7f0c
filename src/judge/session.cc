// The path of a candidate through the gates, in the order in which it happens: judge() is the table of
// contents.
#include "judge/session.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "build/source_place.h"
#include "build/symbols.h"
#include "judge/fill_report.h"
#include "machine/spin.h"
#include "profile/profile_candidate.h"
#include "run/waiting_runners.h"
#include "verify/calibration.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kOracleCacheBytes = std::size_t{4} << 30;
constexpr std::size_t kMostTruthBytes = std::size_t{2} << 30;
constexpr milliseconds kLeastLoadLimit{2'000};  // for a sandbox on a busy machine

std::size_t physical_memory() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// The weighted geometric mean of the cases' ratios against one incumbent, as the headline is over baselines.
Speedup over_incumbent(const std::vector<CaseOutcome>& cases, const EvalReport& report, std::size_t which) {
  double value = 0, lo = 0, hi = 0, weights = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Interval& ratio = cases[i].incumbents[which].speedup;
    double weight = report.cases[i].weight;
    value += weight * std::log(ratio.value);
    lo += weight * std::log(ratio.lo);
    hi += weight * std::log(ratio.hi);
    weights += weight;
  }
  return {std::exp(value / weights), std::exp(lo / weights), std::exp(hi / weights),
          cases.front().incumbents[which].name};
}

}  // namespace

JudgingSession::~JudgingSession() = default;

// --- the table of contents
// -------------------------------------------------------------------------------------

Result<Judgement> JudgingSession::judge(const std::expected<Candidate, Failure>& program,
                                        const JudgeRequest& request) {
  Judgement judgement;
  begin_report(request, judgement.report);
  if (!program) {
    judgement.cases.emplace_back().verdict.fail(program.error());
  } else {
    judgement.report.kernel_hash = program->content_hash();
    judgement.report.general = program->claims_general();
    for (const auto& directive : program->directives()) {
      if (directive.key == "arithmetic") judgement.report.arithmetic = directive.value;
      // Said by the program itself; one that is faster than the graph's flops allow gets the flag unasked.
      if (directive.key == "algebraic") judgement.report.flags = {"algebraic"};
    }
    for (std::size_t index = 0; index < cases_.size(); ++index) {
      KF_TRY(CaseOutcome outcome, judge_case(index, *program, request, judgement.report));
      judgement.cases.push_back(std::move(outcome));
      if (judgement.cases.back().verdict.failed()) break;
    }
  }
  finish_report(judgement);
  return judgement;
}

Result<CaseOutcome> JudgingSession::judge_case(std::size_t index, const Candidate& candidate,
                                               const JudgeRequest& request, EvalReport& report) {
  CaseOutcome outcome;
  Verdict& verdict = outcome.verdict;
  const BoundTask& task = bound(index);
  fill_task(task, report);

  KF_TRY(NativeProgram program, waiting_program(task, request.check_only || modelled()));
  KF_TRY(auto built, build(candidate, task));
  if (!built) return verdict.fail(built.error()), std::move(outcome);
  outcome.build = *built;
  if (auto rejected = symbol_gate(*built)) return verdict.fail(*rejected), std::move(outcome);
  verdict.pass("symbols",
               fmt::format("imports {} listed names, defines none of the system's", built->imports.size()));

  KF_TRY(JudgeContext context, this->context(task, request.fresh_inputs));
  report.seeds.push_back({"check", context.secret});
  KF_TRY_VOID(place_artefact(program, built->artefact));
  progress_->stage("checking values");
  {
    auto timer = stopwatch_.measure("checks");
    KF_TRY_VOID(judge_values(context, program.spec, verdict));
    if (!verdict.failed()) KF_TRY_VOID(judge_calibration(context, verdict));
    if (!verdict.failed() && candidate.claims_general())
      KF_TRY_VOID(judge_generality(candidate, report, verdict));
  }
  stopwatch_.add("oracle", verdict.oracle_seconds);
  stopwatch_.add("contender calls", verdict.call_seconds);
  if (verdict.failed()) locate(*verdict.failure, candidate, *built, task);
  if (verdict.failed() || request.check_only) return outcome;

  if (modelled()) {
    progress_->stage("modelling");
    auto timer = stopwatch_.measure("model");
    if (auto ns = model(candidate, *built, task))
      outcome.modelled_ns = *ns;
    else
      report.notes.push_back("no modelled time: " + ns.error().text());
    return outcome;
  }
  KF_TRY_VOID(time(index, context, program.spec, request, report, outcome));
  if (verdict.failed()) {
    locate(*verdict.failure, candidate, *built, task);
    return outcome;
  }
  KF_TRY(outcome.roofline, roofline(task, outcome.times->ns.value));
  return outcome;
}

// --- the steps
// --------------------------------------------------------------------------------------------------

Result<std::unique_ptr<JudgingSession>> JudgingSession::open(const SessionOptions& options,
                                                             Progress& progress) {
  std::unique_ptr<JudgingSession> session(new JudgingSession(options, progress));
  KF_TRY_VOID(session->open_all());
  return session;
}

Result<void> JudgingSession::open_all() {
  auto policy = policy_from_name(options_.precision);
  if (!policy)
    return fail_with_remedy("use one of fp32, high, bf16, fp16",
                            fmt::format("there is no precision policy '{}'", options_.precision));
  policy_ = *policy;
  if (!options_.python.empty() && !fs::exists(options_.python))
    return fail_with_remedy("name a Python that has onnxruntime or torch, or leave --python out",
                            fmt::format("--python: there is no {}", options_.python.string()));
  auto timer = stopwatch_.measure("open");
  KF_TRY(task_, load_task(options_.task));
  KF_TRY(platform_, load_platform(options_.platform));
  if (platform_.kind != "native")
    return fail("platform {} is of kind {}, which this version of KForge cannot judge", platform_.name,
                platform_.kind);
  KF_TRY(machine_, describe_machine());
  threads_ = options_.threads > 0 ? options_.threads : machine_.threads();
  if (threads_ > machine_.threads())
    return fail_with_remedy(
        fmt::format("use --threads {} or less", machine_.threads()),
        fmt::format("{} threads were asked for, and {} cpus are allowed", threads_, machine_.threads()));
  machine_.cpus.resize(static_cast<std::size_t>(threads_));
  if (options_.sandbox) {
    tier_ = *options_.sandbox;
    if (auto why = tier_unavailable(tier_))
      return fail("the sandbox {} does not work here: {}", name_of(tier_), *why);
  } else {
    KF_TRY(tier_, strongest_tier());
  }
  KF_TRY(fs::path home, kforge_home());
  oracle_cache_.emplace(home / "cache" / "oracle", kOracleCacheBytes);
  truths_.emplace(&*oracle_cache_, std::min(kMostTruthBytes, available_memory() / 8));
  if (options_.store) {
    KF_TRY(store_, Store::open());
  }
  KF_TRY(work_, TempDir::create(0755));
  auto set = task_.shapes.find(options_.shape_set);
  std::size_t count = set == task_.shapes.end() ? 1 : set->second.size();
  for (std::size_t index = 0; index < count; ++index) {
    KF_TRY(BoundTask task, bind_task(task_, options_.shape_set, index));
    cases_.emplace_back().task = std::make_unique<BoundTask>(std::move(task));
    cases_.back().secret = random_seed();
  }
  return {};
}

void JudgingSession::begin_report(const JudgeRequest& request, EvalReport& report) const {
  report.created_at = utc_now();
  report.kernel_path = request.kernel_path;
  report.platform = options_.platform;
  report.shape_set = options_.shape_set;
  report.precision = options_.precision;
  report.cache = options_.cold ? "cold" : "warm";
  report.check_only = request.check_only;
  report.libraries_allowed = options_.allow_libraries;
  for (const std::string& choice : options_.baselines) {
    // A file is found again from wherever it is asked for.
    auto equals = choice.find('=');
    report.asked_baselines.push_back(equals == choice.npos
                                         ? choice
                                         : choice.substr(0, equals + 1) +
                                               fs::absolute(choice.substr(equals + 1)).string());
  }
  report.deterministic = options_.deterministic;
  report.asked_march = options_.march;
  report.threads = threads_;
  report.sandbox = name_of(tier_);
  fill_machine(machine_, report);
}

std::optional<Failure> JudgingSession::symbol_gate(const Build& build) const {
  std::vector<std::string> imports = platform_.allowed_imports, needed = platform_.allowed_needed;
  if (options_.allow_libraries) {
    imports.insert(imports.end(), platform_.library_imports.begin(), platform_.library_imports.end());
    needed.insert(needed.end(), platform_.library_needed.begin(), platform_.library_needed.end());
  }
  return check_symbols(build.symbols, imports, needed);
}

Step<Build> JudgingSession::build(const Candidate& candidate, const BoundTask& task) {
  progress_->stage("compiling");
  auto timer = stopwatch_.measure("build");
  auto start = std::chrono::steady_clock::now();
  auto built = build_candidate(candidate, platform_, task, machine_, build_options());
  if (built && built->has_value() && !(*built)->from_cache) stopwatch_.add("compiler", (*built)->seconds);
  if (built && !built->has_value() && std::holds_alternative<CompileError>(built->error()))
    stopwatch_.add("compiler",
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return built;
}

void JudgingSession::locate(Failure& failure, const Candidate& candidate, const Build& build,
                            const BoundTask& task) const {
  auto* crash = std::get_if<Crash>(&failure);
  if (!crash || crash->frames.empty()) return;
  auto places = source_places(crash->frames, candidate, build, platform_, task, machine_, build_options());
  if (places) crash->where = to_text(*places);  // else the offsets stand
}

Step<Build> JudgingSession::planned_build() {
  return kforge::planned_build(platform_, machine_, build_options());
}

milliseconds JudgingSession::call_limit(const BoundTask& task) const {
  if (options_.call_limit_seconds > 0)
    return milliseconds(static_cast<long>(options_.call_limit_seconds * 1e3));
  // A naive program may be a thousand times off the roofline of a small machine (20 GFLOP/s, 5 GB/s).
  double roofline_seconds = std::max(task.cost.flops / 20e9, task.cost.unfused_bytes / 5e9);
  return milliseconds(static_cast<long>(std::clamp(1000 * roofline_seconds, 10.0, 120.0) * 1e3));
}

ContenderSpec JudgingSession::limited(ContenderSpec spec, const BoundTask& task) const {
  std::size_t tensors = 0;
  for (const BoundArgument& argument : task.arguments) tensors += argument.bytes();
  spec.stop = stop_;
  spec.threads = threads_;
  spec.cpus = machine_.cpus;
  spec.limits.wall = std::chrono::hours(1);  // each call has its own limit
  spec.limits.cpu_seconds = 3600;
  spec.limits.memory_bytes = std::min((std::size_t{4} << 30) + 16 * tensors, physical_memory() / 4 * 3);
  spec.limits.processes = 4 * static_cast<std::uint64_t>(threads_) + 64;
  return spec;
}

// The candidate's processes start while it is compiled: two for its values (one of them with one thread), two
// to be timed.
Result<NativeProgram> JudgingSession::waiting_program(const BoundTask& task, bool values_only) const {
  constexpr milliseconds kStartLimit{20'000};
  KF_TRY(NativeProgram program, stage_runner("candidate", tier_));
  program.spec.env = platform_.sandbox.env;
  program.spec = limited(std::move(program.spec), task);
  std::vector<int> threads = {threads_, 1};
  if (!values_only) threads.insert(threads.end(), {threads_, threads_});
  program.spec.waiting = std::make_shared<WaitingRunners>(program.spec, threads, kStartLimit);
  return program;
}

Result<NativeProgram> JudgingSession::stage(std::string name, const Build& build,
                                            const BoundTask& task) const {
  KF_TRY(NativeProgram program, stage_native(std::move(name), build.artefact, tier_));
  program.spec.env = platform_.sandbox.env;
  program.spec = limited(std::move(program.spec), task);
  return program;
}

Result<JudgeContext> JudgingSession::context(const BoundTask& task, bool fresh_inputs) {
  JudgeContext context;
  context.task = &task;
  context.machine = &machine_;
  context.policy = policy_;
  context.threads = threads_;
  context.truths = &*truths_;
  context.call_limit = call_limit(task);
  if (options_.call_limit_seconds > 0)
    context.load_limit = std::clamp<milliseconds>(context.call_limit, kLeastLoadLimit, context.load_limit);
  context.deterministic = options_.deterministic;
  context.progress = [this](double fraction, std::string_view detail) {
    progress_->advance(fraction, detail);
  };
  if (fresh_inputs) {
    context.secret = random_seed();
    context.fresh_secret = true;
  } else if (store_) {
    KF_TRY(CheckSecret secret, store_->take_check_secret(task.key()));
    context.secret = secret.seed;
  } else {
    auto own = std::ranges::find(
        cases_, &task, [](const ShapeState& shape) -> const BoundTask* { return shape.task.get(); });
    context.secret = own == cases_.end() ? random_seed() : own->secret;
  }
  return context;
}

Result<void> JudgingSession::judge_calibration(const JudgeContext& context, Verdict& verdict) {
  KF_TRY(Calibration calibration, calibrate(context));
  if (calibration.vacuous()) {
    verdict.flags.push_back("vacuous");
    verdict.flag("calibration",
                 fmt::format("the task is vacuous: {} would pass too", calibration.passing.front()));
  } else {
    verdict.pass(
        "calibration",
        fmt::format(
            "programs that do nothing fail; the nearest ({}) is at least {:.3g} times outside the bound",
            calibration.closest_name, calibration.closest));
  }
  return {};
}

// Gate 12: a program that claims any shape is built for others too, one of which no file names.
Result<void> JudgingSession::judge_generality(const Candidate& candidate, EvalReport& report,
                                              Verdict& verdict) {
  std::uint64_t seed = random_seed();
  std::string judged;
  for (std::string_view set : {"small", "odd", "hidden"}) {
    if (set == options_.shape_set || (set != "hidden" && !task_.shapes.contains(std::string(set)))) continue;
    progress_->advance(1, fmt::format("shape set {}", set));
    KF_TRY(BoundTask task, set == "hidden" ? bind_hidden_shape(task_, seed) : bind_task(task_, set));
    KF_TRY(auto built, build(candidate, task));
    Verdict other;
    if (!built) {
      other.fail(built.error());
    } else {
      KF_TRY(JudgeContext context, this->context(task));
      report.seeds.push_back({"check", context.secret});
      KF_TRY(NativeProgram program, stage("candidate", *built, task));
      KF_TRY_VOID(judge_values(context, program.spec, other));
    }
    verdict.oracle_seconds += other.oracle_seconds;
    if (other.failed()) {
      if (built) locate(*other.failure, candidate, *built, task);
      std::string dims;
      for (const auto& [name, value] : task.shape_case.dims)
        dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
      verdict.fail(Rejected{
          "generality",
          fmt::format("claims any shape, but fails on {} ({}): {}", set, dims, reason_text(*other.failure)),
          std::string(evidence_json(*other.failure))});
      return {};
    }
    judged += fmt::format("{}{}", judged.empty() ? "" : ", ", set);
  }
  report.seeds.push_back({"hidden shape", seed});
  verdict.pass("generality", "right on " + judged + " shapes too");
  return {};
}

Result<const Peaks*> JudgingSession::peaks() {
  if (!peaks_) {
    progress_->stage("measuring the machine's peaks");
    KF_TRY(peaks_, machine_peaks(machine_, threads_));
  }
  return &*peaks_;
}

Result<RooflinePosition> JudgingSession::roofline(const BoundTask& task, double ns) {
  KF_TRY(const Peaks* known, peaks());
  RooflinePosition position = roofline_position(task, machine_, *known, ns, options_.cold);
  constexpr double kMargin = 1.02;
  if (position.fraction <= kMargin || peaks_doubted_) return position;
  peaks_doubted_ = true;
  KF_TRY(peaks_, machine_peaks(machine_, threads_, true));
  return roofline_position(task, machine_, *peaks_, ns, options_.cold);
}

Result<double> JudgingSession::model(const Candidate& candidate, const Build& build,
                                     const BoundTask& task) const {
  ProfileInput input;
  input.task = &task;
  input.platform = &platform_;
  input.machine = &machine_;
  input.candidate = &candidate;
  input.build = &build;
  input.tier = tier_;
  input.threads = threads_;
  input.allow_libraries = options_.allow_libraries;
  return modelled_ns(input, *platform_.model);
}

TimingOptions JudgingSession::timing(const JudgeContext& context) const {
  TimingOptions timing;
  timing.cold = options_.cold;
  timing.cpus = machine_.cpus;
  timing.evict_bytes = evict_bytes_per_core(machine_);
  timing.call_limit = context.call_limit;
  return timing;
}

Result<void> JudgingSession::time(std::size_t index, const JudgeContext& context,
                                  const ContenderSpec& program, const JudgeRequest& request,
                                  EvalReport& report, CaseOutcome& outcome) {
  KF_TRY_VOID(peaks());
  std::vector<Rival> rivals;
  std::vector<NativeProgram> staged;
  {
    progress_->stage("checking baselines");
    auto timer = stopwatch_.measure("baselines");
    KF_TRY(const std::vector<Rival>* all, baselines(index, context));
    for (const Rival& rival : *all)
      if (!request.fastest_baseline_only || cases_[index].fastest.empty() ||
          rival.name == cases_[index].fastest)
        rivals.push_back(rival), rivals.back().spec.stop = stop_;
    report.absent_baselines.insert(report.absent_baselines.end(), cases_[index].absent.begin(),
                                   cases_[index].absent.end());
    report.notes.insert(report.notes.end(), cases_[index].notes.begin(), cases_[index].notes.end());
    for (std::size_t i = 0; i < request.incumbents.size(); ++i) {
      std::string name = fmt::format("incumbent {}", i + 1);
      KF_TRY(auto built, build(*request.incumbents[i], bound(index)));
      if (!built)
        return fail("a program that was verified before does not compile any more: {}",
                    reason_text(built.error()));
      KF_TRY(NativeProgram native, stage(name, *built, bound(index)));
      rivals.push_back({name, "the best program so far", native.spec, false, false});
      staged.push_back(std::move(native));
    }
  }
  progress_->stage("timing");
  auto timer = stopwatch_.measure("timing");
  TimedOptions options;
  options.seed = random_seed();
  options.hopeless = request.hopeless;
  options.echo = &echo_;
  options.timing = this->timing(context);
  options.timing.seconds = request.seconds;
  if (request.rounds > 0) options.timing.min_rounds = options.timing.max_rounds = request.rounds;
  report.seeds.push_back({"timed", options.seed});
  KF_TRY(TimedFindings findings, judge_times(context, program, rivals, options, *peaks_, outcome.verdict));
  stopwatch_.add("contender calls", findings.contender_seconds);
  stopwatch_.add("spins", findings.spin_seconds);
  for (std::size_t i = 0; i < request.incumbents.size() && !outcome.verdict.failed(); ++i) {
    auto own = std::ranges::find(findings.rivals, fmt::format("incumbent {}", i + 1), &RivalTimes::name);
    if (own == findings.rivals.end())
      return fail("a program that was verified before failed when it was timed again");
    outcome.incumbents.push_back(*own);
    findings.rivals.erase(own);
  }
  if (!findings.rivals.empty()) cases_[index].fastest = findings.rivals.front().name;
  for (const RivalTimes& times : findings.rivals)
    for (Rival& rival : *cases_[index].rivals)
      if (rival.name == times.name) rival.threads = times.better_threads;
  outcome.times = std::move(findings);
  return {};
}

void JudgingSession::finish_report(Judgement& judgement) {
  EvalReport& report = judgement.report;
  for (const CaseOutcome& outcome : judgement.cases) {
    fill_verdict(outcome.verdict, report);
    if (outcome.build) fill_build(*outcome.build, report);
    if (outcome.times && !outcome.verdict.failed()) fill_times(*outcome.times, report);
    if (outcome.roofline) fill_profile(*outcome.roofline, report);
    if (outcome.modelled_ns) fill_modelled(*outcome.modelled_ns, *platform_.model, report);
  }
  if (modelled())
    report.time_absent_reason = "programs for this platform are ranked by a model: verified, not timed";
  fill_summary(task_, report);
  if (report.passed() && !report.check_only && !judgement.cases.empty())
    for (std::size_t i = 0; i < judgement.cases.front().incumbents.size(); ++i)
      judgement.over_incumbents.push_back(over_incumbent(judgement.cases, report, i));
  report.seconds = stopwatch_.seconds();
  stopwatch_ = Stopwatch();
}

Result<void> JudgingSession::save(const std::expected<Candidate, Failure>& program, Judgement& judgement) {
  if (!store_) return {};
  progress_->stage("writing the result");
  EvalReport& report = judgement.report;
  report.result_id = new_result_id();
  StoredResult stored = to_stored(report);
  if (program && !program->files.empty()) {
    KF_TRY_VOID(store_->save_candidate({report.kernel_hash, program->origin, program->files}));
    stored.candidate = report.kernel_hash;
    if (report.build && !judgement.cases.empty() && judgement.cases.back().build) {
      const Build& build = *judgement.cases.back().build;
      StoredBuild record{report.kernel_hash,
                         platform_.name,
                         report.task_hash,
                         build.march,
                         fmt::format("{}", fmt::join(build.command, " ")),
                         build.log,
                         build.seconds,
                         build.from_cache,
                         build.artefact};
      KF_TRY(stored.build, store_->save_build(record));
    }
  }
  return store_->save_result(stored);
}

}  // namespace kforge
