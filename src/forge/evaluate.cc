#include "forge/evaluate.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "baseline/baseline.h"
#include "build/build.h"
#include "build/symbols.h"
#include "forge/baseline_gates.h"
#include "forge/fill_report.h"
#include "forge/stopwatch.h"
#include "generate/candidate.h"
#include "machine/machine.h"
#include "machine/spin.h"
#include "platform/platform.h"
#include "profile/profile.h"
#include "run/native.h"
#include "store/store.h"
#include "task/task.h"
#include "verify/calibration.h"
#include "verify/timed_gates.h"
#include "verify/value_gates.h"
#include "verify/verdict.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kOracleCacheBytes = std::size_t{4} << 30;
constexpr milliseconds kLeastLoadLimit{2'000};  // for a sandbox on a busy machine

std::size_t physical_memory() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// One shape case of one candidate, judged.
struct CaseOutcome {
  Verdict verdict;
  std::optional<Build> build;
  std::optional<TimedFindings> times;
  std::optional<RooflinePosition> roofline;
};

class Evaluation {
 public:
  Evaluation(const EvalOptions& options, Progress& progress) : options_(options), progress_(progress) {}

  Result<EvalReport> run();

 private:
  // The steps, in order.
  Result<void> open();
  Result<bool> read();
  Result<CaseOutcome> judge_case(std::size_t index);
  Step<Build> build(const BoundTask& task);
  Result<void> judge_generality(Verdict& verdict);
  Result<void> judge_calibration(const JudgeContext& context, Verdict& verdict);
  Result<std::vector<Rival>> gather_rivals(const BoundTask& task, const JudgeContext& context);
  Result<TimedFindings> time(const JudgeContext& context, const ContenderSpec& program, Verdict& verdict);
  Result<EvalReport> finish();
  Result<void> save();

  Result<JudgeContext> context_for(const BoundTask& task);
  ContenderSpec limited(ContenderSpec spec, const BoundTask& task) const;
  Result<NativeProgram> stage(std::string name, const Build& build, const BoundTask& task) const;
  milliseconds call_limit(const BoundTask& task) const;
  Result<Rival> user_rival(const std::string& name, const std::string& file, const BoundTask& task,
                           const JudgeContext& context);

  const EvalOptions& options_;
  Progress& progress_;
  Stopwatch stopwatch_;
  EvalReport report_;

  std::optional<Store> store_;
  std::optional<FileCache> oracle_cache_;
  Task task_;
  Platform platform_;
  Machine machine_;
  std::optional<Peaks> peaks_;
  PrecisionPolicy policy_{};
  SandboxTier tier_ = SandboxTier::kBubblewrap;
  int threads_ = 1;
  Candidate candidate_;
  std::vector<CaseOutcome> cases_;
  TempDir work_;                                     // graph files of the baselines
  std::vector<NativeProgram> user_programs_;         // staged files of --baseline NAME=FILE
};

// --- the table of contents -------------------------------------------------------------------------------------

Result<EvalReport> Evaluation::run() {
  KF_TRY_VOID(open());
  KF_TRY(bool program, read());
  if (!program) return finish();
  auto set = task_.shapes.find(options_.shape_set);
  std::size_t count = set == task_.shapes.end() ? 1 : set->second.size();
  for (std::size_t index = 0; index < count; ++index) {
    KF_TRY(CaseOutcome outcome, judge_case(index));
    cases_.push_back(std::move(outcome));
    if (cases_.back().verdict.failed()) break;
  }
  return finish();
}

Result<CaseOutcome> Evaluation::judge_case(std::size_t index) {
  CaseOutcome outcome;
  Verdict& verdict = outcome.verdict;
  KF_TRY(BoundTask task, bind_task(task_, options_.shape_set, index));
  fill_task(task, report_);

  KF_TRY(auto built, build(task));
  if (!built) return verdict.fail(built.error()), std::move(outcome);
  outcome.build = *built;
  std::vector<std::string> imports = platform_.allowed_imports, needed = platform_.allowed_needed;
  if (options_.allow_libraries) {
    imports.insert(imports.end(), platform_.library_imports.begin(), platform_.library_imports.end());
    needed.insert(needed.end(), platform_.library_needed.begin(), platform_.library_needed.end());
  }
  if (auto rejected = check_symbols(built->symbols, imports, needed)) return verdict.fail(*rejected), std::move(outcome);
  verdict.pass("symbols", fmt::format("imports {} listed names, defines none of the system's", built->imports.size()));

  KF_TRY(JudgeContext context, context_for(task));
  KF_TRY(NativeProgram program, stage("candidate", *built, task));
  progress_.stage("checking values");
  {
    auto timer = stopwatch_.measure("checks");
    KF_TRY_VOID(judge_values(context, program.spec, verdict));
    if (!verdict.failed()) KF_TRY_VOID(judge_calibration(context, verdict));
    if (!verdict.failed() && candidate_.claims_general()) KF_TRY_VOID(judge_generality(verdict));
  }
  stopwatch_.add("oracle", verdict.oracle_seconds);
  stopwatch_.add("contender calls", verdict.call_seconds);
  if (verdict.failed() || options_.check_only) return outcome;

  KF_TRY(outcome.times, time(context, program.spec, verdict));
  if (!verdict.failed())
    outcome.roofline = roofline_position(task, machine_, *peaks_, outcome.times->ns.value, options_.cold);
  return outcome;
}

// --- the steps --------------------------------------------------------------------------------------------------

Result<void> Evaluation::open() {
  report_.created_at = utc_now();
  report_.kernel_path = options_.kernel.string();
  report_.platform = options_.platform;
  report_.shape_set = options_.shape_set;
  report_.precision = options_.precision;
  report_.cache = options_.cold ? "cold" : "warm";
  report_.check_only = options_.check_only;
  report_.libraries_allowed = options_.allow_libraries;
  auto policy = policy_from_name(options_.precision);
  if (!policy)
    return fail_with_remedy("use one of fp32, high, bf16, fp16", fmt::format("there is no precision policy '{}'", options_.precision));
  policy_ = *policy;
  if (!options_.python.empty() && !fs::exists(options_.python))
    return fail_with_remedy("name a Python that has onnxruntime or torch, or leave --python out",
                            fmt::format("--python: there is no {}", options_.python.string()));
  auto timer = stopwatch_.measure("open");
  KF_TRY(task_, load_task(options_.task));
  KF_TRY(platform_, load_platform(options_.platform));
  if (platform_.kind != "native")
    return fail("platform {} is of kind {}, which this version of KForge cannot judge", platform_.name, platform_.kind);
  KF_TRY(machine_, describe_machine());
  threads_ = options_.threads > 0 ? options_.threads : machine_.threads();
  if (threads_ > machine_.threads())
    return fail_with_remedy(fmt::format("use --threads {} or less", machine_.threads()),
                            fmt::format("{} threads were asked for, and {} cpus are allowed", threads_, machine_.threads()));
  machine_.cpus.resize(static_cast<std::size_t>(threads_));
  if (options_.sandbox) {
    tier_ = *options_.sandbox;
    if (auto why = tier_unavailable(tier_)) return fail("the sandbox {} does not work here: {}", name_of(tier_), *why);
  } else {
    KF_TRY(tier_, strongest_tier());
  }
  KF_TRY(fs::path home, kforge_home());
  oracle_cache_.emplace(home / "cache" / "oracle", kOracleCacheBytes);
  if (options_.store) {
    KF_TRY(store_, Store::open());
  }
  KF_TRY(work_, TempDir::create(0755));
  report_.threads = threads_;
  report_.sandbox = name_of(tier_);
  fill_machine(machine_, report_);
  return {};
}

Result<bool> Evaluation::read() {
  KF_TRY(auto candidate, read_candidate(options_.kernel, platform_.files));
  if (!candidate) {
    cases_.emplace_back().verdict.fail(candidate.error());
    return false;
  }
  candidate_ = std::move(*candidate);
  report_.kernel_hash = candidate_.content_hash();
  report_.general = candidate_.claims_general();
  for (const auto& directive : candidate_.directives())
    if (directive.key == "arithmetic") report_.arithmetic = directive.value;
  return true;
}

Step<Build> Evaluation::build(const BoundTask& task) {
  progress_.stage("compiling");
  auto timer = stopwatch_.measure("build");
  BuildOptions options{tier_, options_.march, options_.use_build_cache, options_.allow_libraries};
  auto built = build_candidate(candidate_, platform_, task, machine_, options);
  if (built && built->has_value() && !(*built)->from_cache) stopwatch_.add("compiler", (*built)->seconds);
  return built;
}

milliseconds Evaluation::call_limit(const BoundTask& task) const {
  if (options_.call_limit_seconds > 0) return milliseconds(static_cast<long>(options_.call_limit_seconds * 1e3));
  // A naive program may be a thousand times off the roofline of a small machine (20 GFLOP/s, 5 GB/s).
  double roofline_seconds = std::max(task.cost.flops / 20e9, task.cost.unfused_bytes / 5e9);
  return milliseconds(static_cast<long>(std::clamp(1000 * roofline_seconds, 10.0, 120.0) * 1e3));
}

ContenderSpec Evaluation::limited(ContenderSpec spec, const BoundTask& task) const {
  std::size_t tensors = 0;
  for (const BoundArgument& argument : task.arguments) tensors += argument.bytes();
  spec.threads = threads_;
  spec.cpus = machine_.cpus;
  spec.limits.wall = std::chrono::hours(1);  // each call has its own limit
  spec.limits.cpu_seconds = 3600;
  spec.limits.memory_bytes = std::min((std::size_t{4} << 30) + 16 * tensors, physical_memory() / 4 * 3);
  spec.limits.processes = static_cast<std::uint64_t>(4 * threads_ + 64);
  return spec;
}

Result<NativeProgram> Evaluation::stage(std::string name, const Build& build, const BoundTask& task) const {
  KF_TRY(NativeProgram program, stage_native(std::move(name), build.artefact, tier_));
  program.spec.env = platform_.sandbox.env;
  program.spec = limited(std::move(program.spec), task);
  return program;
}

Result<JudgeContext> Evaluation::context_for(const BoundTask& task) {
  JudgeContext context;
  context.task = &task;
  context.machine = &machine_;
  context.policy = policy_;
  context.threads = threads_;
  context.oracle_cache = &*oracle_cache_;
  context.call_limit = call_limit(task);
  if (options_.call_limit_seconds > 0)
    context.load_limit = std::clamp<milliseconds>(context.call_limit, kLeastLoadLimit, context.load_limit);
  context.deterministic = options_.deterministic;
  context.progress = [this](double fraction, std::string_view detail) { progress_.advance(fraction, detail); };
  context.secret = random_seed();
  if (store_) {
    KF_TRY(CheckSecret secret, store_->take_check_secret(task.key()));
    context.secret = secret.seed;
  }
  report_.seeds.push_back({"check", context.secret});
  return context;
}

Result<void> Evaluation::judge_calibration(const JudgeContext& context, Verdict& verdict) {
  KF_TRY(Calibration calibration, calibrate(context));
  if (calibration.vacuous()) {
    verdict.flags.push_back("vacuous");
    verdict.flag("calibration", fmt::format("the task is vacuous: {} would pass too", calibration.passing.front()));
  } else {
    verdict.pass("calibration", fmt::format("programs that do nothing fail; the nearest ({}) is {:.3g} times outside the bound",
                                            calibration.closest_name, calibration.closest));
  }
  return {};
}

// Gate 12: a program that claims any shape is built for others too, one of which no file names.
Result<void> Evaluation::judge_generality(Verdict& verdict) {
  std::uint64_t seed = random_seed();
  std::string judged;
  for (std::string_view set : {"small", "odd", "hidden"}) {
    if (set == options_.shape_set || (set != "hidden" && !task_.shapes.contains(std::string(set)))) continue;
    progress_.advance(1, fmt::format("shape set {}", set));
    KF_TRY(BoundTask task, set == "hidden" ? bind_hidden_shape(task_, seed) : bind_task(task_, set));
    KF_TRY(auto built, build(task));
    Verdict other;
    if (!built) {
      other.fail(built.error());
    } else {
      KF_TRY(JudgeContext context, context_for(task));
      KF_TRY(NativeProgram program, stage("candidate", *built, task));
      KF_TRY_VOID(judge_values(context, program.spec, other));
    }
    verdict.oracle_seconds += other.oracle_seconds;
    if (other.failed()) {
      std::string dims;
      for (const auto& [name, value] : task.shape_case.dims) dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
      verdict.fail(Rejected{"generality",
                            fmt::format("claims any shape, but fails on {} ({}): {}", set, dims, reason_text(*other.failure)),
                            std::string(evidence_json(*other.failure))});
      return {};
    }
    judged += fmt::format("{}{}", judged.empty() ? "" : ", ", set);
  }
  report_.seeds.push_back({"hidden shape", seed});
  verdict.pass("generality", "right on " + judged + " shapes too");
  return {};
}

Result<Rival> Evaluation::user_rival(const std::string& name, const std::string& file, const BoundTask& task,
                                     const JudgeContext& context) {
  KF_TRY(auto source, read_candidate(file, platform_.files));
  if (!source) return fail("--baseline {}: {}", name, reason_text(source.error()));
  BuildOptions options{tier_, options_.march, options_.use_build_cache, true};
  KF_TRY(auto built, build_candidate(*source, platform_, task, machine_, options));
  if (!built) return fail("--baseline {}: {}", name, reason_text(built.error()));
  KF_TRY(NativeProgram program, stage(name, *built, task));
  KF_TRY(auto failed_gate, gates_of_baseline(context, program.spec, "", nullptr));
  if (failed_gate) return fail("--baseline {} does not compute the task: {}", name, *failed_gate);
  Rival rival{name, fmt::format("the user's kernel {}", fs::path(file).filename().string()), program.spec, true};
  user_programs_.push_back(std::move(program));
  return rival;
}

Result<std::vector<Rival>> Evaluation::gather_rivals(const BoundTask& task, const JudgeContext& context) {
  std::vector<Rival> rivals;
  BaselineOptions wanted;
  wanted.python = options_.python;
  wanted.threads = threads_;
  bool any = options_.baselines.empty();
  for (const std::string& choice : options_.baselines) {
    auto equals = choice.find('=');
    if (choice == "none") continue;
    if (equals == std::string::npos) {
      if (choice == "all") any = true;
      wanted.names.push_back(choice);
      continue;
    }
    KF_TRY(Rival rival, user_rival(choice.substr(0, equals), choice.substr(equals + 1), task, context));
    rivals.push_back(std::move(rival));
  }
  if (any) wanted.names.clear();
  if (!any && wanted.names.empty()) return rivals;
  KF_TRY(Baselines found, find_baselines(task, machine_, wanted, work_.path()));
  for (const AbsentBaseline& absent : found.absent) report_.absent_baselines.push_back({absent.name, absent.reason, absent.remedy});
  for (Baseline& baseline : found.present) {
    progress_.advance(0, "checking baseline " + baseline.name);
    ContenderSpec spec = std::move(baseline.spec);  // trusted: it brings its own limits
    KF_TRY(auto failed_gate, gates_of_baseline(context, spec, baseline.what, &*oracle_cache_));
    if (failed_gate) report_.notes.push_back(fmt::format("baseline {} fails a gate on this task: {}", baseline.name, *failed_gate));
    rivals.push_back({baseline.name, baseline.what, std::move(spec), true});
  }
  return rivals;
}

Result<TimedFindings> Evaluation::time(const JudgeContext& context, const ContenderSpec& program, Verdict& verdict) {
  progress_.stage("measuring the machine's peaks");
  KF_TRY(peaks_, machine_peaks(machine_, threads_));
  progress_.stage("checking baselines");
  std::vector<Rival> rivals;
  {
    auto timer = stopwatch_.measure("baselines");
    KF_TRY(rivals, gather_rivals(*context.task, context));
  }
  progress_.stage("timing");
  auto timer = stopwatch_.measure("timing");
  TimedOptions options;
  options.seed = random_seed();
  options.timing.cold = options_.cold;
  options.timing.cpus = machine_.cpus;
  options.timing.evict_bytes = evict_bytes_per_core(machine_);
  options.timing.call_limit = context.call_limit;
  options.timing.seconds = options_.seconds;
  if (options_.rounds > 0) options.timing.min_rounds = options.timing.max_rounds = options_.rounds;
  report_.seeds.push_back({"timed", options.seed});
  KF_TRY(TimedFindings findings, judge_times(context, program, rivals, options, *peaks_, verdict));
  stopwatch_.add("contender calls", findings.contender_seconds);
  stopwatch_.add("spins", findings.spin_seconds);
  return findings;
}

Result<EvalReport> Evaluation::finish() {
  progress_.stage("writing the result");
  for (const CaseOutcome& outcome : cases_) {
    fill_verdict(outcome.verdict, report_);
    if (outcome.build) fill_build(*outcome.build, report_);
    if (outcome.times && !outcome.verdict.failed()) fill_times(*outcome.times, report_);
    if (outcome.roofline) fill_profile(*outcome.roofline, report_);
  }
  fill_summary(task_, report_);
  report_.seconds = stopwatch_.seconds();
  if (store_) {
    // The verdict is worth more than its record: a full disk must not take it away.
    if (auto saved = save(); !saved) {
      report_.result_id.clear();
      report_.notes.push_back("NOT SAVED: " + saved.error().text());
    }
  }
  progress_.finish();
  return std::move(report_);
}

Result<void> Evaluation::save() {
  report_.result_id = new_result_id();
  StoredResult stored = to_stored(report_);
  if (!candidate_.files.empty()) {
    KF_TRY_VOID(store_->save_candidate({report_.kernel_hash, candidate_.origin, candidate_.files}));
    stored.candidate = report_.kernel_hash;
    if (report_.build && !cases_.empty() && cases_.back().build) {
      const Build& build = *cases_.back().build;
      StoredBuild record{report_.kernel_hash, platform_.name, report_.task_hash, build.march,
                         fmt::format("{}", fmt::join(build.command, " ")), build.log, build.seconds, build.from_cache,
                         build.artefact};
      KF_TRY(stored.build, store_->save_build(record));
    }
  }
  return store_->save_result(stored);
}

}  // namespace

Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress) { return Evaluation(options, progress).run(); }

}  // namespace kforge
