// Reports for tests: one that passed with every field filled, and one that was refused.
#pragma once

#include "store/eval_report.h"

namespace kforge {

inline EvalReport passed_report() {
  EvalReport report;
  report.result_id = "3f2k9a0bx1cd";
  report.created_at = "2026-01-31T12:00:00Z";
  report.task = "core/softmax";
  report.task_hash = "ab12";
  report.shape_set = "bench";
  report.cases = {{.dims = {{"B", 4096}, {"D", 1024}}, .weight = 1}};
  report.kernel_path = "softmax.cc";
  report.kernel_hash = "cd34";
  report.arithmetic = "fp32";
  report.threads = 2;
  report.outcome = Outcome::kPassed;
  report.gates = {
      {Gate::kShape, GateState::kPassed, "1 output"},
      {Gate::kAccuracy, GateState::kPassed, "8 input kinds", ComparedOutput{.output = "y", .elements = 4096}},
      {Gate::kGenerality, GateState::kSkipped, "not claimed"},
      {Gate::kFloor, GateState::kFlagged, "faster than the flop bound", Figures{{{"flops_ns", 12.5}}}}};
  report.flags = {"algebraic"};
  report.error = ErrorFigures{1e-6, 2e-7, 1e-7, 5e-6, 0.2};
  report.kernelbench = KernelBenchCriterion{true, 1e-6, 1e-4, "allclose 1e-4"};
  report.time_ns = Interval{3.42e6, 3.40e6, 3.45e6};
  report.baselines = {
      {"onednn",
       "oneDNN 2.6.3, 2 threads",
       {6.26e6, 6.2e6, 6.3e6},
       Speedup{{1.83, 1.80, 1.86}, "onednn"},
       {}},
      {"torch", "torch 1.13", {9.1e6, 9.0e6, 9.2e6}, Speedup{{2.66, 2.6, 2.7}, "torch"}, {Gate::kExtreme}}};
  report.absent_baselines = {{"onnxruntime", "not installed", "scripts/setup.sh platforms"}};
  report.speedup = Speedup{{1.83, 1.80, 1.86}, "onednn"};
  report.spread = 0.012;
  report.rounds = 40;
  report.load = MachineLoad{0.1, 0.01, 0.2, 0.03, false};
  report.kernel_threads = 1;
  report.clock = "parent";
  report.roofline = Roofline{"memory", 0.78};
  report.achieved = Achieved{5.1, 22.4};
  report.setup = SetupFigures{1.2e6, 4'000'000};
  report.peak_memory_bytes = 130'000'000;
  report.thread_use = 0.96;
  report.flops = 1e9;
  report.bytes = 3e7;
  report.build = BuildFigures{0.34, true, "avx512", {"g++", "-O3"}, ""};
  report.sandbox = "bubblewrap";
  report.asked_baselines = {"onednn", "mine=/home/me/mine.cc"};
  report.deterministic = true;
  report.asked_march = "avx2";
  report.machine = "m1";
  report.machine_text = "Some Processor, 2 threads";
  report.kforge_version = "0.1.0";
  report.notes = {"a note"};
  report.advice = {"look at the stores"};
  report.seeds = {{"check", 0xfedcba9876543210ull}};
  report.seconds = {{"build", 0.34}, {"total", 5.5}};
  report.samples = {{"candidate", {3.4e6, 3.5e6}}};
  return report;
}

// On a platform whose objective is a model.
inline EvalReport modelled_report() {
  EvalReport report = passed_report();
  report.platform = "board";
  report.time_ns.reset();
  report.speedup.reset();
  report.baselines.clear();
  report.absent_baselines.clear();
  report.roofline.reset();
  report.samples.clear();
  report.cases.front().modelled_ns = 7.5e5;
  report.modelled = Modelled{7.5e5, "cycles 2"};
  report.time_absent_reason = "verified, not timed";
  return report;
}

inline EvalReport refused_report() {
  EvalReport report;
  report.created_at = "2026-01-31T12:00:00Z";
  report.task = "core/softmax";
  report.shape_set = "bench";
  report.outcome = Outcome::kWrongValue;
  report.gate = Gate::kAccuracy;
  report.reason = "37 of 4096 elements of y are outside the fp32 policy on normal inputs";
  report.evidence = ComparedOutput{.elements = 4096, .wrong = 37, .first_wrong = {0, 3}};
  report.gates = {{Gate::kShape, GateState::kPassed, "1 output"},
                  {Gate::kAccuracy, GateState::kFailed, "37 wrong"}};
  report.sandbox = "bubblewrap";
  report.advice = {"look at row 0"};
  return report;
}

}  // namespace kforge
