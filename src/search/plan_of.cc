#include "search/plan_of.h"

namespace kforge {
namespace {

std::string instruction_of(const Plan& plan, const Proposal& proposal) {
  if (plan.pass == Pass::kFunctional) {
    if (!plan.last)
      return plan.history.empty()
                 ? "Write the first version: right before fast."
                 : "The earlier attempts led nowhere. Start again from nothing, another way.";
    return "Mend the program: find the cause of what went wrong and change no more than that needs. If its "
           "idea "
           "cannot be mended, go back to the best program and take another.";
  }
  if (proposal.inspiration >= 0)
    return fmt::format("Make the program faster; take what is good in attempt {} into it.",
                       proposal.inspiration);
  return "";  // the prompt says it: it knows whether a recommendation is shown
}

}  // namespace

Plan plan_of(const History& history, const Proposal& proposal, int number) {
  Plan plan;
  plan.pass = proposal.pass;
  plan.attempt = number;
  for (const Attempt& attempt : history.attempts) plan.history.push_back(&attempt);
  const Attempt* best = history.find(proposal.inspiration);
  if (!best) best = history.find(proposal.rival);
  if (!best) best = history.best();
  if (best) plan.best = best;
  if (const Attempt* parent = history.find(proposal.parent)) plan.last = parent;
  plan.instruction = instruction_of(plan, proposal);
  return plan;
}

}  // namespace kforge
