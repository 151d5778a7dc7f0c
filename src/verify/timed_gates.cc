#include "verify/timed_gates.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <numeric>
#include <random>
#include <span>

#include "verify/evidence.h"
#include "verify/fingerprint.h"
#include "verify/floor.h"
#include "verify/tripwire.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

constexpr double kRepeatSeconds = 1.5;  // spent on making timed calls again in a fresh process
constexpr std::size_t kRepeatLeast = 4, kRepeatMost = 64;
constexpr std::size_t kSmallSlot = 1 << 20;  // calls on less than this are made again several at a time
constexpr double kSuspiciousSpeedup = 10;
constexpr double kOneThreadBelowNs = 20e6;
constexpr double kBatchSlackNs = 200e3;  // what a message takes varies by as much, whatever the batch does

// One timed call of the candidate, to be made again elsewhere.
struct RememberedCall {
  int round = 0;
  InputChoice params, choice;
  Fingerprint values;
  bool tripwire = false;  // its inputs were changed while earlier calls of its batch ran
};

// More than max(10 %, 200 us) apart. On a busy machine the parent is woken late, or the contender is: what
// the kernel says they waited for a processor is allowed for. And a contender that claims less than passed
// outside has lied only if the kernel charged its threads for more than it claims.
bool clocks_disagree(const Sample& sample, int threads) {
  double allowed = std::max(0.1 * sample.parent_ns, 200e3) + sample.delay_ns;
  if (sample.claimed_ns > sample.parent_ns + allowed) return true;
  if (sample.parent_ns - sample.claimed_ns <= allowed) return false;
  return sample.cpu_ns > threads * sample.claimed_ns + allowed;
}

class TimedJudge {
 public:
  TimedJudge(const JudgeContext& context, const ContenderSpec& candidate, const std::vector<Rival>& rivals,
             const TimedOptions& options, Peaks& peaks, Verdict& verdict)
      : context_(context),
        task_(*context.task),
        candidate_(candidate),
        rivals_(rivals),
        options_(options),
        peaks_(peaks),
        verdict_(verdict),
        random_(options.seed),
        positions_(task_, mix_seed(options.seed, 77)) {}

  Result<TimedFindings> judge();

 private:
  Result<void> start_candidate();
  Result<bool> start_fresh();
  Result<void> start_echo();
  Result<void> start_incumbents();
  Result<void> start_rivals();
  Result<std::unique_ptr<Contender>> start_rival(const Rival& rival, int threads, double& call_ns);
  void run_rounds();
  void after_batch(const BatchView& batch);
  bool enough();
  RoundPlan fresh_plan();
  RoundPlan plan(int round);
  void summarise();
  Result<void> judge_look_ahead();
  void judge_threads();
  Result<void> judge_timed_calls();
  std::size_t calls_together(std::size_t first) const;
  Result<void> repeat_calls(Contender& fresh, std::span<const RememberedCall> calls);
  Result<void> judge_clock();
  Result<void> judge_floor();
  Result<void> judge_suspicious();
  Result<double> measure_again(int samples, std::vector<Sample>& taken);
  std::vector<std::size_t> rounds_kept() const;

  const JudgeContext& context_;
  const BoundTask& task_;
  const ContenderSpec& candidate_;
  const std::vector<Rival>& rivals_;
  TimedOptions options_;
  Peaks& peaks_;
  Verdict& verdict_;
  std::mt19937_64 random_;
  SamplePositions positions_;
  Truth expected_;

  std::optional<InputMemory> memory_;
  std::vector<std::unique_ptr<Contender>> owned_;  // the candidate first
  std::optional<InputMemory> fresh_memory_;
  std::unique_ptr<Contender> own_echo_;            // when nobody keeps it
  std::unique_ptr<Contender>* echo_ = &own_echo_;  // tells what a message takes
  std::map<const Rival*, std::expected<std::unique_ptr<Contender>, Failure>> started_;  // before their turn
  std::unique_ptr<Contender> fresh_;   // a second process of the candidate: makes timed calls again
  std::vector<const Rival*> present_;  // rival of owned_[i + 1]
  std::vector<std::string> what_;      // with the thread count used
  std::vector<TimedContender> timed_;
  std::vector<RememberedCall> remembered_;
  int drawn_round_ = 0;
  std::uint32_t drawn_slot_ = 0;
  InputChoice round_params_;
  TimedFindings findings_;
};

// The process that will make timed calls again. It is started with the candidate's, because starting one
// takes longer than most small kernels, and stays stopped until its turn; nothing it will be asked is known
// yet.
Result<bool> TimedJudge::start_fresh() {
  KF_TRY(auto started, Contender::start(candidate_, task_, *fresh_memory_, context_.load_limit));
  if (!started) return false;  // the candidate's own start says why, or it is tried again
  fresh_ = std::move(*started);
  return true;
}

Result<void> TimedJudge::start_echo() {
  if (options_.echo) echo_ = options_.echo;
  if (*echo_ && (*echo_)->echo_ns()) return {};  // kept, and alive
  KF_TRY(*echo_, Contender::start_idle(candidate_, context_.load_limit));
  return {};
}

// Earlier programs of the same search start as the candidate does.
Result<void> TimedJudge::start_incumbents() {
  for (const Rival& rival : rivals_) {
    if (rival.baseline) continue;
    ContenderSpec spec = rival.spec;
    spec.threads = context_.threads;
    KF_TRY(auto started, Contender::start(spec, task_, *memory_, context_.load_limit * 3));
    started_.emplace(&rival, std::move(started));
  }
  return {};
}

Result<void> TimedJudge::start_candidate() {
  bool small = MemoryLayout::bytes_per_slot(task_) <= kSmallSlot;
  KF_TRY(fresh_memory_, InputMemory::create(task_, small ? 8 : 2));
  // Starting a process takes longer than most small kernels: they start side by side, and wait stopped.
  auto beside = std::async(std::launch::async, [this]() -> Result<void> {
    KF_TRY_VOID(start_echo());
    KF_TRY([[maybe_unused]] bool started, start_fresh());
    return start_incumbents();
  });
  auto own = Contender::start(candidate_, task_, *memory_, context_.load_limit);
  KF_TRY_VOID(beside.get());
  KF_TRY(auto started, std::move(own));
  if (!started) {
    verdict_.fail(started.error());
    return {};
  }
  KF_TRY(auto prepared, (*started)->prepare(context_.call_limit));
  if (!prepared) {
    verdict_.fail(prepared.error());
    return {};
  }
  owned_.push_back(std::move(*started));
  options_.timing.echo = echo_->get();
  return {};
}

// A rival must give the right values before its time means anything.
Result<std::unique_ptr<Contender>> TimedJudge::start_rival(const Rival& rival, int threads, double& call_ns) {
  ContenderSpec spec = rival.spec;
  spec.threads = threads;
  auto refuse = [&](const Failure& failure) -> std::unique_ptr<Contender> {
    std::string reason = reason_text(failure);
    findings_.absent.push_back({rival.name, reason.substr(0, reason.find('\n'))});
    return nullptr;
  };
  auto before = started_.find(&rival);
  if (before == started_.end() || spec.threads != context_.threads) {
    KF_TRY(auto now, Contender::start(spec, task_, *memory_, context_.load_limit * 3));
    before = started_.insert_or_assign(&rival, std::move(now)).first;
  }
  auto started = std::move(before->second);
  started_.erase(before);
  if (!started) return refuse(started.error());
  KF_TRY(auto prepared, (*started)->prepare(context_.call_limit * 3));
  if (!prepared) return refuse(prepared.error());
  InputChoice choice{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  fill_inputs(task_, *memory_, choice, 0);
  call_ns = 0;
  for (int i = 0; i < 3; ++i) {
    reset_outputs(task_, (*started)->outputs(), choice, 0);
    KF_TRY(auto time, (*started)->call({0}, context_.call_limit));
    if (!time) return refuse(time.error());
    call_ns = call_ns == 0 ? time->parent_ns : std::min(call_ns, time->parent_ns);
  }
  Verdict scratch;
  if (auto failure =
          judge_outputs(context_, *expected_, (*started)->outputs(), 0, InputKind::kOwn, "accuracy", scratch))
    return refuse(*failure);
  return std::move(*started);
}

Result<void> TimedJudge::start_rivals() {
  for (const Rival& rival : rivals_) {
    if (context_.progress) context_.progress(0, "starting " + rival.name);
    double all_ns = 0, one_ns = 0;
    KF_TRY(auto best, start_rival(rival, context_.threads, all_ns));
    if (!best) continue;
    int threads = context_.threads;
    if (rival.try_one_thread && threads > 1 && all_ns < kOneThreadBelowNs) {
      std::size_t absent = findings_.absent.size();
      KF_TRY(auto alone, start_rival(rival, 1, one_ns));
      findings_.absent.resize(absent);  // failing with one thread alone does not make it absent
      if (alone && one_ns < all_ns) {
        best = std::move(alone);
        threads = 1;
      }
    }
    owned_.push_back(std::move(best));
    present_.push_back(&rival);
    what_.push_back(fmt::format("{}, {} thread{}", rival.what, threads, threads == 1 ? "" : "s"));
  }
  return {};
}

// New values for every slot, called in a new order.
RoundPlan TimedJudge::fresh_plan() {
  RoundPlan plan;
  for (std::uint32_t slot = 0; slot < memory_->layout.slots; ++slot) {
    plan.choices.push_back({InputKind::kOwn, random_()});
    plan.order.push_back(slot);
  }
  std::ranges::shuffle(plan.order, random_);
  return plan;
}

// One call of one round, drawn in secret, gets check inputs whose true result is known. A program without
// prepare() takes the params anew in every call, so they change too: it cannot have digested them outside the
// time.
RoundPlan TimedJudge::plan(int round) {
  RoundPlan plan = fresh_plan();
  InputChoice own{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  round_params_ = own;
  if (round == drawn_round_) {
    drawn_slot_ = plan.order[random_() % timed_[0].batch];
    plan.choices[drawn_slot_] = own;
  } else if (round >= 0 && !owned_[0]->usage().has_prepare) {
    round_params_.seed = random_();
  }
  fill_params(task_, *memory_, round_params_);
  return plan;
}

void TimedJudge::after_batch(const BatchView& batch) {
  if (batch.contender != 0 || verdict_.failed()) return;
  const TensorMemory& outputs = timed_[0].contender->outputs();
  for (std::uint32_t slot : batch.called) {
    if (batch.round == drawn_round_ && slot == drawn_slot_) {
      Verdict scratch;
      auto failure =
          judge_outputs(context_, *expected_, outputs, slot, InputKind::kOwn, "timed_calls", scratch);
      if (failure)
        verdict_.fail(Rejected{"timed_calls",
                               "a timed call gave another result than its checks: " + reason_text(*failure),
                               std::string(evidence_json(*failure))});
      continue;
    }
    remembered_.push_back(
        {batch.round, round_params_, batch.plan.choices[slot], take_fingerprint(positions_, outputs, slot)});
  }
  // Outputs of calls that were not made must be untouched: a program may not work ahead.
  if (batch.not_called.empty() || verdict_.failed()) return;
  std::uint32_t slot = batch.not_called[random_() % batch.not_called.size()];
  for (std::size_t a = 0; a < task_.arguments.size(); ++a) {
    const BoundArgument& argument = task_.arguments[a];
    if (argument.role != Role::kOutput) continue;
    auto data = outputs.tensor(a, slot);
    if (count_poison(argument.dtype, batch.plan.choices[slot].seed, data) == element_count(argument.shape))
      continue;
    verdict_.fail(
        Rejected{"timed_calls",
                 fmt::format("{} of a call that had not been made was written: the program works ahead",
                             argument.c_name),
                 ""});
    return;
  }
}

// Rounds in which no contender lost time to the hypervisor; all of them when that leaves too few.
std::vector<std::size_t> TimedJudge::rounds_kept() const {
  std::size_t rounds = timed_[0].samples.size();
  std::vector<std::size_t> kept, all;
  for (std::size_t r = 0; r < rounds; ++r) {
    all.push_back(r);
    bool stolen = std::ranges::any_of(
        timed_, [r](const TimedContender& t) { return r < t.samples.size() && t.samples[r].stolen; });
    if (!stolen) kept.push_back(r);
  }
  return kept.size() >= std::max<std::size_t>(5, rounds / 2) ? kept : all;
}

std::vector<double> pick(const std::vector<Sample>& samples, const std::vector<std::size_t>& rounds) {
  std::vector<double> picked;
  for (std::size_t r : rounds)
    if (r < samples.size()) picked.push_back(samples[r].ns_per_call);
  return picked;
}

// Enough is known when the interval against the quickest rival is narrow, or the candidate is hopeless.
bool TimedJudge::enough() {
  if (verdict_.failed() || timed_[0].failure) return true;
  auto kept = rounds_kept();
  auto own = pick(timed_[0].samples, kept);
  Interval narrowest = median_interval(own);
  double best = 0;
  for (std::size_t i = 1; i < timed_.size(); ++i) {
    if (timed_[i].failure) continue;
    auto theirs = pick(timed_[i].samples, kept);
    if (best != 0 && median(theirs) >= best) continue;
    best = median(theirs);
    narrowest = paired_ratio(theirs, own);
  }
  bool hopeless = best > 0 && narrowest.hi < options_.hopeless;
  return hopeless || (narrowest.hi - narrowest.lo) < 0.02 * narrowest.value;
}

void TimedJudge::run_rounds() {
  for (auto& contender : owned_) timed_.push_back({.contender = contender.get()});
  drawn_round_ = static_cast<int>(random_() % static_cast<std::uint64_t>(options_.timing.min_rounds));
  TimingHooks hooks;
  hooks.plan = [this](int round) { return plan(round); };
  hooks.after_batch = [this](const BatchView& batch) { after_batch(batch); };
  hooks.enough = [this](const auto&) { return enough(); };
  hooks.progress = [this](int round, int of) {
    if (context_.progress) context_.progress(static_cast<double>(round) / of, fmt::format("round {}", round));
  };
  auto rounds = time_interleaved(task_, *memory_, timed_, options_.timing, hooks);
  findings_.rounds = rounds ? *rounds : 0;
  for (const TimedContender& timed : timed_) {
    findings_.contender_seconds += timed.spent_ns / 1e9;
    findings_.spin_seconds += timed.spin_ns / 1e9;
  }
}

void TimedJudge::summarise() {
  auto kept = rounds_kept();
  findings_.dropped = findings_.rounds - static_cast<int>(kept.size());
  findings_.samples = pick(timed_[0].samples, kept);
  findings_.batch = timed_[0].batch;
  std::vector<double> messages;
  for (const Sample& sample : timed_[0].samples) messages.push_back(sample.message_ns);
  findings_.message_ns = median(messages);
  findings_.ns = median_interval(findings_.samples);
  if (findings_.ns.value > 0)
    findings_.spread =
        (quantile(findings_.samples, 0.75) - quantile(findings_.samples, 0.25)) / findings_.ns.value;
  double cpu = 0, wall = 0;
  for (const Sample& sample : timed_[0].samples) cpu += sample.cpu_ns, wall += sample.parent_ns;
  if (wall > 0) findings_.thread_use = cpu / (wall * context_.threads);
  for (std::size_t i = 1; i < timed_.size(); ++i) {
    const Rival& rival = *present_[i - 1];
    if (timed_[i].failure) {
      findings_.absent.push_back({rival.name, reason_text(*timed_[i].failure)});
      continue;
    }
    auto theirs = pick(timed_[i].samples, kept);
    findings_.rivals.push_back({rival.name, what_[i - 1], median_interval(theirs),
                                paired_ratio(theirs, findings_.samples), theirs, rival.baseline});
  }
  std::ranges::sort(findings_.rivals, {}, [](const RivalTimes& r) { return r.ns.value; });
  findings_.usage = owned_[0]->usage();
}

// Small calls come in batches; see tripwire.h. The call's result joins those that are made again elsewhere.
// Where the tripwire never gets its chance (a program that does all the work in the first call, or a busy
// machine), calls are timed one by one instead: alone, nobody can work ahead.
Result<void> TimedJudge::judge_look_ahead() {
  constexpr int kTries = 8;
  std::uint32_t batch = timed_[0].batch;
  if (batch < 4 || !tripwire_possible(task_)) return {};
  InputChoice own{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  fill_params(task_, *memory_, own);
  for (int i = 0; i < kTries; ++i) {
    KF_TRY(auto wire,
           spring_tripwire(task_, *memory_, *owned_[0], fresh_plan(), batch, random_(), context_.call_limit));
    if (!wire) return verdict_.fail(wire.error()), Result<void>{};
    if (!wire->conclusive) continue;
    remembered_.insert(remembered_.begin(),
                       {findings_.rounds, own, wire->choice,
                        take_fingerprint(positions_, owned_[0]->outputs(), wire->slot), true});
    return {};
  }
  // What was seen of the batches stays evidence: those calls are made again too.
  options_.timing.batch_ns = 0;
  timed_.clear();
  findings_.rivals.clear();
  run_rounds();
  if (timed_[0].failure) verdict_.fail(*timed_[0].failure);
  if (verdict_.failed()) return {};
  summarise();
  verdict_.flags.push_back("timed_one_by_one");
  return {};
}

// More processors than were given (by leaving its affinity) show in its processor time.
void TimedJudge::judge_threads() {
  constexpr double kMost = 1.3;
  std::vector<double> use;
  for (const Sample& sample : timed_[0].samples)
    use.push_back(sample.cpu_ns / std::max(sample.parent_ns, 1.0));
  double threads = median(use);
  if (threads <= kMost * context_.threads) return;
  verdict_.fail(Rejected{"threads",
                         fmt::format("it used {:.2g} processors where {} thread{} were allowed", threads,
                                     context_.threads, context_.threads == 1 ? "" : "s"),
                         fmt::format("{{\"used\":{:.3f},\"allowed\":{}}}", threads, context_.threads)});
}

// How many of the remembered calls from `first` on can be one command: those of one round, which have the
// same params.
std::size_t TimedJudge::calls_together(std::size_t first) const {
  std::size_t most = std::min<std::size_t>(fresh_memory_->layout.slots, remembered_.size() - first),
              count = 1;
  if (remembered_[first].tripwire) return 1;
  while (count < most && remembered_[first + count].params.seed == remembered_[first].params.seed) ++count;
  return count;
}

Result<void> TimedJudge::repeat_calls(Contender& fresh, std::span<const RememberedCall> calls) {
  const InputMemory& memory = *fresh_memory_;
  if (!fresh.usage().has_prepare) fill_params(task_, memory, calls[0].params);
  std::vector<std::uint32_t> slots(memory.layout.slots);
  std::iota(slots.begin(), slots.end(), 0);
  std::ranges::shuffle(slots, random_);
  slots.resize(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    fill_inputs(task_, memory, calls[i].choice, slots[i]);
    reset_outputs(task_, fresh.outputs(), calls[i].choice, slots[i]);
  }
  KF_TRY(auto time, fresh.call(slots, context_.call_limit));
  if (!time) return verdict_.fail(time.error()), Result<void>{};
  findings_.contender_seconds += time->parent_ns / 1e9;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const RememberedCall& call = calls[i];
    auto again = take_fingerprint(positions_, fresh.outputs(), slots[i]);
    auto difference = fingerprints_differ(positions_, task_, call.values, again, context_.policy, *expected_);
    if (!difference) continue;
    if (call.tripwire) {
      verdict_.fail(Rejected{
          "timed_calls",
          "a call used values its inputs had before it was made: the program works ahead in a batch; " +
              *difference,
          ""});
      return {};
    }
    verdict_.fail(
        Rejected{"timed_calls",
                 fmt::format("a timed call (round {}) gave another result than the same call alone: {}",
                             call.round + 1, *difference),
                 fmt::format("{{\"round\":{}}}", call.round + 1)});
    return {};
  }
  return {};
}

// Gate 6: the timed calls made again, shuffled, in a process that knows nothing of the first.
Result<void> TimedJudge::judge_timed_calls() {
  double each = findings_.ns.value / 1e9 + static_cast<double>(MemoryLayout::bytes_per_slot(task_)) / 1e9;
  auto affordable = static_cast<std::size_t>(kRepeatSeconds / std::max(each, 1e-9));
  std::ranges::shuffle(remembered_, random_);
  std::ranges::partition(remembered_, &RememberedCall::tripwire);
  remembered_.resize(std::min(remembered_.size(), std::clamp(affordable, kRepeatLeast, kRepeatMost)));
  // Calls of one round have the same params and can be made together; the order within a round stays
  // shuffled.
  std::ranges::stable_sort(remembered_, {}, [](const RememberedCall& call) {
    return std::pair(!call.tripwire, call.params.seed);
  });
  const InputMemory& memory = *fresh_memory_;
  fill_params(task_, memory, {InputKind::kOwn, context_.check_seed(InputKind::kOwn)});
  if (!fresh_) {
    KF_TRY(auto started, Contender::start(candidate_, task_, memory, context_.load_limit));
    if (!started) return verdict_.fail(started.error()), Result<void>{};
    fresh_ = std::move(*started);
  }
  Contender& fresh = *fresh_;
  KF_TRY(auto prepared, fresh.prepare(context_.call_limit));
  if (!prepared) return verdict_.fail(prepared.error()), Result<void>{};
  for (std::size_t first = 0; first < remembered_.size();) {
    std::size_t count = calls_together(first);
    KF_TRY_VOID(repeat_calls(fresh, std::span(remembered_).subspan(first, count)));
    if (verdict_.failed()) return {};
    first += count;
  }
  KF_TRY(auto finished, fresh.finish());
  if (!finished) return verdict_.fail(finished.error()), Result<void>{};
  verdict_.pass(
      "timed_calls",
      fmt::format("one timed call equals the oracle, {} others equal the same call in a fresh process",
                  remembered_.size()));
  return {};
}

// A few samples of the candidate alone in a fresh process; the median per call.
Result<double> TimedJudge::measure_again(int samples, std::vector<Sample>& taken) {
  KF_TRY(auto started, Contender::start(candidate_, task_, *memory_, context_.load_limit));
  if (!started) return verdict_.fail(started.error()), 0.0;
  KF_TRY(auto prepared, (*started)->prepare(context_.call_limit));
  if (!prepared) return verdict_.fail(prepared.error()), 0.0;
  std::vector<TimedContender> alone;
  alone.push_back({.contender = started->get()});
  TimingOptions timing = options_.timing;
  timing.min_rounds = timing.max_rounds = samples;
  TimingHooks hooks;
  hooks.plan = [this](int) { return fresh_plan(); };
  KF_TRY([[maybe_unused]] int rounds, time_interleaved(task_, *memory_, alone, timing, hooks));
  findings_.contender_seconds += alone[0].spent_ns / 1e9;
  findings_.spin_seconds += alone[0].spin_ns / 1e9;
  if (alone[0].failure) return verdict_.fail(*alone[0].failure), 0.0;
  taken = alone[0].samples;
  std::vector<double> ns;
  for (const Sample& sample : taken) ns.push_back(sample.ns_per_call);
  return median(ns);
}

// Gate 8: two clocks. Only a disagreement that repeats in a fresh process counts.
Result<void> TimedJudge::judge_clock() {
  auto disagree = [this](const Sample& sample) { return clocks_disagree(sample, context_.threads); };
  auto count = std::ranges::count_if(timed_[0].samples, disagree);
  if (count * 2 > static_cast<std::ptrdiff_t>(timed_[0].samples.size())) {
    std::vector<Sample> again;
    KF_TRY([[maybe_unused]] double ns, measure_again(5, again));
    if (verdict_.failed()) return {};
    if (std::ranges::count_if(again, disagree) >= 3) {
      verdict_.fail(Rejected{
          "clock",
          fmt::format(
              "its own clock says {:.3f} ms where {:.3f} ms passed outside: the clock was tampered with",
              again.back().claimed_ns / 1e6, again.back().parent_ns / 1e6),
          ""});
      return {};
    }
  }
  verdict_.pass("clock", "wall time of the parent; the program's own clock agrees");
  return {};
}

// Gate 10.
Result<void> TimedJudge::judge_floor() {
  TimeFloor floor = time_floor(task_, *context_.machine, peaks_);
  if (findings_.ns.value < floor.bytes_ns) {
    // The figures of the machine may be the ones that are wrong.
    KF_TRY(peaks_, machine_peaks(*context_.machine, context_.threads, true));
    floor = time_floor(task_, *context_.machine, peaks_);
  }
  std::pair<std::string, double> numbers[] = {{"bytes", floor.bytes},
                                              {"floor_ns", floor.bytes_ns},
                                              {"time_ns", findings_.ns.value},
                                              {"flops_ns", floor.flops_ns}};
  std::string evidence = numbers_evidence(numbers);
  if (findings_.ns.value < floor.bytes_ns) {
    verdict_.fail(Rejected{
        "floor",
        fmt::format("{:.3g} us is less than its {:.3g} MB need to travel at the speed of {} ({:.3g} us)",
                    findings_.ns.value / 1e3, floor.bytes / 1e6, floor.level, floor.bytes_ns / 1e3),
        evidence});
    return {};
  }
  bool algebraic = findings_.ns.value < floor.flops_ns;
  if (algebraic) verdict_.flags.push_back("algebraic");
  if (algebraic) {
    verdict_.flag("floor",
                  "faster than the graph's flops allow: it computes less than the graph says (algebraic)",
                  evidence);
  } else {
    verdict_.pass("floor",
                  fmt::format("slower than its bytes can travel ({:.3g} us at {} speed)",
                              floor.bytes_ns / 1e3, floor.level),
                  evidence);
  }
  return {};
}

// A speed-up over 10x, or beating the flop bound, is measured once more before it is believed.
Result<void> TimedJudge::judge_suspicious() {
  bool algebraic = std::ranges::count(verdict_.flags, "algebraic") > 0;
  auto fastest = std::ranges::find_if(findings_.rivals, &RivalTimes::baseline);
  bool huge = fastest != findings_.rivals.end() && fastest->speedup.value > kSuspiciousSpeedup;
  if (!algebraic && !huge) return {};
  std::vector<Sample> again;
  KF_TRY([[maybe_unused]] double median_ns, measure_again(5, again));
  if (verdict_.failed()) return {};
  // The best of the five: a busy machine makes honest calls late, but nothing makes dishonest ones fast.
  // A batch of tiny calls is itself so short that the message around it counts.
  double ns = std::ranges::min(again, {}, &Sample::ns_per_call).ns_per_call;
  double allowed = std::max(0.5 * findings_.ns.value, kBatchSlackNs / findings_.batch);
  if (ns > findings_.ns.value + allowed)
    verdict_.fail(Rejected{"floor",
                           fmt::format("{:.3g} us did not repeat in a fresh process, which took {:.3g} us",
                                       findings_.ns.value / 1e3, ns / 1e3),
                           ""});
  return {};
}

Result<TimedFindings> TimedJudge::judge() {
  // Rivals may be a few times quicker than the candidate's best check call.
  std::uint32_t slots = slots_for(task_, std::max(verdict_.check_call_ns, 1e3) / 4, options_.timing.batch_ns);
  KF_TRY(memory_, InputMemory::create(task_, slots));
  InputChoice own{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  KF_TRY(expected_, context_.expected(own.kind));
  verdict_.oracle_seconds += expected_.seconds;
  fill_params(task_, *memory_, own);
  KF_TRY_VOID(start_candidate());
  if (verdict_.failed()) return findings_;
  KF_TRY_VOID(start_rivals());
  run_rounds();
  if (timed_[0].failure) verdict_.fail(*timed_[0].failure);
  if (verdict_.failed()) return findings_;
  summarise();
  judge_threads();
  if (!verdict_.failed()) KF_TRY_VOID(judge_look_ahead());
  if (verdict_.failed()) return findings_;
  KF_TRY(auto finished, owned_[0]->finish());
  if (!finished) return verdict_.fail(finished.error()), findings_;
  owned_.clear();
  KF_TRY_VOID(judge_timed_calls());
  if (!verdict_.failed()) KF_TRY_VOID(judge_clock());
  if (verdict_.failed()) return findings_;
  verdict_.pass("after_return",
                "stopped the instant it reported; nothing changed afterwards, nothing was left running");
  KF_TRY_VOID(judge_floor());
  if (!verdict_.failed()) KF_TRY_VOID(judge_suspicious());
  return findings_;
}

}  // namespace

Result<TimedFindings> judge_times(const JudgeContext& context, const ContenderSpec& candidate,
                                  const std::vector<Rival>& rivals, const TimedOptions& options, Peaks& peaks,
                                  Verdict& verdict) {
  return TimedJudge(context, candidate, rivals, options, peaks, verdict).judge();
}

}  // namespace kforge
