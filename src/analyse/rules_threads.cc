// Rules about threads, and about what is paid in every call whatever its size.
#include <fmt/core.h>

#include <algorithm>

#include "analyse/rules.h"

namespace kforge {
namespace {

std::optional<double> time_us(const Known& known) {
  if (auto us = known.fact("time_us")) return us;
  const Attempt* program = known.input().program;
  return program && program->judgement && program->judgement->time_ns
             ? std::optional(*program->judgement->time_ns / 1e3)
             : std::nullopt;
}

int threads(const Known& known) {
  return known.input().setting ? known.input().setting->threads
                               : static_cast<int>(known.fact_or("threads", 1));
}

std::optional<Advice> too_few_threads(const Known& known) {
  auto use = known.fact("thread_use");
  int all = threads(known);
  if (!use || all < 2 || *use > 0.7 || time_us(known).value_or(1e3) < 40) return std::nullopt;
  if (known.busy_machine()) return std::nullopt;
  bool has_omp = known.source().find("omp parallel") != std::string::npos;
  // A program with a parallel region uses one thread only where the samples show that.
  bool alone = *use * all < 1.25 && (!has_omp || known.fact_or("threads_seen", all) < 2 ||
                                     known.fact_or("thread_balance", 1) < 0.2);
  bool sampled = known.fact("thread_balance").has_value();
  double factor = std::min<double>(all, 0.95 / std::max(0.05, *use));
  if (known.bound() == "memory")
    factor = std::min(factor, 1 / std::max(0.1, known.roofline_fraction().value_or(0.3)));
  return Advice{
      .bottleneck = alone ? "one thread does all the work" : "threads wait",
      .evidence = fmt::format(
          "{:.0f} % of {} threads' time is used{}", 100 * *use, all,
          alone && has_omp ? "; the program has a parallel region, but one thread gets all of its work" : ""),
      .change = alone && !has_omp ? "Share the largest outer loop among the threads: one #pragma omp "
                                    "parallel for schedule(static) per call, each thread a contiguous piece."
                                  : "Give every thread the same amount: collapse outer loops or split the "
                                    "longest one (columns, or the reduction with private partial sums), "
                                    "one parallel region per call, schedule(static) when pieces are alike "
                                    "and dynamic when they are not.",
      .expected_gain = std::clamp(factor, 1.1, static_cast<double>(all)),
      .confidence = alone || sampled ? 0.75 : 0.3,  // unsampled, it may as well be a busy machine
      .tag = "parallelize"};
}

std::optional<Advice> unbalanced(const Known& known) {
  auto balance = known.fact("thread_balance");
  if (!balance || *balance > 0.75 || threads(known) < 2 || time_us(known).value_or(1e3) < 40)
    return std::nullopt;
  return Advice{
      .bottleneck = "threads have unequal work",
      .evidence = fmt::format("the least busy thread works {:.0f} % as long as the busiest", 100 * *balance),
      .change =
          "Even the work out: more and smaller pieces with schedule(dynamic, n) or guided, or pieces cut by "
          "work instead of by index.",
      .expected_gain = std::clamp(2 / (1 + *balance), 1.05, 2.0),
      .confidence = 0.5,
      .tag = "parallelize"};
}

std::optional<Advice> waiting(const Known& known) {
  double waits = known.fact_or("samples_openmp", 0);
  if (waits < 25 || threads(known) < 2 || known.fact("thread_balance").value_or(1) < 0.75)
    return std::nullopt;
  double us = time_us(known).value_or(1e3);
  bool tiny = us < 60;
  if (known.busy_machine() && !tiny) return std::nullopt;
  int waits_in_source = known.count("omp parallel") + known.count("omp barrier") + known.count("omp for") -
                        known.count("nowait");
  if (!tiny && waits_in_source <= 1) return std::nullopt;  // one region that waits once: nothing to join
  return Advice{.bottleneck = "time in barriers and in starting parallel regions",
                .evidence = fmt::format(
                    "{:.0f} % of samples are inside the OpenMP run-time, a call takes {:.3g} us", waits, us),
                .change = tiny ? "Use fewer threads or none: below some 20 us of work a parallel region "
                                 "costs more than it brings."
                               : "One parallel region per call: put the loops into it with nowait where they "
                                 "are independent, instead of opening a region for each.",
                .expected_gain = amdahl(waits / 100 * 0.7, 5),
                .confidence = 0.5,
                .tag = "overhead"};
}

std::optional<Advice> false_sharing(const Known& known) {
  std::string source = known.source();
  bool by_thread = source.find("[omp_get_thread_num()]") != std::string::npos;
  for (std::string_view name : {"[tid]", "[thread]", "[t_id]", "[thread_id]"})
    by_thread |= source.find(name) != std::string::npos;
  bool padded = source.find("alignas(64)") != std::string::npos ||
                source.find("* 16]") != std::string::npos || source.find("pad") != std::string::npos;
  if (!by_thread || padded || threads(known) < 2 || known.roofline_fraction().value_or(0) > 0.8)
    return std::nullopt;
  return Advice{.bottleneck = "false sharing",
                .evidence =
                    "neighbouring elements of one array are written by different threads (indexed by the "
                    "thread's number, without padding)",
                .change =
                    "Keep per-thread sums in local variables and store them once at the end, or pad each "
                    "thread's part to 64 bytes.",
                .expected_gain = 1.3,
                .confidence = 0.4,
                .tag = "parallelize"};
}

std::optional<Advice> per_call_costs(const Known& known) {
  double kernel = known.fact_or("samples_system", 0), libc = known.fact_or("samples_libc", 0);
  std::string source = known.source();
  bool allocates =
      source.find("malloc(") != std::string::npos || source.find("std::vector<float>") != std::string::npos ||
      source.find("new float") != std::string::npos || source.find("aligned_alloc(") != std::string::npos;
  double share = kernel + libc;
  if (share < 15 || (!allocates && kernel < 15)) return std::nullopt;
  return Advice{
      .bottleneck = "page faults and clearing of fresh memory in every call",
      .evidence = fmt::format("{:.0f} % of processor time is in the system and {:.0f} % of samples in libc{}",
                              kernel, libc, allocates ? "; the program allocates in each call" : ""),
      .change =
          "Keep scratch memory between calls: a static 64-byte aligned buffer (or one in prepare()), each "
          "part first touched by the thread that uses it.",
      .expected_gain = amdahl(share / 100, 8),
      .confidence = 0.65,
      .tag = "overhead"};
}

std::optional<Advice> short_calls(const Known& known) {
  auto us = time_us(known);
  double bound_us = known.fact_or("roofline_us", 0);
  if (!us || bound_us <= 0 || bound_us > 10 || *us < 3 * bound_us || *us > 100) return std::nullopt;
  return Advice{
      .bottleneck = "fixed costs of a call",
      .evidence = fmt::format("a call takes {:.3g} us where the work needs {:.3g} us", *us, bound_us),
      .change =
          "Do less per call besides the work: one thread or one parallel region, no allocation, no second "
          "pass, constants and tables computed once.",
      .expected_gain = std::clamp(*us / bound_us / 2, 1.1, 3.0),
      .confidence = 0.4,
      .tag = "overhead"};
}

// Few outputs from many inputs: sharing out the outputs leaves threads idle.
std::optional<Advice> few_outputs(const Known& known) {
  const BoundTask* task = known.task();
  if (!task || threads(known) < 2) return std::nullopt;
  double outputs = 0, inputs = 0;
  for (const BoundArgument& argument : task->arguments)
    (argument.role == Role::kOutput ? outputs : inputs) += static_cast<double>(element_count(argument.shape));
  if (outputs > 8.0 * threads(known) || inputs < 1e5 || known.roofline_fraction().value_or(0) > 0.75)
    return std::nullopt;
  return Advice{.bottleneck = "a long reduction to few values",
                .evidence = fmt::format("{:.0f} input elements are reduced to {:.0f}", inputs, outputs),
                .change =
                    "Split the reduction: every thread sums its own contiguous part with several vector "
                    "accumulators, one short pass adds the parts.",
                .expected_gain = std::min(0.9 * threads(known),
                                          1 / std::max(0.1, known.roofline_fraction().value_or(0.3))),
                .confidence = 0.55,
                .tag = "split_reduction"};
}

}  // namespace

std::vector<Rule> thread_rules() {
  return {too_few_threads, unbalanced, waiting, false_sharing, per_call_costs, short_calls, few_outputs};
}

}  // namespace kforge
