// Sizes that no suite has: the points of `bench_smith --sweep`. Families bound by memory over ten sizes from
// 64 KB to 512 MB with rows of many lengths; products of thirty shapes; the layers of three well-known
// networks. A point is a task of the suites with other dimensions, or a layer written as a task.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"

namespace kforge::bench {

struct SweepPoint {
  std::string name;                          // "sweep/norms/layer_norm/474K_r1000"
  std::string task;                          // of the suites; or a folder below write_layers()
  std::map<std::string, std::int64_t> dims;  // `--set`
};

// In the order in which they are measured. Layers lie in `folder`, which is written where it has none yet. An
// Error names the point whose task does not take its dimensions.
Result<std::vector<SweepPoint>> sweep_points(const fs::path& folder);

}  // namespace kforge::bench
