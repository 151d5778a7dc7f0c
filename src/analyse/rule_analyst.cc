// Which rule to believe: by what it promises, how sure it is, and what became of its like before.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyse/analyst.h"
#include "analyse/rules.h"
#include "generate/prompt_facts.h"

namespace kforge {
namespace {

constexpr double kRealGain = 1.02;  // below this a change brought nothing

// What was measured where earlier advice with this tag was followed: a gain or a failure of another change is
// not its own.
struct Record {
  int helped = 0, failed = 0;
};

Record record_of(std::string_view tag, const std::vector<const Attempt*>& history) {
  Record record;
  for (const Attempt* attempt : history) {
    if (!attempt || !attempt->followed_advice() || attempt->advice->tag != tag) continue;
    if (attempt->accepted() && attempt->gain() && attempt->gain()->value >= kRealGain)
      ++record.helped;
    else if (attempt->gain() || attempt->failed())
      ++record.failed;
  }
  return record;
}

std::string times_text(int times) {
  return times == 0 ? "never" : times == 1 ? "once" : fmt::format("{} times", times);
}

// Was it tried on this very program and not kept? Then its profile will only say the same again.
bool failed_here(const Advice& advice, const AnalysisInput& input) {
  if (!input.program) return false;
  return std::ranges::any_of(input.history, [&](const Attempt* attempt) {
    return attempt && attempt->followed_advice() && attempt->advice->tag == advice.tag &&
           attempt->proposal.parent == input.program->number && !attempt->accepted() && attempt->judgement;
  });
}

void weigh_with_history(Advice& advice, const std::vector<const Attempt*>& history) {
  Record record = record_of(advice.tag, history);
  for (int i = 0; i < std::min(record.failed, 6); ++i) advice.confidence *= 0.4;
  if (record.failed > 0)
    advice.evidence += fmt::format("; advice of this kind was tried {} and helped {}",
                                   times_text(record.failed + record.helped), times_text(record.helped));
}

bool can_be_followed(const Advice& advice, const AnalysisInput& input) {
  return input.possible.empty() || std::ranges::find(input.possible, advice.tag) != input.possible.end();
}

double promise(const Advice& advice) {
  return advice.confidence * std::log(std::max(1.001, advice.expected_gain));
}

// Where llvm-mca shows that the units are busy all the time, the loop itself is not the place to look.
bool loop_at_its_limit(const Known& known) {
  auto cycles = known.fact("mca_cycles_per_iteration"), units = known.fact("mca_throughput_cycles");
  return cycles && units && *units > 0 && *cycles / *units < 1.1;
}

Advice nothing_known(const AnalysisInput& input) {
  if (input.program && input.program->failed())
    return Advice{.bottleneck = "the program is not correct yet",
                  .evidence = fmt::format("outcome {}", name_of(input.program->judgement->outcome)),
                  .change = "Make it correct first.",
                  .expected_gain = 1.1,
                  .confidence = 0.1,
                  .tag = "algorithm"};
  Known known(input);
  if (loop_at_its_limit(known))
    return Advice{.bottleneck = "not the hot loop: it is as fast as its instructions allow",
                  .evidence = fmt::format("llvm-mca: {:.3g} cycles per iteration, its units need {:.3g}",
                                          known.fact_or("mca_cycles_per_iteration", 0),
                                          known.fact_or("mca_throughput_cycles", 0)),
                  .change =
                      "Look around it: packing, passes before and after it, data that misses the caches "
                      "between blocks, how the work is cut into pieces; or compute less.",
                  .expected_gain = 1.1,
                  .confidence = 0.1,
                  .tag = "algorithm"};
  // A generator that says what it can do is at least told to do the most promising of it.
  for (const std::string& tag : input.possible)
    if (is_advice_tag(tag))
      return Advice{.bottleneck = "not known",
                    .evidence = "no rule that applies to the facts at hand can be followed",
                    .change = fmt::format("Try the next change of kind \"{}\".", tag),
                    .expected_gain = 1.05,
                    .confidence = 0.1,
                    .tag = tag};
  return Advice{
      .bottleneck = "not known",
      .evidence = "no rule is left that applies to the facts at hand",
      .change =
          known.on_device()
              ? "Look at the kernel that takes longest: neighbouring threads on neighbouring addresses, "
                "reuse through shared memory and registers, several results in a thread, enough blocks; "
                "change one of these and measure."
              : "Look at the innermost loop: contiguous access, whole vectors, several independent "
                "accumulators, one parallel region; change one of these and measure.",
      .expected_gain = 1.1,
      .confidence = 0.1,
      .tag = "unroll"};
}

}  // namespace

std::vector<Advice> rule_advice(const AnalysisInput& input) {
  Known known(input);
  std::vector<Advice> all;
  std::vector<std::vector<Rule>> sets = {bound_rules(), code_rules(), thread_rules(), device_rules()};
  // What rules about loops, caches and threads of a processor would say makes no sense in a device's
  // language.
  if (known.on_device()) sets = {device_rules()};
  for (const auto& rules : sets)
    for (Rule rule : rules)
      if (auto advice = rule(known)) all.push_back(std::move(*advice));
  for (Advice& advice : all) {
    advice.by = "rules";
    weigh_with_history(advice, input.history);
  }
  std::ranges::stable_sort(all, std::greater(), promise);
  auto useful = [&](const Advice& advice) {
    // A generator with moves of a kind left has not done all of it yet.
    return can_be_followed(advice, input) && (!input.possible.empty() || !failed_here(advice, input));
  };
  std::ranges::stable_partition(all, useful);
  if (all.empty() || !useful(all.front())) {
    all.insert(all.begin(), nothing_known(input));
    all.front().by = "rules";
  }
  return all;
}

Advice ranked_advice(const AnalysisInput& input) {
  std::vector<Advice> all = rule_advice(input);
  // Further siblings than there are rules get the last one.
  return all[std::min(static_cast<std::size_t>(input.sibling), all.size() - 1)];
}

std::optional<double> roofline_limit(const AgentSetting* setting, const Attempt& program) {
  if (!setting || !program.judgement || !roofline_is_believable(*setting)) return std::nullopt;
  double fraction = program.judgement->roofline_fraction.value_or(0);
  if (fraction <= 0 || fraction >= 1) return std::nullopt;
  return 1 / fraction;
}

Result<Analysis> RuleAnalyst::analyse(const AnalysisInput& input, const ReplyWatch&) {
  Analysis analysis;
  analysis.advice = ranked_advice(input);
  return analysis;
}

}  // namespace kforge
