#include "judge/fill_report.h"

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

TimeInterval interval(const Interval& i) { return {i.value, i.lo, i.hi}; }

// Adds a case's figures to a weighted sum.
void accumulate(TimeInterval& sum, const Interval& part, double weight) {
  sum.median += weight * part.value;
  sum.lo += weight * part.lo;
  sum.hi += weight * part.hi;
}

void scale(TimeInterval& sum, double factor) {
  sum.median *= factor;
  sum.lo *= factor;
  sum.hi *= factor;
}

// The headline: the weighted geometric mean of the cases' speedups, each against the fastest baseline there.
std::optional<Speedup> headline(const EvalReport& report) {
  double log_value = 0, log_lo = 0, log_hi = 0, weights = 0;
  std::string against;
  for (const ShapeResult& shape : report.cases) {
    if (!shape.speedup) return std::nullopt;
    log_value += shape.weight * std::log(shape.speedup->value);
    log_lo += shape.weight * std::log(shape.speedup->lo);
    log_hi += shape.weight * std::log(shape.speedup->hi);
    weights += shape.weight;
    if (against.find(shape.speedup->against) == std::string::npos)
      against += (against.empty() ? "" : ", ") + shape.speedup->against;
  }
  if (weights == 0) return std::nullopt;
  return Speedup{std::exp(log_value / weights), std::exp(log_lo / weights), std::exp(log_hi / weights),
                 against};
}

void advise(EvalReport& report) {
  auto say = [&](std::string text) { report.advice.push_back(std::move(text)); };
  if (report.outcome == "compile_error")
    return say("mend the first error above and run the same command again");
  if (report.outcome == "no_program")
    return say("give --kernel a C++ file that defines kernel(); `kforge tasks show " + report.task +
               "` prints its prototype");
  if (report.outcome == "timeout")
    return say("raise the limit with --timeout SECONDS if the kernel is only slow");
  if (report.outcome == "crash")
    return say(
        "build it with -fsanitize=address outside KForge, or compare index arithmetic with the shapes in "
        "task.h");
  if (report.outcome == "wrong_value") {
    say("`--explain` shows every gate with its evidence");
    if (report.precision == "fp32" && report.error && report.gate == "accuracy")
      say("if the arithmetic is meant to be coarser, judge it under --precision high or bf16");
    return;
  }
  if (report.outcome == "rejected")
    return say("docs/security.md explains each gate and what it protects against");
  if (report.check_only) return say("run without --check to time it");
  if (!report.speedup)
    return say("no baseline was present: `scripts/setup.sh platforms` installs more of them");
  if (report.roofline && report.roofline->fraction < 0.5)
    say(fmt::format("it runs at {:.0f} % of the {} roofline: there is room", 100 * report.roofline->fraction,
                    report.roofline->bound));
  say("`kforge recheck last` measures it once more");
}

}  // namespace

void fill_machine(const Machine& machine, EvalReport& report) {
  report.machine = machine.id();
  report.machine_text =
      fmt::format("{}, {} thread{}", machine.cpu_model, machine.threads(), machine.threads() == 1 ? "" : "s");
  report.kforge_version = KFORGE_VERSION;
}

void fill_task(const BoundTask& task, EvalReport& report) {
  report.cases.push_back({task.shape_case.dims, task.shape_case.weight, std::nullopt, std::nullopt});
  report.flops = task.cost.flops;
  report.bytes = task.cost.compulsory_bytes;
}

void fill_verdict(const Verdict& verdict, EvalReport& report) {
  report.gates.insert(report.gates.end(), verdict.gates.begin(), verdict.gates.end());
  for (const std::string& flag : verdict.flags)
    if (std::ranges::find(report.flags, flag) == report.flags.end()) report.flags.push_back(flag);
  if (verdict.failed()) {
    report.outcome = outcome_name(*verdict.failure);
    report.gate = gate_name(*verdict.failure);
    report.reason = reason_text(*verdict.failure);
    report.evidence = evidence_json(*verdict.failure);
  }
  if (verdict.check_call_ns > 0) {
    report.error = verdict.error;
    report.kernelbench = KernelBenchCriterion{verdict.kernelbench_allclose, verdict.kernelbench_max_abs, 1e-4,
                                              "|a - b| <= 1e-4 + 1e-4 |b| on the task's own inputs"};
  }
  if (verdict.usage.has_prepare)
    report.setup = SetupFigures{verdict.usage.setup_ns, verdict.usage.setup_bytes};
  report.peak_memory_bytes = std::max<std::uint64_t>(report.peak_memory_bytes, verdict.usage.peak_bytes);
}

void fill_build(const Build& build, EvalReport& report) {
  report.build = BuildFigures{build.seconds, build.from_cache, build.march, build.command, build.log};
}

void fill_times(const TimedFindings& findings, EvalReport& report) {
  // Cases are judged in order: the first without a time is the one these figures belong to.
  auto shape = std::ranges::find_if(report.cases, [](const ShapeResult& s) { return !s.time_ns; });
  KF_CHECK(shape != report.cases.end(), "figures without a shape case");
  shape->time_ns = interval(findings.ns);
  if (!report.time_ns) report.time_ns.emplace();
  accumulate(*report.time_ns, findings.ns, shape->weight);
  if (!findings.rivals.empty()) {
    const RivalTimes& fastest = findings.rivals.front();
    shape->speedup = Speedup{fastest.speedup.value, fastest.speedup.lo, fastest.speedup.hi, fastest.name};
  }
  for (const RivalTimes& rival : findings.rivals) {
    auto known = std::ranges::find(report.baselines, rival.name, &BaselineResult::name);
    if (known == report.baselines.end()) {
      report.baselines.push_back({rival.name, rival.what, {}, std::nullopt, {}});
      known = report.baselines.end() - 1;
    }
    accumulate(known->time_ns, rival.ns, shape->weight);
    known->speedup = Speedup{rival.speedup.value, rival.speedup.lo, rival.speedup.hi, rival.name};
    report.samples.push_back({rival.name, rival.samples});
  }
  for (const AbsentRival& absent : findings.absent)
    report.absent_baselines.push_back({absent.name, absent.reason, ""});
  report.samples.push_back({"candidate", findings.samples});
  report.spread = std::max(report.spread, findings.spread);
  report.rounds = findings.rounds;
  report.thread_use = findings.thread_use;
  report.clock = fmt::format("parent's wall time less {:.0f} us for the message, batches of {} call{}",
                             findings.message_ns / 1e3, findings.batch, findings.batch == 1 ? "" : "s");
  if (findings.dropped > 0)
    report.notes.push_back(fmt::format("{} rounds dropped: the hypervisor took time away", findings.dropped));
  if (findings.usage.has_prepare)
    report.setup = SetupFigures{findings.usage.setup_ns, findings.usage.setup_bytes};
  report.peak_memory_bytes = std::max<std::uint64_t>(report.peak_memory_bytes, findings.usage.peak_bytes);
}

void fill_modelled(double ns, const CostModel& model, EvalReport& report) {
  auto shape = std::ranges::find_if(report.cases, [](const ShapeResult& s) { return !s.modelled_ns; });
  KF_CHECK(shape != report.cases.end(), "a modelled figure without a shape case");
  shape->modelled_ns = ns;
  if (!report.modelled)
    report.modelled = Modelled{0, fmt::format("{} {}", model.command.name, model.version)};
  report.modelled->ns += shape->weight * ns;
}

void fill_profile(const RooflinePosition& position, EvalReport& report) {
  report.roofline = Roofline{position.bound, position.fraction};
  report.achieved = Achieved{position.gflops, position.gbytes_s};
}

void fill_summary(const Task& task, EvalReport& report) {
  report.task = task.suite.empty() ? task.name : task.suite + "/" + task.name;
  if (task.suite.empty()) report.task_path = task.path;
  report.task_hash = task.content_hash;
  report.notes.insert(report.notes.begin(), task.notes.begin(), task.notes.end());
  if (task.origin.find("KernelBench") == std::string::npos) report.kernelbench.reset();
  if (report.outcome.empty()) report.outcome = "passed";
  double weights = 0;
  bool all_modelled = report.modelled.has_value();
  for (const ShapeResult& shape : report.cases) {
    weights += shape.weight;
    all_modelled = all_modelled && shape.modelled_ns;
  }
  if (report.passed() && all_modelled)
    report.modelled->ns /= weights;
  else
    report.modelled.reset();
  if (!report.passed()) {
    report.time_ns.reset();
    report.baselines.clear();
  } else if (report.time_ns) {
    scale(*report.time_ns, 1 / weights);
    for (BaselineResult& baseline : report.baselines) scale(baseline.time_ns, 1 / weights);
    report.speedup = headline(report);
    if (report.baselines.size() == 1 && report.baselines.front().name == "onednn")
      report.notes.push_back("only the embedded baseline onednn was present");
  } else if (report.check_only) {
    report.time_absent_reason = "--check judges values only";
  }
  advise(report);
}

StoredResult to_stored(const EvalReport& report) {
  StoredResult stored;
  stored.id = report.result_id;
  stored.created_at = report.created_at;
  stored.task = report.task;
  stored.task_hash = report.task_hash;
  stored.shape_set = report.shape_set;
  stored.platform = report.platform;
  stored.precision = report.precision;
  stored.outcome = report.outcome;
  stored.gate = report.gate;
  stored.machine = report.machine;
  if (report.time_ns) stored.time_ns = report.time_ns->median;
  if (report.speedup) {
    stored.speedup = report.speedup->value;
    stored.against = report.speedup->against;
  }
  stored.document = to_json(report, true);
  for (const GateResult& gate : report.gates)
    stored.gates.push_back({gate.name, std::string(name_of(gate.state)), gate.summary, gate.evidence});
  for (const SampleSeries& series : report.samples)
    stored.samples.push_back({series.contender, series.ns_per_call});
  for (const SeedRecord& seed : report.seeds) stored.seeds.push_back({seed.purpose, seed.seed});
  return stored;
}

}  // namespace kforge
