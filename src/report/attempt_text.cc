#include "report/attempt_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/readable.h"
#include "report/speedup_text.h"

namespace kforge {

std::string cost_text(const CostReport& cost) {
  if (cost.calls + cost.lost_calls == 0) return "";
  std::string text = fmt::format("{} call{}, {} tokens in, {} out", cost.calls, cost.calls == 1 ? "" : "s",
                                 readable_count(static_cast<double>(cost.input_tokens)),
                                 readable_count(static_cast<double>(cost.output_tokens)));
  if (cost.dollars) text += fmt::format(", ${:.4f}", *cost.dollars);
  if (cost.lost_calls > 0) text += fmt::format(", {} lost", cost.lost_calls);
  return text;
}

std::string outcome_text(const Attempt& a) {
  if (!a.judgement) return a.generation ? "pending" : "not written";
  if (a.verified()) return a.accepted() ? "best so far" : a.better() ? "beats its parent only" : "no gain";
  std::string text(name_of(a.judgement->outcome));
  std::ranges::replace(text, '_', ' ');
  return a.judgement->gate ? fmt::format("{} ({})", text, name_of(*a.judgement->gate)) : text;
}

std::string kept_words(const Attempt& a) {
  if (!a.followed_advice())
    return a.generation && a.generation->followed_advice ? "not followed: the change is unrelated to it"
                                                         : "not known whether it was followed";
  std::string words = fmt::format("promised {:.2f}x", a.advice->expected_gain);
  if (a.advice->above_roofline())
    words += fmt::format(" (more than the {:.2f}x that the roofline left)", *a.advice->roofline_limit);
  return words + (a.gain() ? ", measured " + interval_text(*a.gain()) : ", not measured");
}

std::string advice_text(const Attempt& a) {
  return a.advice ? fmt::format("{}: {}", a.advice->tag, kept_words(a)) : "";
}

std::vector<std::string> failure_lines(const Attempt& attempt) {
  std::vector<std::string> lines;
  if (!attempt.failed()) return lines;
  for (std::string_view line : lines_of(attempt.judgement->reason)) lines.push_back(printable(line));
  if (attempt.generation)
    for (const std::string& remark : attempt.generation->remarks)
      lines.push_back("(" + printable(remark) + ")");
  return lines;
}

bool algebraic(const EvalReport& report) {
  return std::ranges::find(report.flags, "algebraic") != report.flags.end();
}

std::string ended_words(const std::optional<Ending>& ended) {
  if (!ended) return "not ended";
  switch (*ended) {
    case Ending::kAttempts:
    case Ending::kSeconds:
    case Ending::kTokens:
    case Ending::kDollars:
      return fmt::format("the budget of {} was used up", name_of(*ended));
    case Ending::kTarget:
      return "the target was reached";
    case Ending::kVerified:
      return "a program passed every gate, and no more was asked for";
    case Ending::kRoofline:
      return "it runs at 95 % of the roofline: there is nothing left to gain";
    case Ending::kNoGain:
      return "several attempts in a row brought nothing";
    case Ending::kExhausted:
      return "every neighbouring design was tried";
    case Ending::kInterrupted:
      return "interrupted";
    case Ending::kService:
      return "a model service failed";
  }
  return "";
}

std::string headline_of(const RunReport& r) {
  if (!r.found()) return r.state == RunState::kFinished ? "No verified program was found" : "Not finished";
  std::string words = cautions(*r.best);
  if (!words.empty()) words.insert(0, "; ");
  if (!r.best->time_ns) return "Verified, not timed" + words;
  if (!r.best->speedup) return "Verified; there was no baseline to compare with" + words;
  return fmt::format("Verified: {} over {}{}", interval_text(*r.best->speedup), rival_text(*r.best), words);
}

}  // namespace kforge
