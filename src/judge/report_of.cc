#include "judge/report_of.h"

#include <algorithm>

#include "judge/next_steps.h"

namespace kforge {
namespace {

void add(Interval& sum, const Interval& part, double weight) {
  sum.value += weight * part.value;
  sum.lo += weight * part.lo;
  sum.hi += weight * part.hi;
}

Interval over(const Interval& sum, double weights) {
  return {sum.value / weights, sum.lo / weights, sum.hi / weights};
}

// What was asked for, and on what it was done.
EvalReport asked(const JudgeSetup& setup, const JudgeRequest& request) {
  const JudgeOptions& options = setup.options;
  const Task& task = setup.task;
  EvalReport report;
  report.created_at = utc_now();
  report.task = task.suite.empty() ? task.name : task.suite + "/" + task.name;
  if (task.suite.empty()) report.task_path = task.path;
  report.task_hash = task.content_hash;
  report.notes = task.notes;
  report.platform = setup.platform_spec();
  report.platform_hash = setup.platform.content_hash;
  report.device = {setup.device.name, setup.device.driver, setup.device.emulated};
  report.shape_set = options.shape_set;
  report.precision = options.precision;
  report.cache = options.cold ? "cold" : "warm";
  report.check_only = request.check_only;
  report.libraries_allowed = options.allow_libraries;
  for (const std::string& choice : options.baselines) {
    // A file is found again from wherever it is asked for.
    auto equals = choice.find('=');
    report.asked_baselines.push_back(equals == choice.npos
                                         ? choice
                                         : choice.substr(0, equals + 1) +
                                               fs::absolute(choice.substr(equals + 1)).string());
  }
  report.deterministic = options.deterministic;
  report.asked_march = options.march;
  report.set = options.set;
  report.asked_timeout = options.call_limit_seconds;
  report.threads = setup.threads;
  report.sandbox = name_of(setup.tier);
  report.machine = setup.machine.id();
  report.machine_text = fmt::format("{}, {} thread{}", setup.machine.cpu_model, setup.machine.threads(),
                                    setup.machine.threads() == 1 ? "" : "s");
  report.kforge_version = KFORGE_VERSION;
  return report;
}

// What the program says of itself.
void add_program(const Candidate& candidate, EvalReport& report) {
  report.kernel_hash = candidate.content_hash();
  report.general = candidate.claims_general();
  for (const auto& directive : candidate.directives()) {
    if (directive.key == "arithmetic") report.arithmetic = directive.value;
    // One that is faster than the graph's flops allow gets the flag unasked.
    if (directive.key == "algebraic") report.flags = {"algebraic"};
  }
}

void add_usage(const Usage& usage, EvalReport& report) {
  if (usage.has_prepare) report.setup = SetupFigures{usage.setup_ns, usage.setup_bytes};
  report.peak_memory_bytes = std::max<std::uint64_t>(report.peak_memory_bytes, usage.peak_bytes);
}

void add_verdict(const Verdict& verdict, EvalReport& report) {
  report.gates.insert(report.gates.end(), verdict.gates.begin(), verdict.gates.end());
  for (const std::string& flag : verdict.flags)
    if (std::ranges::find(report.flags, flag) == report.flags.end()) report.flags.push_back(flag);
  report.error = verdict.error;
  if (verdict.kernelbench_judged) {
    report.kernelbench = KernelBenchCriterion{verdict.kernelbench_allclose, verdict.kernelbench_max_abs, 1e-4,
                                              "|a - b| <= 1e-4 + 1e-4 |b| on the task's own inputs"};
  }
  add_usage(verdict.usage, report);
}

void add_times(const TimedFindings& findings, EvalReport& report) {
  report.spread = std::max(report.spread, findings.spread);
  report.rounds = findings.rounds;
  report.thread_use = findings.thread_use;
  report.kernel_threads = findings.computing_threads;
  if (!report.load || findings.load.disturbed > report.load->disturbed) report.load = findings.load;
  report.clock = fmt::format("parent's wall time less {:.0f} us for the message, batches of {} call{}",
                             findings.message_ns / 1e3, findings.batch, findings.batch == 1 ? "" : "s");
  if (findings.dropped > 0)
    report.notes.push_back(
        fmt::format("{} of {} rounds were disturbed and do not count", findings.dropped, findings.rounds));
  for (const AbsentOpponent& absent : findings.absent)
    report.absent_baselines.push_back({absent.name, absent.reason, ""});
  for (const OpponentTimes& opponent : findings.opponents)
    report.samples.push_back({opponent.name, opponent.samples});
  report.samples.push_back({"candidate", findings.samples});
  add_usage(findings.usage, report);
}

void add_case(const CaseJudgement& found, EvalReport& report) {
  add_verdict(found.verdict, report);
  if (!found.shape) return;
  ShapeResult shape{.dims = found.shape->dims, .weight = found.shape->weight};
  report.flops = found.flops;
  report.bytes = found.bytes;
  report.seeds.insert(report.seeds.end(), found.seeds.begin(), found.seeds.end());
  for (const AbsentBaseline& absent : found.absent)
    report.absent_baselines.push_back({absent.name, absent.reason, absent.remedy});
  for (const BaselineRefusal& refusal : found.baseline_refusals)
    report.notes.push_back(fmt::format("baseline {} fails a gate on this task: {}: {}", refusal.baseline,
                                       name_of(refusal.gate), refusal.reason));
  if (found.build) {
    const Build& build = *found.build;
    report.build = BuildFigures{build.seconds, build.from_cache, build.march, build.command, build.log};
  }
  if (found.times) {
    shape.time_ns = found.times->ns;
    if (!found.times->opponents.empty()) {
      const OpponentTimes& fastest = found.times->opponents.front();
      shape.speedup = Speedup{fastest.speedup, fastest.name};
    }
    add_times(*found.times, report);
  }
  if (found.roofline) {
    report.roofline = Roofline{found.roofline->bound, found.roofline->fraction};
    report.achieved = Achieved{found.roofline->gflops, found.roofline->gbytes_s};
  }
  if (!found.within_reach && !found.verdict.failed())
    report.notes.push_back(
        "judged on small, odd and hidden shapes only: a call on the asked ones takes too long under the "
        "emulator");
  shape.modelled_ns = found.modelled_ns;
  for (const Fact& fact : found.modelled_from)
    shape.modelled_from.push_back({fact.name, fact.value, fact.unit, fact.source});
  if (!found.modelled_absent_because.empty())
    report.notes.push_back("no modelled time: " + found.modelled_absent_because);
  report.cases.push_back(std::move(shape));
}

// The weighted mean of the cases' times; nothing unless all were timed.
std::optional<Interval> mean_time(const EvalReport& report) {
  Interval sum;
  double weights = 0;
  for (const ShapeResult& shape : report.cases) {
    if (!shape.time_ns) return std::nullopt;
    add(sum, *shape.time_ns, shape.weight);
    weights += shape.weight;
  }
  if (weights == 0) return std::nullopt;
  return over(sum, weights);
}

// The headline: the weighted geometric mean of the cases' speedups, each against the fastest baseline there.
std::optional<Speedup> headline(const EvalReport& report) {
  GeometricMean mean;
  std::string against;
  for (const ShapeResult& shape : report.cases) {
    if (!shape.speedup) return std::nullopt;
    mean.add(*shape.speedup, shape.weight);
    if (against.find(shape.speedup->against) == std::string::npos)
      against += (against.empty() ? "" : ", ") + shape.speedup->against;
  }
  if (mean.empty()) return std::nullopt;
  return Speedup{mean.get(), against};
}

// Each baseline over the cases it was timed in, in the order of the first case.
std::vector<BaselineResult> baselines(const Judgement& judgement) {
  std::vector<BaselineResult> all;
  std::vector<GeometricMean> speedups;
  std::vector<double> weights;
  for (const CaseJudgement& found : judgement.cases) {
    const double weight = found.shape->weight;
    for (const OpponentTimes& opponent : found.times->opponents) {
      auto at = static_cast<std::size_t>(std::ranges::find(all, opponent.name, &BaselineResult::name) -
                                         all.begin());
      if (at == all.size()) {
        all.push_back({.name = opponent.name, .what = opponent.what, .release = opponent.release});
        speedups.emplace_back();
        weights.push_back(0);
      }
      add(all[at].time_ns, opponent.ns, weight);
      speedups[at].add(opponent.speedup, weight);
      weights[at] += weight;
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].time_ns = over(all[i].time_ns, weights[i]);
    all[i].speedup = Speedup{speedups[i].get(), all[i].name};
    for (const CaseJudgement& found : judgement.cases)
      for (const BaselineRefusal& refusal : found.baseline_refusals)
        if (refusal.baseline == all[i].name && std::ranges::count(all[i].failed_gates, refusal.gate) == 0)
          all[i].failed_gates.push_back(refusal.gate);
  }
  return all;
}

std::optional<Modelled> modelled(const CostModel& model, const EvalReport& report) {
  double sum = 0, weights = 0;
  for (const ShapeResult& shape : report.cases) {
    if (!shape.modelled_ns) return std::nullopt;
    sum += shape.weight * *shape.modelled_ns;
    weights += shape.weight;
  }
  if (weights == 0) return std::nullopt;
  return Modelled{sum / weights, model.label()};
}

}  // namespace

EvalReport report_of(const JudgeSetup& setup, const Program& program, const JudgeRequest& request,
                     const Judgement& judgement) {
  EvalReport report = asked(setup, request);
  if (program) add_program(*program, report);
  for (const CaseJudgement& found : judgement.cases) add_case(found, report);
  if (setup.task.origin.find("KernelBench") == std::string::npos) report.kernelbench.reset();
  if (const Failure* failure = judgement.failure()) {
    report.outcome = outcome_of(*failure);
    report.gate = gate_of(*failure);
    report.reason = reason_text(*failure);
    report.evidence = evidence_of(*failure);
  } else {
    report.time_ns = mean_time(report);
    if (report.time_ns) {
      report.speedup = headline(report);
      report.baselines = baselines(judgement);
      if (report.baselines.size() == 1 && report.baselines.front().name == "onednn")
        report.notes.push_back("only the embedded baseline onednn was present");
    }
    if (setup.modelled()) report.modelled = modelled(*setup.platform.model, report);
  }
  if (report.passed() && report.check_only)
    report.time_absent_reason = "--check judges values only";
  else if (setup.modelled())
    report.time_absent_reason = "programs for this platform are ranked by a model: verified, not timed";
  else if (!setup.timed())
    report.time_absent_reason =
        "the platform is emulated here, and there is no model to rank by: verified, not timed";
  report.seconds = judgement.seconds;
  report.advice = next_steps(report);
  return report;
}

}  // namespace kforge
