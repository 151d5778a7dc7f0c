#include "verify/timed_judge.h"

#include <algorithm>
#include <cmath>

#include "verify/device_clock.h"
#include "verify/floor.h"

namespace kforge {
namespace {

constexpr double kSuspiciousSpeedup = 10;
constexpr double kMostHidden = 0.25;  // of the rounds of a program that is started anew

// More than max(10 %, 200 us) apart. On a busy machine the parent is woken late, or the program is: what
// the kernel says they waited for a processor is allowed for. And a program that claims less than passed
// outside has lied only if the kernel charged its threads for more than it claims.
bool clocks_disagree(const Sample& sample, int threads) {
  double allowed = std::max(0.1 * sample.parent_ns, 200e3) + sample.delay_ns;
  if (sample.claimed_ns > sample.parent_ns + allowed) return true;
  if (sample.parent_ns - sample.claimed_ns <= allowed) return false;
  return sample.cpu_ns > threads * sample.claimed_ns + allowed;
}

std::string device_clock_text(const std::vector<Sample>& samples, std::uint32_t batch) {
  std::vector<double> device;
  for (const Sample& sample : samples)
    if (sample.device_ns > 0) device.push_back(sample.device_ns / batch);
  if (device.empty()) return "";
  return fmt::format("; the device's own says {:.4g} us for a call", median(device) / 1e3);
}

// What the program's own clock has to say, which counts for nothing.
std::string clocks_text(const std::vector<Sample>& samples) {
  auto tells_apart = [](const Sample& sample) { return sample.parent_ns > 2 * kBatchSlackNs; };
  auto agrees = [](const Sample& sample) {
    double allowed = std::max(0.1 * sample.parent_ns, kBatchSlackNs) + sample.delay_ns;
    return std::abs(sample.parent_ns - sample.claimed_ns) <= allowed;
  };
  auto told = std::ranges::count_if(samples, tells_apart),
       agreed = std::ranges::count_if(samples, [&](const Sample&s) { return tells_apart(s) && agrees(s); });
  if (told == 0) return "calls are too short to compare the program's own clock with it";
  if (agreed == told) return "the program's own clock agrees";
  return fmt::format("the program's own clock says otherwise in {} of {} batches", told - agreed, told);
}

}  // namespace

// More processors than were given (by leaving its affinity) show in its processor time.
void TimedJudge::judge_threads() {
  constexpr double kMost = 1.3;
  std::vector<double> use;
  for (const Sample& sample : timed_[0].samples)
    use.push_back(sample.cpu_ns / std::max(sample.parent_ns, 1.0));
  double threads = median(use);
  if (threads <= kMost * context_.threads) return;
  verdict_.fail(Rejected{Gate::kThreads,
                         fmt::format("it used {:.2g} processors where {} thread{} were allowed", threads,
                                     context_.threads, context_.threads == 1 ? "" : "s"),
                         Figures{{{"used", threads}, {"allowed", std::int64_t{context_.threads}}}}});
}

// A few samples of the candidate alone in a fresh process; the median per call.
Result<double> TimedJudge::measure_again(int samples, std::vector<Sample>& taken) {
  KF_TRY(auto started, ProgramProcess::start(candidate_, task_, *memory_, context_.load_limit));
  if (!started) return verdict_.fail(started.error()), 0.0;
  KF_TRY(auto prepared, (*started)->prepare(context_.call_limit));
  if (!prepared) return verdict_.fail(prepared.error()), 0.0;
  std::vector<TimedProgram> alone;
  alone.push_back({.process = started->get()});
  TimingOptions timing = options_.timing;
  timing.min_rounds = timing.max_rounds = samples;
  TimingHooks hooks;
  hooks.plan = [this](int) { return fresh_plan(); };
  KF_TRY([[maybe_unused]] int rounds, time_interleaved(task_, *memory_, alone, timing, hooks));
  findings_.call_seconds += alone[0].spent_ns / 1e9;
  findings_.spin_seconds += alone[0].spin_ns / 1e9;
  if (alone[0].failure) return verdict_.fail(*alone[0].failure), 0.0;
  taken = alone[0].samples;
  std::vector<double> ns;
  for (const Sample& sample : taken) ns.push_back(sample.ns_per_call);
  return median(ns);
}

// Gate "clock": two of them. Only a disagreement that repeats in a fresh process counts.
Result<void> TimedJudge::judge_clock() {
  if (candidate_.starts_anew) return judge_slope();
  auto disagree = [this](const Sample& sample) {
    return clocks_disagree(sample, context_.threads) || device_clock_disagrees(sample);
  };
  auto count = std::ranges::count_if(timed_[0].samples, disagree);
  if (count * 2 > static_cast<std::ptrdiff_t>(timed_[0].samples.size())) {
    std::vector<Sample> again;
    KF_TRY([[maybe_unused]] double ns, measure_again(5, again));
    if (verdict_.failed()) return {};
    if (std::ranges::count_if(again, disagree) >= 3) {
      verdict_.fail(Rejected{
          Gate::kClock,
          device_clock_disagrees(again.back())
              ? fmt::format(
                    "the device's clock says {:.3f} ms where {:.3f} ms passed outside: one of them is wrong",
                    again.back().device_ns / 1e6, again.back().parent_ns / 1e6)
              : fmt::format("its own clock says {:.3f} ms where {:.3f} ms passed outside: the clock was "
                            "tampered with",
                            again.back().claimed_ns / 1e6, again.back().parent_ns / 1e6)});
      return {};
    }
  }
  verdict_.pass(Gate::kClock, fmt::format("wall time of the parent; {}{}", clocks_text(timed_[0].samples),
                                          device_clock_text(timed_[0].samples, timed_[0].batch)));
  return {};
}

// Gate "floor".
Result<void> TimedJudge::judge_floor() {
  if (!context_.no_floor.empty()) return verdict_.skip(Gate::kFloor, context_.no_floor), Result<void>{};
  if (candidate_.starts_anew && findings_.load.disturbed > kMostHidden) {
    verdict_.skip(Gate::kFloor, "what start-ups vary by hides the calls: the time is an upper bound");
    return {};
  }
  TimeFloor floor = time_floor(task_, *context_.machine, peaks_);
  if (findings_.ns.value < floor.bytes_ns) {
    // The figures of the machine may be the ones that are wrong.
    KF_TRY(peaks_, machine_peaks(*context_.machine, context_.threads, true));
    give_peaks(context_.given_peaks, peaks_);
    floor = time_floor(task_, *context_.machine, peaks_);
  }
  const Figures evidence{{{"bytes", floor.bytes},
                          {"floor_ns", floor.bytes_ns},
                          {"time_ns", findings_.ns.value},
                          {"flops_ns", floor.flops_ns}}};
  if (findings_.ns.value < floor.bytes_ns) {
    verdict_.fail(Rejected{
        Gate::kFloor,
        fmt::format("{:.3g} us is less than its {:.3g} MB need to travel at the speed of {} ({:.3g} us)",
                    findings_.ns.value / 1e3, floor.bytes / 1e6, floor.level, floor.bytes_ns / 1e3),
        evidence});
    return {};
  }
  bool algebraic = findings_.ns.value < floor.flops_ns;
  if (algebraic) verdict_.flags.push_back("algebraic");
  if (algebraic) {
    verdict_.flag(Gate::kFloor,
                  "faster than the graph's flops allow: it computes less than the graph says (algebraic)",
                  evidence);
  } else {
    verdict_.pass(Gate::kFloor,
                  fmt::format("slower than its bytes can travel ({:.3g} us at {} speed)",
                              floor.bytes_ns / 1e3, floor.level),
                  evidence);
  }
  return {};
}

// A speed-up over 10x, or beating the flop bound, is measured once more before it is believed.
Result<void> TimedJudge::judge_suspicious() {
  bool algebraic = std::ranges::count(verdict_.flags, "algebraic") > 0;
  auto fastest = std::ranges::find_if(findings_.opponents, &OpponentTimes::baseline);
  bool huge = fastest != findings_.opponents.end() && fastest->speedup.value > kSuspiciousSpeedup;
  if (!algebraic && !huge) return {};
  std::vector<Sample> again;
  KF_TRY([[maybe_unused]] double median_ns, measure_again(5, again));
  if (verdict_.failed()) return {};
  // The best of the five: a busy machine makes honest calls late, but nothing makes dishonest ones fast.
  // A batch of tiny calls is itself so short that the message around it counts.
  double ns = std::ranges::min(again, {}, &Sample::ns_per_call).ns_per_call;
  double allowed = std::max(0.5 * findings_.ns.value, kBatchSlackNs / findings_.batch);
  if (ns > findings_.ns.value + allowed)
    verdict_.fail(Rejected{Gate::kFloor,
                           fmt::format("{:.3g} us did not repeat in a fresh process, which took {:.3g} us",
                                       findings_.ns.value / 1e3, ns / 1e3)});
  return {};
}

}  // namespace kforge
