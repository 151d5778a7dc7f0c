#include "forge/idle_options.h"

#include <algorithm>

namespace kforge {

std::vector<std::string> idle_options(const ForgeOptions& options, const Agents& agents,
                                      const StrategyEntry& strategy) {
  static const ForgeOptions kDefault;
  std::vector<std::string> notes;
  auto note = [&](bool given, std::string_view option, std::string_view why) {
    if (given) notes.push_back(fmt::format("{} has no effect: {}", option, why));
  };
  const bool prompted = agents.any(&GeneratorTraits::prompted);
  const bool models = !agents.models.empty();  // generators or analysts
  note(options.width > 1 && !strategy.wide, "--width",
       fmt::format("the strategy {} has one line of descent", strategy.name));
  note(options.repairs != kDefault.repairs && !agents.any(&GeneratorTraits::repairs), "--repairs",
       "the built-in generator mends nothing, it goes on from what works");
  note(!options.reference.empty() && !prompted, "--reference", "only models read kernels of other platforms");
  note(!options.record.empty() && !models, "--record", "no model is asked");
  note(!options.config.empty() && !models, "--config", "no model is asked");
  note((options.budget.tokens || options.budget.dollars) && !models, "a budget of tokens or dollars",
       "no model is asked");
  note(options.check_only && options.timing_seconds != kDefault.timing_seconds, "--seconds",
       "--check times nothing");
  note(options.check_only && !options.session.baselines.empty(), "--baseline", "--check times nothing");
  note(!options.check_only && options.timing_seconds != kDefault.timing_seconds &&
           agents.every(&GeneratorTraits::raced),
       "--seconds", "programs of the built-in generator are raced until the faster one is known");
  note(options.analyst != kDefault.analyst && options.without.contains("advice"), "--analyst",
       "--without advice leaves it unasked");
  note(!options.profilers.empty() && options.without.contains("profile"), "--profiler",
       "--without profile leaves profilers out");
  const bool no_baseline =
      std::ranges::find(options.session.baselines, "none") != options.session.baselines.end();
  note(options.target.has_value() && no_baseline, "--target",
       "without a baseline there is no speedup to reach");
  for (const std::string& block : options.without) {
    bool works_without_prompts = block == "advice" || block == "profile";
    note(!models && !works_without_prompts, "--without " + block, "no model is shown a prompt");
  }
  return notes;
}

}  // namespace kforge
