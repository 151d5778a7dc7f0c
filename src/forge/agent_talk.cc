#include "forge/agent_talk.h"

#include <chrono>

#include "generate/quote.h"
#include "profile/profile_candidate.h"
#include "search/plan_of.h"

namespace kforge {

AgentTalk::AgentTalk(Agents& agents, Attempts& attempts, const GenerationContext& context, RunView& view,
                     std::stop_token stop)
    : agents_(agents),
      attempts_(attempts),
      context_(context),
      view_(view),
      stop_(std::move(stop)),
      generators_(static_cast<int>(agents.generators.size())),
      analysts_(static_cast<int>(agents.analysts.size())) {}

void AgentTalk::set_reference(Candidate program, std::string platform) {
  reference_ = std::move(program);
  reference_platform_ = std::move(platform);
}

std::string AgentTalk::name_of(int generator) const {
  return agents_.generators[static_cast<std::size_t>(generator)]->name();
}

void AgentTalk::say_set_aside(const std::string& who, const Error& why, const std::string& then) {
  view_.line(fmt::format("  set aside: {}: {}; {}", who, single_line(why.message, 200), then));
}

Result<void> AgentTalk::ask(Job& job) {
  ReplyWatch watch;
  watch.stop = stop_;
  watch.on_notice = [this](std::string_view notice) { view_.advance(0, notice); };
  Plan plan = plan_of(*job.history, job.attempt.proposal, job.attempt.number);
  plan.reference = reference_;
  plan.reference_platform = reference_platform_;
  if (job.profile && plan.last) KF_TRY_VOID(advise(job, plan, watch));
  plan.advice = job.attempt.advice;
  if (stop_.stop_requested()) return {};
  return write(job, plan, watch);
}

// The rules stand last in the list of analysts and cannot fail, so there is always advice.
Result<void> AgentTalk::advise(Job& job, Plan& plan, const ReplyWatch& watch) {
  PendingAttempt& attempt = job.attempt;
  AnalysisInput input;
  input.setting = &context_;
  input.program = plan.last;
  input.profile = job.profile.get();
  input.history = plan.history;
  input.attempt = attempt.number;
  if (auto verdict = attempts_.verdict(plan.last->number)) {
    input.max_rel_error = verdict->max_rel_error;
    input.tunables = verdict->tuning;
  }
  while (auto who = analysts_.working(0)) {
    Analyst& analyst = *agents_.analysts[static_cast<std::size_t>(*who)];
    auto analysis = analyst.analyse(input, watch);
    if (stop_.stop_requested()) return {};
    if (analysis) {
      KF_TRY_VOID(attempts_.save_advice(attempt, analysis->advice));
      plan.profile = profile_summary(*job.profile);
      plan.hot_loop = hot_loop_of(*job.profile);
      return {};
    }
    if (!analysts_.set_aside(*who, analysis.error())) continue;
    auto next = analysts_.working(0);
    if (!next) break;
    say_set_aside(analyst.name(), analysis.error(),
                  agents_.analysts[static_cast<std::size_t>(*next)]->name() + " advises from now on");
  }
  return std::unexpected(analysts_.last_failure());
}

std::optional<int> AgentTalk::other_than(int generator, const std::set<int>& declined) const {
  int count = static_cast<int>(agents_.generators.size());
  for (int step = 1; step < count; ++step)
    if (auto next = generators_.working((generator + step) % count); next && !declined.contains(*next))
      return next;
  return std::nullopt;
}

Result<void> AgentTalk::write(Job& job, const Plan& plan, const ReplyWatch& watch) {
  PendingAttempt& attempt = job.attempt;
  auto start = std::chrono::steady_clock::now();
  std::set<int> declined;
  for (;;) {
    auto who = generators_.working(attempt.proposal.generator);
    if (!who) return std::unexpected(generators_.last_failure());
    if (*who != attempt.proposal.generator) KF_TRY_VOID(attempts_.hand_over(attempt, *who));
    Generator& generator = *agents_.generators[static_cast<std::size_t>(*who)];
    auto generation = generator.generate(plan, context_, watch);
    if (stop_.stop_requested()) return {};
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // What this one declines, or cannot read whole, another may take; each is asked once for an attempt.
    bool declines =
        generation && (generation->extraction == "refused" || generation->extraction == "too_long");
    if (declines) {
      declined.insert(*who);
      if (auto other = other_than(*who, declined)) {
        view_.line(fmt::format("  {}: {}; {} is asked instead", generator.name(),
                               single_line(reason_text(generation->program.error()), 200), name_of(*other)));
        KF_TRY_VOID(attempts_.hand_over(attempt, *other));
        continue;
      }
    }
    // A built-in agent that has nothing more to try leaves the field to the models, if there are any.
    bool exhausted = generation && generation->extraction == "exhausted";
    if (generation && !(exhausted && agents_.generators.size() > 1))
      return attempts_.save_generation(attempt, *generation, generator.name(), seconds);
    Error why = exhausted ? Error{"it has nothing more to try", ""} : generation.error();
    if (!generators_.set_aside(*who, why)) continue;
    auto next = generators_.working(*who);
    if (!next && exhausted) return attempts_.save_generation(attempt, *generation, generator.name(), seconds);
    if (next) say_set_aside(generator.name(), why, name_of(*next) + " takes its turns");
  }
}

}  // namespace kforge
