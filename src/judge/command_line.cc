#include "judge/command_line.h"

namespace kforge {

std::vector<std::string> judge_arguments(const JudgeOptions& options) {
  static const JudgeOptions kDefaults;
  std::vector<std::string> words;
  auto add = [&](const char* name, const std::string& value, bool given) {
    if (given) words.insert(words.end(), {name, value});
  };
  auto flag = [&](const char* name, bool given) {
    if (given) words.emplace_back(name);
  };
  add("--on", options.platform, options.platform != kDefaults.platform);
  add("--precision", options.precision, options.precision != kDefaults.precision);
  add("--shapes", options.shape_set, options.shape_set != kDefaults.shape_set);
  for (const std::string& dims : options.set) add("--set", dims, true);
  add("--cache", "warm", !options.cold);
  add("--threads", std::to_string(options.threads), options.threads > 0);
  for (const std::string& baseline : options.baselines) add("--baseline", baseline, true);
  add("--python", options.python.string(), !options.python.empty());
  flag("--deterministic", options.deterministic);
  flag("--allow-libraries", options.allow_libraries);
  add("--march", options.march, !options.march.empty());
  add("--timeout", fmt::format("{}", options.call_limit_seconds), options.call_limit_seconds > 0);
  if (options.sandbox && *options.sandbox != SandboxTier::kNone)
    add("--sandbox", std::string(name_of(*options.sandbox)), true);
  flag("--no-sandbox", options.sandbox == SandboxTier::kNone);
  return words;
}

}  // namespace kforge
