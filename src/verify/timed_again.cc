#include "verify/timed_judge.h"

#include <algorithm>
#include <numeric>

#include "verify/near_calls.h"

namespace kforge {
namespace {

constexpr double kRepeatSeconds = 1.5;  // spent on making timed calls again in a fresh process
constexpr std::size_t kRepeatLeast = 4, kRepeatMost = 64;
// One in so many of those made again is surely of the last round, or on nearly the inputs of an earlier call.
constexpr std::size_t kOneLast = 16, kOneVaried = 8;

bool varied(const RememberedCall& call) { return call.choice.variation.part != VariedPart::kNothing; }

}  // namespace

// Which timed calls are made again, and which of them are compared with the oracle: drawn now, over all
// rounds.
void TimedJudge::choose_repeated() {
  double each = findings_.ns.value / 1e9 + static_cast<double>(MemoryLayout::bytes_per_slot(task_)) / 1e9;
  auto affordable = static_cast<std::size_t>(kRepeatSeconds / std::max(each, 1e-9));
  const std::size_t most = std::clamp(affordable, kRepeatLeast, kRepeatMost);
  std::vector<std::size_t> order(remembered_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random_);
  std::size_t last = 0, near = 0;
  auto rank = [&](const RememberedCall& call) {
    if (call.probe) return 0;
    if (call.round + 1 == rounds_before_ && last++ <= most / kOneLast) return 1;
    if (varied(call) && near++ <= most / kOneVaried) return 1;
    return 2;
  };
  std::vector<std::pair<int, std::size_t>> ranked;
  for (std::size_t i : order) ranked.emplace_back(rank(remembered_[i]), i);
  std::ranges::stable_sort(ranked, {}, &std::pair<int, std::size_t>::first);
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i)
    repeated_.push_back(remembered_[ranked[i].second]);
  int drawn = oracle_calls();
  for (RememberedCall& call : repeated_) call.drawn = !call.probe && drawn-- > 0;
  // A program that keeps answers must not meet the two calls it takes for one in the same order again. Calls
  // with the same params can be made together.
  std::ranges::stable_sort(repeated_, {}, [](const RememberedCall& call) {
    const Variation& params = call.params.variation;
    bool plain = params.part == VariedPart::kNothing || params.part == VariedPart::kAll;
    return std::tuple(!call.probe, !varied(call), plain, call.params.seed, params.seed);
  });
}

// How many of the calls from `first` on can be one command.
std::size_t TimedJudge::calls_together(std::size_t first) const {
  std::size_t most = std::min<std::size_t>(fresh_memory_->layout.slots, repeated_.size() - first), count = 1;
  if (repeated_[first].probe) return 1;
  while (count < most && repeated_[first + count].params == repeated_[first].params) ++count;
  return count;
}

// The first calls of this process are like those of one whose values are checked: several on nearly the same
// inputs, then the call.
Result<void> TimedJudge::begin_as_checks_do(const RememberedCall& first) {
  std::vector<VariedPart> parts(std::begin(kNearParts), std::end(kNearParts));
  std::ranges::shuffle(parts, random_);
  double each = findings_.ns.value / 1e9 + static_cast<double>(MemoryLayout::bytes_per_slot(task_)) / 1e9;
  auto affordable = static_cast<std::size_t>(kNearSeconds / std::max(each, 1e-9));
  parts.resize(std::clamp<std::size_t>(affordable, 1, parts.size()));
  for (VariedPart part : parts) {
    InputChoice nearly = first.choice;
    nearly.variation = {part, random_(), true};
    std::uint32_t slot = 1 + static_cast<std::uint32_t>(random_() % (fresh_memory_->layout.slots - 1));
    fill_inputs(task_, *fresh_memory_, nearly, slot);
    reset_outputs(task_, fresh_->outputs(), nearly, slot);
    KF_TRY(auto time, fresh_->call({slot}, context_.call_limit));
    if (!time) return verdict_.fail(time.error()), Result<void>{};
    findings_.call_seconds += time->parent_ns / 1e9;
  }
  return {};
}

Rejected TimedJudge::differs(const RememberedCall& call, const std::string& difference) const {
  if (call.probe)
    return {Gate::kTimedCalls,
            "a call used values its inputs had before it was made: the program works ahead in a batch; " +
                difference};
  auto same = std::ranges::find_if(remembered_, [&](const RememberedCall& other) {
    return other.choice != call.choice && other.values == call.values;
  });
  std::string known;
  if (same != remembered_.end())
    known = fmt::format(" (it is the answer to another call, of round {}: answers may not be kept)",
                        same->round + 1);
  return {Gate::kTimedCalls,
          fmt::format("a timed call (round {}) gave another result than the same call alone{}: {}",
                      call.round + 1, known, difference),
          Figures{{{"round", std::int64_t{call.round} + 1}}}};
}

Result<void> TimedJudge::repeat_calls(std::span<const RememberedCall> calls) {
  const InputMemory& memory = *fresh_memory_;
  if (!fresh_->usage().has_prepare) fill_params(task_, memory, calls[0].params);
  std::vector<std::uint32_t> slots(memory.layout.slots);
  std::iota(slots.begin(), slots.end(), 0);
  std::ranges::shuffle(slots, random_);
  slots.resize(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    fill_inputs(task_, memory, calls[i].choice, slots[i]);
    reset_outputs(task_, fresh_->outputs(), calls[i].choice, slots[i]);
  }
  KF_TRY(auto time, fresh_->call(slots, context_.call_limit));
  if (!time) return verdict_.fail(time.error()), Result<void>{};
  findings_.call_seconds += time->parent_ns / 1e9;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const RememberedCall& call = calls[i];
    auto again = fingerprint_of(positions_, fresh_->outputs(), slots[i]);
    if (auto difference =
            fingerprints_differ(positions_, task_, call.values, again, context_.policy, *expected_)) {
      verdict_.fail(differs(call, *difference));
      return {};
    }
    KF_TRY(bool wanted, oracle_wanted(call, fresh_->outputs(), slots[i]));
    wanted |= indices_differ(positions_, task_, call.values, again, *expected_) && index_questions_-- > 0;
    if (wanted) KF_TRY_VOID(judge_by_oracle(call, fresh_->outputs(), slots[i]));
    if (verdict_.failed()) return {};
  }
  return {};
}

// Gate "timed_calls": timed calls made again, in another order, in a process that knows nothing of the first;
// and some of them compared with the truth.
Result<void> TimedJudge::judge_timed_calls() {
  choose_repeated();
  KF_TRY_VOID(ask_witness());
  KF_TRY_VOID(find_slice());
  KF_TRY(bool ready, start_fresh());
  if (!ready) return {};
  KF_TRY_VOID(begin_as_checks_do(repeated_.front()));
  for (std::size_t first = 0; first < repeated_.size() && !verdict_.failed();) {
    std::size_t count = calls_together(first);
    KF_TRY_VOID(repeat_calls(std::span(repeated_).subspan(first, count)));
    first += count;
  }
  if (verdict_.failed()) return {};
  KF_TRY(auto finished, fresh_->finish());
  if (!finished) return verdict_.fail(finished.error()), Result<void>{};
  std::string equal = fmt::format("{} timed call{} equal the same call in a fresh process", repeated_.size(),
                                  repeated_.size() == 1 ? "" : "s");
  if (compared_with_baseline_ > 0) equal += fmt::format(", {} a baseline", compared_with_baseline_);
  if (compared_in_rows_ > 0) equal += fmt::format(", {} the oracle in some rows", compared_in_rows_);
  if (compared_with_oracle_ > 0) equal += fmt::format(", {} the oracle", compared_with_oracle_);
  verdict_.pass(Gate::kTimedCalls, equal);
  return {};
}

}  // namespace kforge
