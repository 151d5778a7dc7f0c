// The evaluation report as JSON and back. Every key is always there; what has no value is null.
#include <charconv>

#include "store/eval_report.h"
#include "store/evidence_json.h"
#include "store/json_parts.h"

namespace kforge {
namespace {

using Json = JsonReader::Json;

Evidence read_evidence(const JsonReader& r) {
  auto found = r.object().find("evidence");
  return found == r.object().end() ? Evidence{} : evidence_from_json(*found);
}

Json time_json(const Interval& time) { return {{"median", time.value}, {"lo", time.lo}, {"hi", time.hi}}; }
Interval read_time(const JsonReader& r) {
  return {r.get<double>("median"), r.get<double>("lo"), r.get<double>("hi")};
}

Json baseline_json(const BaselineResult& baseline) {
  return {{"name", baseline.name},
          {"time_ns", time_json(baseline.time_ns)},
          {"what", baseline.what},
          {"speedup", optional_json(baseline.speedup, speedup_json)},
          {"version", baseline.release.version},
          {"released", baseline.release.released},
          {"old", baseline.release.old},
          {"failed_gates", array_json(baseline.failed_gates, [](Gate gate) { return Json(name_of(gate)); })}};
}
BaselineResult read_baseline(const JsonReader& r) {
  BaselineResult baseline{.name = r.get<std::string>("name"), .what = r.get_or<std::string>("what", "")};
  baseline.release = {r.get_or<std::string>("version", ""), r.get_or<std::string>("released", ""),
                      r.get_or("old", false)};
  if (auto time = r.optional("time_ns", read_time)) baseline.time_ns = *time;
  baseline.speedup = r.optional("speedup", read_speedup);
  for (const std::string& name : r.texts("failed_gates"))
    if (auto gate = gate_from_name(name)) baseline.failed_gates.push_back(*gate);
  return baseline;
}

Json case_json(const ShapeResult& shape) {
  return {{"dims", shape.dims},
          {"weight", shape.weight},
          {"time_ns", optional_json(shape.time_ns, time_json)},
          {"speedup", optional_json(shape.speedup, speedup_json)},
          {"modelled_ns", or_null(shape.modelled_ns)},
          {"modelled_from", array_json(shape.modelled_from, [](const ModelInput& m) {
             return Json{{"name", m.name}, {"value", m.value}, {"unit", m.unit}, {"of", m.of}};
           })}};
}
ShapeResult read_case(const JsonReader& r) {
  ShapeResult shape;
  if (auto dims = r.object().find("dims"); dims != r.object().end() && dims->is_object())
    for (const auto& [name, size] : dims->items())
      if (size.is_number_integer()) shape.dims[name] = size.get<std::int64_t>();
  shape.weight = r.get_or("weight", 1.0);
  shape.time_ns = r.optional("time_ns", read_time);
  shape.speedup = r.optional("speedup", read_speedup);
  if (double ns = r.get_or("modelled_ns", 0.0); ns > 0) shape.modelled_ns = ns;
  r.each("modelled_from", [&](const JsonReader& m) {
    shape.modelled_from.push_back({m.get<std::string>("name"), m.get_or("value", 0.0),
                                   m.get_or<std::string>("unit", ""), m.get_or<std::string>("of", "")});
  });
  return shape;
}

Json gate_json(const GateResult& gate) {
  return {{"name", name_of(gate.gate)},
          {"state", name_of(gate.state)},
          {"summary", gate.summary},
          {"evidence", to_json(gate.evidence)}};
}
GateResult read_gate(const JsonReader& r) {
  GateResult gate{.gate = r.named("name", gate_from_name), .summary = r.get_or<std::string>("summary", "")};
  gate.state = r.named("state", gate_state_from_name);
  gate.evidence = read_evidence(r);
  return gate;
}

Json build_json(const BuildFigures& build) {
  return {{"seconds", build.seconds},
          {"from_cache", build.from_cache},
          {"march", build.march},
          {"command", build.command},
          {"log", build.log}};
}
BuildFigures read_build(const JsonReader& r) {
  return {r.get<double>("seconds"), r.get<bool>("from_cache"), r.get_or<std::string>("march", ""),
          r.texts("command"), r.get_or<std::string>("log", "")};
}

Json seed_json(const SeedRecord& seed) {
  return {{"purpose", seed.purpose}, {"seed", fmt::format("{:016x}", seed.seed)}};
}
SeedRecord read_seed(const JsonReader& r) {
  SeedRecord record{r.get<std::string>("purpose"), 0};
  std::string text = r.get<std::string>("seed");
  std::from_chars(text.data(), text.data() + text.size(), record.seed, 16);
  return record;
}

Json error_json(const ErrorFigures& e) {
  return {{"max_abs", e.max_abs},
          {"max_rel", e.max_rel},
          {"rel_norm", e.rel_norm},
          {"bound", e.bound},
          {"of_bound", e.of_bound}};
}
Json kernelbench_json(const KernelBenchCriterion& k) {
  return {{"passed", k.passed}, {"max_abs", k.max_abs}, {"tolerance", k.tolerance}, {"what", k.what}};
}
Json samples_json(const SampleSeries& s) {
  return {{"contender", s.contender}, {"ns_per_call", s.ns_per_call}};
}
SampleSeries read_samples(const JsonReader& r) {
  SampleSeries series{r.get<std::string>("contender"), {}};
  if (auto found = r.object().find("ns_per_call"); found != r.object().end() && found->is_array())
    for (const Json& value : *found)
      if (value.is_number()) series.ns_per_call.push_back(value.get<double>());
  return series;
}

}  // namespace

std::string to_json(const EvalReport& report, bool with_samples) {
  Json json;
  json["schema"] = EvalReport::kSchema;
  json["id"] = null_when_empty(report.result_id);
  json["created_at"] = report.created_at;
  json["task"] = report.task;
  json["task_hash"] = report.task_hash;
  json["platform"] = report.platform;
  json["platform_hash"] = null_when_empty(report.platform_hash);
  json["device"] = {{"name", report.device.name},
                    {"driver", null_when_empty(report.device.driver)},
                    {"emulated", report.device.emulated}};
  json["shape_set"] = report.shape_set;
  json["dims"] = report.cases.empty() ? Json::object() : Json(report.cases.front().dims);
  json["kernel"] = {{"path", report.kernel_path}, {"hash", report.kernel_hash}};
  json["outcome"] = name_of(report.outcome);
  json["gate"] = optional_json(report.gate, [](Gate gate) { return Json(name_of(gate)); });
  json["reason"] = null_when_empty(report.reason);
  json["evidence"] = to_json(report.evidence);
  json["time_ns"] = optional_json(report.time_ns, time_json);
  json["time_absent_reason"] = null_when_empty(report.time_absent_reason);
  json["modelled"] = optional_json(report.modelled, [](const Modelled& m) {
    return Json{{"ns", m.ns}, {"model", m.model}};
  });
  json["speedup"] = optional_json(report.speedup, speedup_json);
  json["baselines"] = array_json(report.baselines, baseline_json);
  json["absent_baselines"] = array_json(report.absent_baselines, [](const AbsentBaselineNote& note) {
    return Json{{"name", note.name}, {"reason", note.reason}, {"remedy", note.remedy}};
  });
  json["precision"] = report.precision;
  json["arithmetic"] = null_when_empty(report.arithmetic);
  json["error"] = optional_json(report.error, error_json);
  json["kernelbench"] = optional_json(report.kernelbench, kernelbench_json);
  json["roofline"] = optional_json(report.roofline, roofline_json);
  json["achieved"] = optional_json(report.achieved, [](const Achieved& a) {
    return Json{{"gflops", a.gflops}, {"gbytes_s", a.gbytes_s}};
  });
  json["setup"] = optional_json(report.setup, [](const SetupFigures& s) {
    return Json{{"ns", s.ns}, {"bytes", s.bytes}};
  });
  json["peak_memory_bytes"] = report.peak_memory_bytes ? Json(report.peak_memory_bytes) : Json(nullptr);
  json["task_path"] = null_when_empty(report.task_path);
  json["seconds"] = report.seconds;
  json["thread_use"] = report.thread_use > 0 ? Json(report.thread_use) : Json(nullptr);
  json["kernel_threads"] = report.kernel_threads > 0 ? Json(report.kernel_threads) : Json(nullptr);
  json["load"] = optional_json(report.load, [](const MachineLoad& l) {
    return Json{{"busy", l.busy()},         {"disturbed", l.disturbed},     {"steal", l.steal},
                {"run_queue", l.run_queue}, {"calibration", l.calibration}, {"rounds_lost", l.rounds_lost}};
  });
  json["spread"] = report.spread;
  json["rounds"] = report.rounds;
  json["clock"] = report.clock;
  json["flops"] = report.flops;
  json["bytes"] = report.bytes;
  json["cache"] = report.cache;
  json["threads"] = report.threads;
  json["general"] = report.general;
  json["libraries_allowed"] = report.libraries_allowed;
  json["check_only"] = report.check_only;
  json["asked"] = {{"baselines", report.asked_baselines},
                   {"deterministic", report.deterministic},
                   {"march", null_when_empty(report.asked_march)},
                   {"set", report.set},
                   {"timeout", report.asked_timeout}};
  json["flags"] = report.flags;
  json["gates"] = array_json(report.gates, gate_json);
  json["cases"] = array_json(report.cases, case_json);
  json["build"] = optional_json(report.build, build_json);
  json["sandbox"] = report.sandbox;
  json["machine"] = {{"id", report.machine}, {"text", report.machine_text}};
  json["kforge_version"] = report.kforge_version;
  json["notes"] = report.notes;
  json["advice"] = report.advice;
  json["seeds"] = array_json(report.seeds, seed_json);
  if (with_samples) json["samples"] = array_json(report.samples, samples_json);
  return dump(json, 2);
}

Result<EvalReport> eval_report_from_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("not JSON");
  std::string problem;
  JsonReader r(json, "", &problem);
  if (auto schema = r.get<std::string>("schema"); problem.empty() && schema != EvalReport::kSchema)
    return fail("schema is \"{}\", this KForge reads \"{}\"", schema, EvalReport::kSchema);
  EvalReport report;
  report.result_id = r.get_or<std::string>("id", "");
  report.created_at = r.get<std::string>("created_at");
  report.task = r.get<std::string>("task");
  report.task_path = r.get_or<std::string>("task_path", "");
  report.task_hash = r.get<std::string>("task_hash");
  report.platform = r.get<std::string>("platform");
  report.platform_hash = r.get_or<std::string>("platform_hash", "");
  r.optional("device", [&](const JsonReader& d) {
    report.device = {d.get_or<std::string>("name", ""), d.get_or<std::string>("driver", ""),
                     d.get_or("emulated", false)};
    return true;
  });
  report.shape_set = r.get<std::string>("shape_set");
  r.optional("kernel", [&](const JsonReader& kernel) {
    report.kernel_path = kernel.get<std::string>("path");
    report.kernel_hash = kernel.get<std::string>("hash");
    return true;
  });
  report.outcome = r.named("outcome", outcome_from_name);
  if (r.has("gate")) report.gate = r.named("gate", gate_from_name);
  report.reason = r.get_or<std::string>("reason", "");
  report.evidence = read_evidence(r);
  report.time_ns = r.optional("time_ns", read_time);
  report.time_absent_reason = r.get_or<std::string>("time_absent_reason", "");
  report.modelled = r.optional("modelled", [](const JsonReader& m) {
    return Modelled{m.get<double>("ns"), m.get_or<std::string>("model", "")};
  });
  report.speedup = r.optional("speedup", read_speedup);
  r.each("baselines", [&](const JsonReader& b) { report.baselines.push_back(read_baseline(b)); });
  r.each("absent_baselines", [&](const JsonReader& b) {
    report.absent_baselines.push_back({b.get<std::string>("name"), b.get_or<std::string>("reason", ""),
                                       b.get_or<std::string>("remedy", "")});
  });
  report.precision = r.get<std::string>("precision");
  report.arithmetic = r.get_or<std::string>("arithmetic", "");
  report.error = r.optional("error", [](const JsonReader& e) {
    return ErrorFigures{e.get_or("max_abs", 0.0), e.get_or("max_rel", 0.0), e.get_or("rel_norm", 0.0),
                        e.get_or("bound", 0.0), e.get_or("of_bound", 0.0)};
  });
  report.kernelbench = r.optional("kernelbench", [](const JsonReader& k) {
    return KernelBenchCriterion{k.get<bool>("passed"), k.get_or("max_abs", 0.0), k.get_or("tolerance", 0.0),
                                k.get_or<std::string>("what", "")};
  });
  report.roofline = r.optional("roofline", read_roofline);
  report.achieved = r.optional("achieved", [](const JsonReader& a) {
    return Achieved{a.get<double>("gflops"), a.get<double>("gbytes_s")};
  });
  report.setup = r.optional("setup", [](const JsonReader& s) {
    return SetupFigures{s.get<double>("ns"), s.get<std::uint64_t>("bytes")};
  });
  report.peak_memory_bytes = r.get_or("peak_memory_bytes", std::uint64_t{0});
  if (auto parts = json.find("seconds"); parts != json.end() && parts->is_object())
    for (const auto& [name, seconds] : parts->items())
      if (seconds.is_number()) report.seconds[name] = seconds.get<double>();
  report.thread_use = r.get_or("thread_use", 0.0);
  report.kernel_threads = r.get_or("kernel_threads", 0);
  report.load = r.optional("load", [](const JsonReader& l) {
    return MachineLoad{l.get_or("disturbed", 0.0), l.get_or("steal", 0.0), l.get_or("run_queue", 0.0),
                       l.get_or("calibration", 0.0), l.get_or("rounds_lost", false)};
  });
  report.spread = r.get_or("spread", 0.0);
  report.rounds = r.get_or("rounds", 0);
  report.clock = r.get_or<std::string>("clock", "");
  report.flops = r.get_or("flops", 0.0);
  report.bytes = r.get_or("bytes", 0.0);
  report.cache = r.get<std::string>("cache");
  report.threads = r.get<int>("threads");
  report.general = r.get<bool>("general");
  report.libraries_allowed = r.get_or("libraries_allowed", false);
  report.check_only = r.get_or("check_only", false);
  r.optional("asked", [&](const JsonReader& asked) {
    report.asked_baselines = asked.texts("baselines");
    report.deterministic = asked.get_or("deterministic", false);
    report.asked_march = asked.get_or<std::string>("march", "");
    report.set = asked.texts("set");
    report.asked_timeout = asked.get_or("timeout", 0.0);
    return true;
  });
  report.flags = r.texts("flags");
  r.each("gates", [&](const JsonReader& g) { report.gates.push_back(read_gate(g)); });
  r.each("cases", [&](const JsonReader& c) { report.cases.push_back(read_case(c)); });
  report.build = r.optional("build", read_build);
  report.sandbox = r.get<std::string>("sandbox");
  r.optional("machine", [&](const JsonReader& m) {
    report.machine = m.get<std::string>("id");
    report.machine_text = m.get_or<std::string>("text", "");
    return true;
  });
  report.kforge_version = r.get_or<std::string>("kforge_version", "");
  report.notes = r.texts("notes");
  report.advice = r.texts("advice");
  r.each("seeds", [&](const JsonReader& s) { report.seeds.push_back(read_seed(s)); });
  r.each("samples", [&](const JsonReader& s) { report.samples.push_back(read_samples(s)); });
  if (!problem.empty()) return fail("not an evaluation report: {}", problem);
  return report;
}

}  // namespace kforge
