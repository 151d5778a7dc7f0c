#include "search/plan_of.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

constexpr const char* kFastestSure =
    "Write the fastest version you are sure of: one that is right at the first try, with the loops, the "
    "threads and the vectors you would give it if it were the last one.";

// Where drafts that are made at once begin, so that they do not end in the same program. The first is free.
constexpr const char* kBeginnings[] = {
    "Begin where you expect most.",
    "Begin from the memory traffic: the fewest passes over the data, in pieces that stay in a cache.",
    "Begin from the innermost loop: whole vectors, a register tile, independent accumulators.",
    "Begin from the mathematics: what need not be computed, or once for many outputs.",
    "Begin from the threads: pieces of equal work, no waiting, one parallel region.",
};

std::string instruction_of(const Plan& plan) {
  if (plan.pass == Pass::kFunctional) {
    if (!plan.last)
      return plan.history.empty()
                 ? kFastestSure
                 : "The earlier attempts led nowhere. Start again from nothing, another way.";
    return fmt::format(
        "Mend the program: find the cause of what went wrong and change no more than that needs. If its idea "
        "cannot be mended, {}.",
        plan.best ? "go back to the best program and take another" : "take another");
  }
  if (plan.inspiration)
    return fmt::format("Make the program of attempt {} faster; take what is good in attempt {} into it.",
                       plan.last ? plan.last->number : 0, plan.inspiration->number);
  return "";  // the prompt says it: it knows whether a recommendation is shown
}

// Prompts that are equal would be paid for twice.
std::string apart_from_others(const Plan& plan, const Proposal& proposal) {
  std::string text;
  if (proposal.siblings > 1 && proposal.parent < 0) {
    auto beginning = static_cast<std::size_t>(proposal.sibling) % std::size(kBeginnings);
    text = fmt::format("{} programs are begun at the same time; yours is number {}. {}", proposal.siblings,
                       proposal.sibling + 1, kBeginnings[beginning]);
  } else if (proposal.siblings > 1) {
    text = fmt::format(
        "{} programs are made from this one at the same time, each by another change; yours is number {}.",
        proposal.siblings, proposal.sibling + 1);
    if (proposal.sibling > 0)
      text += " Where no recommendation is given, pass over the most obvious change: the others make it.";
  }
  std::vector<int> before;
  for (const Attempt* attempt : plan.history)
    if (proposal.parent >= 0 && attempt->proposal.parent == proposal.parent)
      before.push_back(attempt->number);
  constexpr std::size_t kShown = 8;
  if (before.size() > kShown) before.erase(before.begin(), before.end() - kShown);
  if (!before.empty())
    text += fmt::format("{}Attempt{} {} {} made from it before: make another change than there.",
                        text.empty() ? "" : " ", before.size() == 1 ? "" : "s", fmt::join(before, ", "),
                        before.size() == 1 ? "was" : "were");
  return text;
}

}  // namespace

Plan plan_of(const History& history, const Proposal& proposal, int number) {
  Plan plan;
  plan.pass = proposal.pass;
  plan.attempt = number;
  for (const Attempt& attempt : history.attempts) plan.history.push_back(&attempt);
  plan.best = history.best();
  plan.last = history.find(proposal.parent);
  plan.inspiration = history.find(proposal.inspiration);
  plan.instruction = instruction_of(plan);
  plan.apart = apart_from_others(plan, proposal);
  return plan;
}

}  // namespace kforge
