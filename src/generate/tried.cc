#include "generate/tried.h"

#include <fmt/core.h>

#include <algorithm>

#include "generate/prompt.h"
#include "generate/quote.h"

namespace kforge {
namespace {

constexpr std::size_t kNearMisses = 6;  // half of all equal programs look faster: not every one is news

std::string range(const Speedup& s) { return fmt::format("[{:.3g}, {:.3g}]", s.lo, s.hi); }

// Its ratio over the best of the run when it was judged: what decided whether it was kept.
const Speedup* over_best_then(const Attempt& attempt) {
  if (!attempt.judgement) return nullptr;
  return attempt.judgement->over_best ? &*attempt.judgement->over_best : attempt.gain();
}

// Where it stands: what is kept must be faster than the best by its whole interval.
std::string standing(const Attempt& attempt, const Attempt* best) {
  if (best && attempt.number == best->number) return ", the best so far";
  if (attempt.accepted()) return best ? ", kept as the best until a later one beat it" : ", kept as the best";
  const Speedup* over = over_best_then(attempt);
  if (!over) return "";
  if (attempt.better()) return ", faster than what it was made from, but not than the best: not kept";
  if (over->hi < 1) return ", not kept: slower";
  return over->lo <= 1 ? ", not kept: the interval holds 1, so it may be noise" : ", not kept";
}

// ", 812 us (onednn 1060 us in the same rounds), 1.31x the fastest baseline [1.2, 1.4], 1.05x attempt 3
// [0.98, 1.1]".
std::string figures(const Attempt& attempt) {
  std::string text;
  const AttemptJudgement& judged = *attempt.judgement;
  const Proposal& proposal = attempt.proposal;
  if (judged.time_ns) text += ", " + time_text(*judged.time_ns);
  if (judged.time_ns && judged.baseline_ns && judged.speedup)
    text += fmt::format(" ({} {} in the same rounds)", single_line(judged.speedup->against, 40),
                        time_text(*judged.baseline_ns));
  if (judged.modelled_ns) text += ", modelled " + time_text(*judged.modelled_ns);
  if (judged.speedup)
    text += fmt::format(", {:.3g}x {} {}", judged.speedup->value,
                        judged.baseline_ns ? "that" : "the fastest baseline", range(*judged.speedup));
  bool other = proposal.rival >= 0 && proposal.rival != proposal.parent;
  if (const Speedup* gain = attempt.gain())
    text += fmt::format(", {:.3g}x {} {}", gain->value,
                        other ? fmt::format("attempt {}", proposal.rival) : "its parent", range(*gain));
  // Where lines of descent have bests of their own, that of the run is another.
  if (judged.over_best && attempt.gain() && judged.over_best->against != attempt.gain()->against)
    text += fmt::format(", {:.3g}x {}, the best then, {}", judged.over_best->value, judged.over_best->against,
                        range(*judged.over_best));
  return text;
}

std::string first_line(const AttemptJudgement& judged) {
  return single_line(judged.reason.substr(0, judged.reason.find('\n')), 110);
}

// Table cells must not contain the table's own mark.
std::string cell(std::string_view text, std::size_t limit) {
  std::string line = single_line(text, limit);
  std::ranges::replace(line, '|', '/');
  return line;
}

// Of advice that was followed; a promise has no interval.
std::string promised(const Attempt& attempt) {
  if (!attempt.followed_advice())
    return attempt.advice && attempt.generation && attempt.generation->followed_advice ? "advice not followed"
                                                                                       : "";
  std::string text = fmt::format("{:.3g}x", attempt.advice->expected_gain);
  if (attempt.advice->above_roofline())
    text += fmt::format(" (the roofline left {:.3g}x)", *attempt.advice->roofline_limit);
  return text;
}

bool looked_faster(const Attempt& attempt) {
  if (!attempt.judgement || attempt.accepted() || !over_best_then(attempt)) return false;
  Outcome outcome = attempt.judgement->outcome;
  bool ran = outcome == Outcome::kPassed || outcome == Outcome::kSlower || outcome == Outcome::kOverturned;
  return ran && over_best_then(attempt)->value > 1;
}

// Was it measured against this one?
bool raced_against(const Attempt& attempt, const Attempt& best) {
  const std::optional<Speedup>& over = attempt.judgement->over_best;
  return over ? over->against == fmt::format("attempt {}", best.number)
              : attempt.proposal.rival == best.number;
}

std::vector<const Attempt*> nearest_misses(const Plan& plan) {
  std::vector<const Attempt*> list;
  std::ranges::copy_if(plan.history, std::back_inserter(list),
                       [](const Attempt* a) { return looked_faster(*a); });
  std::ranges::stable_sort(list, std::greater<>(),
                           [](const Attempt* a) { return over_best_then(*a)->value; });
  list.resize(std::min(list.size(), kNearMisses));
  return list;
}

}  // namespace

std::string result_text(const Attempt& attempt, const Attempt* best) {
  if (!attempt.judgement) return "not judged";
  const AttemptJudgement& judged = *attempt.judgement;
  std::string gate = judged.gate ? fmt::format(" ({})", name_of(*judged.gate)) : "";
  switch (judged.outcome) {
    case Outcome::kPassed:
      return "correct" + figures(attempt) + standing(attempt, best);
    case Outcome::kSlower:  // timed first and not checked, because it did not win
      return "not surely faster" + figures(attempt) + standing(attempt, best);
    case Outcome::kOverturned:
      return fmt::format("overturned{}{}: {}", gate, figures(attempt), first_line(judged));
    default:
      return fmt::format("{}{}: {}", name_of(judged.outcome), gate, first_line(judged));
  }
}

std::string history_table(const Plan& plan, std::size_t most_rows) {
  std::size_t count = plan.history.size(), skipped = count > most_rows ? count - most_rows : 0;
  if (count == 0) return "";
  std::vector<const Attempt*> near = nearest_misses(plan);
  std::string text = "| # | from | change | promised | result |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < count; ++i) {
    const Attempt& attempt = *plan.history[i];
    bool always = attempt.accepted() || std::ranges::find(near, &attempt) != near.end();
    if (i < skipped && !always) continue;
    text += fmt::format("| {} | {} | {} | {} | {} |\n", attempt.number,
                        attempt.proposal.parent < 0 ? "-" : std::to_string(attempt.proposal.parent),
                        cell(attempt.change(), 120), promised(attempt),
                        cell(result_text(attempt, plan.best), 400));
  }
  bool timed = std::ranges::any_of(plan.history,
                                   [](const Attempt* a) { return a->judgement && a->judgement->time_ns; });
  if (timed)
    text +=
        "\nEach row was timed at another moment: compare the factors (from interleaved calls, 95 % interval "
        "in "
        "brackets), not the times.\n";
  if (skipped > 0)
    text += fmt::format(
        "(older attempts that were neither kept nor near it are left out; there are {} in all)\n", count);
  return text;
}

const Attempt* runner_up(const Plan& plan) {
  if (!plan.best) return nullptr;
  const Attempt* found = nullptr;
  for (const Attempt* attempt : plan.history) {
    // Over an earlier best the factor says nothing about this one.
    bool comparable = looked_faster(*attempt) && attempt->verified() && raced_against(*attempt, *plan.best) &&
                      attempt->program();
    if (comparable && (!found || over_best_then(*attempt)->value > over_best_then(*found)->value))
      found = attempt;
  }
  if (!found || (plan.last && plan.last->number == found->number)) return nullptr;
  bool tried_since = std::ranges::any_of(
      plan.history, [&](const Attempt* a) { return a->number > found->number && !a->accepted(); });
  return tried_since ? found : nullptr;
}

}  // namespace kforge
