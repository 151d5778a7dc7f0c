#include "forge/agent_caller.h"

#include <chrono>

#include "generate/quote.h"

namespace kforge {

AgentCaller::AgentCaller(Agents& agents, Attempts& attempts, const AgentSetting& context, RunView& view,
                         std::stop_token stop)
    : agents_(agents),
      attempts_(attempts),
      context_(context),
      view_(view),
      stop_(std::move(stop)),
      generators_(static_cast<int>(agents.generators.size())),
      analysts_(static_cast<int>(agents.analysts.size())) {}

ReplyWatch AgentCaller::watch() {
  ReplyWatch watch;
  watch.stop = stop_;
  watch.on_notice = [this](std::string_view notice) { view_.advance(0, notice); };
  return watch;
}

void AgentCaller::say_set_aside(const std::string& who, const Error& why, const std::string& then) {
  view_.line(fmt::format("  set aside: {}: {}; {}", who, single_line(why.message, 200), then));
}

// The rules stand last in the list of analysts and cannot fail, so there is always advice.
Result<void> AgentCaller::advise(Attempt& attempt, Plan& plan, const Profile& profile) {
  AnalysisInput input;
  input.setting = &context_;
  input.program = plan.last;
  input.best = plan.best;
  input.profile = &profile;
  input.history = plan.history;
  input.attempt = attempt.number;
  input.sibling = attempt.proposal.sibling;
  input.siblings = attempt.proposal.siblings;
  if (auto who = generators_.working(attempt.proposal.generator))
    input.possible = generator(*who).kinds_of_change(*plan.last);
  if (plan.last->judgement) {
    input.max_rel_error = plan.last->judgement->max_rel_error;
    input.tunables = plan.last->judgement->tuning;
  }
  while (auto who = analysts_.working(0)) {
    auto analysis = analyst(*who).analyse(input, watch());
    if (stop_.stop_requested()) return {};
    if (analysis) {
      Advice& advice = analysis->advice;
      advice.roofline_limit = roofline_limit(&context_, *plan.last);
      if (advice.fallback)
        view_.line(fmt::format("  analyst: {}; the rules advise attempt {} instead",
                               single_line(*advice.fallback, 240), attempt.number));
      else if (auto why = analysts_.failure(0); why && *who != 0)
        advice.fallback =
            fmt::format("{} was set aside: {}", analyst(0).name(), single_line(why->message, 200));
      KF_TRY_VOID(attempts_.save_advice(attempt, advice));
      plan.advice = attempt.advice;
      return {};
    }
    if (!analysts_.set_aside(*who, analysis.error())) continue;
    auto next = analysts_.working(0);
    if (!next) break;
    say_set_aside(analyst(*who).name(), analysis.error(), analyst(*next).name() + " advises from now on");
  }
  return std::unexpected(analysts_.last_failure());
}

std::optional<int> AgentCaller::other_than(int generator, const std::set<int>& declined) const {
  int count = static_cast<int>(agents_.generators.size());
  for (int step = 1; step < count; ++step)
    if (auto next = generators_.working((generator + step) % count); next && !declined.contains(*next))
      return next;
  return std::nullopt;
}

Result<void> AgentCaller::write(Attempt& attempt, const Plan& plan) {
  auto start = std::chrono::steady_clock::now();
  std::set<int> declined;
  for (;;) {
    auto who = generators_.working(attempt.proposal.generator);
    if (!who) return std::unexpected(generators_.last_failure());
    if (*who != attempt.proposal.generator) KF_TRY_VOID(attempts_.hand_over(attempt, *who));
    Generator& writer = generator(*who);
    view_.stage(fmt::format("attempt {}: {} is writing", attempt.number, writer.name()));
    auto generation = writer.generate(plan, context_, watch());
    if (stop_.stop_requested()) return {};
    auto save = [&] {
      generation->generator = writer.name();
      generation->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return attempts_.save_generation(attempt, std::move(*generation));
    };
    // What this one declines, or cannot read whole, another may take; each is asked once for an attempt.
    bool declines = generation && (generation->status == ReplyStatus::kRefused ||
                                   generation->status == ReplyStatus::kTooLong);
    if (declines) {
      declined.insert(*who);
      if (auto other = other_than(*who, declined)) {
        view_.line(fmt::format("  {}: {}; {} is asked instead", writer.name(),
                               single_line(reason_text(generation->program.error()), 200),
                               generator(*other).name()));
        KF_TRY_VOID(attempts_.hand_over(attempt, *other));
        continue;
      }
    }
    // A generator that has nothing more to try leaves the rest to the others, if there are any.
    bool exhausted = generation && generation->status == ReplyStatus::kExhausted;
    if (generation && !(exhausted && agents_.generators.size() > 1)) return save();
    Error why = exhausted ? Error{"it has nothing more to try", ""} : generation.error();
    if (!generators_.set_aside(*who, why)) continue;
    auto next = generators_.working(*who);
    if (!next && exhausted) return save();
    if (next) say_set_aside(writer.name(), why, generator(*next).name() + " takes over");
  }
}

}  // namespace kforge
