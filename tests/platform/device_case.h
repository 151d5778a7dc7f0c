// Programs of several files on a device platform.
#pragma once

#include "generate/candidate.h"
#include "platform_case.h"

namespace kforge {

// Why the platform cannot be judged here; nothing where it can.
inline std::optional<std::string> missing_device(const std::string& platform) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "drivers do not run beside the sanitizers";
#endif
  auto loaded = load_platform(platform);
  if (!loaded) return loaded.error().text();
  auto facts = device_facts(*loaded);
  if (!facts) return facts.error().text();
  return std::nullopt;
}

inline Result<EvalReport> judge_device(const std::string& platform, const std::string& task,
                                       const std::vector<SourceFile>& files, bool check_only,
                                       const std::string& shapes = "small") {
  TempDir folder = TempDir::create().value();
  for (const SourceFile& file : files) std::ofstream(folder.path() / file.name) << file.content;
  EvalOptions options = options_on(platform, task);
  options.kernel = folder.path();
  options.shape_set = shapes;
  options.check_only = check_only;
  options.seconds = 1;
  SilentProgress progress;
  return evaluate(options, progress);
}

}  // namespace kforge
