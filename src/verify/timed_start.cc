#include "verify/timed_judge.h"

#include <algorithm>
#include <future>

#include "verify/value_gates.h"

namespace kforge {
namespace {

constexpr double kOneThreadBelowNs = 20e6;

}  // namespace

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

}  // namespace kforge
