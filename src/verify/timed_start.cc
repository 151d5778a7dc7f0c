#include "verify/timed_judge.h"

#include <algorithm>
#include <future>

#include "execute/quiet_time.h"
#include "execute/start_together.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

constexpr double kOneThreadBelowNs = 100e6;
// Then the choice between one thread and all holds for the rest of a search.
constexpr double kClearlyQuicker = 1.25;

}  // namespace

// The process that makes timed calls again, and that a program must not be able to tell from one that is
// checked: the same number of slots, and loaded just before its first call. False when the verdict has
// failed.
Result<bool> TimedJudge::start_fresh() {
  KF_TRY(fresh_memory_, InputMemory::create(task_, check_slots(task_)));
  fill_params(task_, *fresh_memory_, repeated_.front().params);
  KF_TRY(auto started, ProgramProcess::start(candidate_, task_, *fresh_memory_, context_.load_limit));
  if (!started) return verdict_.fail(started.error()), false;
  fresh_ = std::move(*started);
  KF_TRY(auto prepared, fresh_->prepare(context_.call_limit));
  if (!prepared) return verdict_.fail(prepared.error()), false;
  return true;
}

Result<void> TimedJudge::start_echo() {
  if (options_.echo) echo_ = options_.echo;
  if (*echo_ && (*echo_)->echo_ns()) return {};  // kept, and alive
  KF_TRY(*echo_, ProgramProcess::start_idle(candidate_, context_.load_limit));
  return {};
}

int TimedJudge::first_threads(const Opponent& opponent) const {
  if (!opponent.baseline || opponent.threads == 0) return context_.threads;
  return std::min(opponent.threads, context_.threads);
}

bool TimedJudge::may_gain_from_one_thread(const Opponent& opponent) const {
  return opponent.try_one_thread && opponent.threads == 0 && context_.threads > 1;
}

// Puts processes of these opponents into started_.
Result<void> TimedJudge::start(const std::vector<OpponentThreads>& wanted) {
  std::vector<ProgramSpec> specs;
  for (const auto& [opponent, threads] : wanted) {
    specs.push_back(opponent->spec);
    specs.back().threads = threads;
  }
  auto processes = start_together(specs, task_, *memory_, context_.load_limit * 3);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    KF_TRY(auto process, std::move(processes[i]));
    started_.insert_or_assign(wanted[i], std::move(process));
  }
  return {};
}

// All opponents as they are; small problems on one thread too, because they are likely to be tried so.
Result<void> TimedJudge::start_all_opponents(bool small) {
  std::vector<OpponentThreads> wanted;
  for (const Opponent& opponent : opponents_) {
    wanted.emplace_back(&opponent, first_threads(opponent));
    if (small && may_gain_from_one_thread(opponent)) wanted.emplace_back(&opponent, 1);
  }
  return start(wanted);
}

Result<void> TimedJudge::start_candidate() {
  bool small = check_slots(task_) > 2;
  // Starting a process takes longer than most small kernels: they start side by side, and wait stopped.
  auto beside = std::async(std::launch::async, [this] { return start_echo(); });
  auto opponents = std::async(std::launch::async, [this, small] { return start_all_opponents(small); });
  auto own = ProgramProcess::start(candidate_, task_, *memory_, context_.load_limit);
  auto others = beside.get(), opponents_started = opponents.get();
  KF_TRY_VOID(std::move(others));
  KF_TRY_VOID(std::move(opponents_started));
  KF_TRY(auto started, std::move(own));
  if (!started) {
    verdict_.fail(started.error());
    return {};
  }
  // One that prepares has the same params in every call; only it may see the check's this early.
  if ((*started)->usage().has_prepare)
    fill_params(task_, *memory_, {InputKind::kOwn, context_.check_seed(InputKind::kOwn)});
  KF_TRY(auto prepared, (*started)->prepare(context_.call_limit));
  if (!prepared) {
    verdict_.fail(prepared.error());
    return {};
  }
  owned_.push_back(std::move(*started));
  options_.timing.echo = echo_->get();
  return {};
}

// A opponent must give the right values before its time means anything. Nothing when it does not, or is not
// there; `refused` says why.
Result<TimedJudge::CheckedOpponent> TimedJudge::check_opponent(const Opponent& opponent, int threads) {
  auto refuse = [&](const Failure& failure) {
    std::string reason = reason_text(failure);
    return CheckedOpponent{.refused = reason.substr(0, reason.find('\n'))};
  };
  auto found = started_.extract(OpponentThreads(&opponent, threads));
  if (!found.mapped()) return refuse(found.mapped().error());
  CheckedOpponent checked{.process = std::move(*found.mapped())};
  QuietTime quiet;  // some choose in prepare() what is quicker, and the calls tell which number of threads is
  ProgramProcess& process = *checked.process;
  KF_TRY(auto prepared, process.prepare(context_.call_limit * 3));
  if (!prepared) return refuse(prepared.error());
  InputChoice choice{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  fill_inputs(task_, *memory_, choice, 0);
  for (int i = 0; i < 3; ++i) {
    KF_TRY(auto failure, call_once_more(checked));
    if (failure) return refuse(*failure);
  }
  Verdict scratch;
  if (auto failure = judge_outputs(context_, *expected_, process.outputs(), 0, InputKind::kOwn,
                                   Gate::kAccuracy, scratch))
    return refuse(*failure);
  return checked;
}

Result<std::optional<Failure>> TimedJudge::call_once_more(CheckedOpponent& opponent) {
  reset_outputs(task_, opponent.process->outputs(), {InputKind::kOwn, context_.check_seed(InputKind::kOwn)},
                0);
  KF_TRY(auto time, opponent.process->call({0}, context_.call_limit));
  if (!time) return time.error();
  opponent.call_ns = opponent.call_ns == 0 ? time->parent_ns : std::min(opponent.call_ns, time->parent_ns);
  return std::nullopt;
}

// Three calls one behind the other may all have met a busy machine: that one thread is quicker must show in
// turns too, or the opponent would be timed with less than it can do.
Result<bool> TimedJudge::quicker_alone(CheckedOpponent& one, CheckedOpponent& all) {
  QuietTime quiet;
  for (int i = 0; i < 4 && one.call_ns < all.call_ns; ++i)
    for (CheckedOpponent* opponent : {&all, &one}) {
      KF_TRY(auto failure, call_once_more(*opponent));
      if (failure) return opponent == &all;
    }
  return one.call_ns < all.call_ns;
}

// Opponents are checked on the check inputs, in memory the candidate sees too. It is stopped meanwhile, and
// finds neither them nor the params again when it goes on: otherwise it could tell the call whose true result
// is known from all others.
Result<void> TimedJudge::try_opponents() {
  InputChoice own{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  fill_params(task_, *memory_, own);
  KF_TRY_VOID(check_opponents());
  fill_inputs(task_, *memory_, {InputKind::kOwn, random_()}, 0);
  if (!owned_[0]->usage().has_prepare) fill_params(task_, *memory_, {InputKind::kOwn, random_()});
  return {};
}

// First all of them as they are, then those that may be quicker on one thread once more.
Result<void> TimedJudge::check_opponents() {
  std::map<const Opponent*, CheckedOpponent> checked, alone;
  std::vector<OpponentThreads> once_more;
  for (const Opponent& opponent : opponents_) {
    if (context_.progress) context_.progress(0, "checking " + opponent.name);
    KF_TRY(checked[&opponent], check_opponent(opponent, first_threads(opponent)));
    const CheckedOpponent& first = checked[&opponent];
    if (first.process && may_gain_from_one_thread(opponent) && first.call_ns < kOneThreadBelowNs)
      once_more.emplace_back(&opponent, 1);
  }
  std::vector<OpponentThreads> not_yet;
  std::ranges::copy_if(once_more, std::back_inserter(not_yet),
                       [&](const OpponentThreads& one) { return !started_.contains(one); });
  KF_TRY_VOID(start(not_yet));
  for (const auto& [opponent, threads] : once_more) {
    KF_TRY(alone[opponent], check_opponent(*opponent, threads));
  }
  started_.clear();
  for (const Opponent& opponent : opponents_) {
    CheckedOpponent& first = checked[&opponent];
    if (!first.process) {
      findings_.absent.push_back({opponent.name, first.refused});
      continue;
    }
    // Failing with one thread alone does not make it absent.
    CheckedOpponent& one = alone[&opponent];
    const bool tried = one.process != nullptr;
    bool take_one = false;
    if (tried) {
      KF_TRY(take_one, quicker_alone(one, first));
    }
    const bool clear = tried && std::max(one.call_ns, first.call_ns) >
                                    kClearlyQuicker * std::min(one.call_ns, first.call_ns);
    const auto add = [&](CheckedOpponent& checked_opponent, int threads) {
      owned_.push_back(std::move(checked_opponent.process));
      present_.push_back({&opponent,
                          fmt::format("{}, {} thread{}", opponent.what, threads, threads == 1 ? "" : "s"),
                          clear ? threads : opponent.threads});
    };
    // Where the few calls so far do not decide, the rounds do.
    const bool undecided = tried && !clear;
    if (undecided || !take_one) add(first, first_threads(opponent));
    if (undecided || take_one) add(one, 1);
  }
  return {};
}

}  // namespace kforge
