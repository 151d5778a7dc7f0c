// How far a run is, from counts alone: cheap enough to be asked every second while a run is timed. And what
// models were asked by all runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sqlite.h"

namespace kforge {

struct RunProgress {
  bool prepared = false;  // baselines and limits are measured
  int planned = 0, judged = 0;
  std::optional<int> current;  // the first attempt that is not judged yet
  bool written = false;        // its program is there
  double clock = 0;            // seconds of search when the last attempt was judged
  int calls = 0;
  std::int64_t tokens = 0;
  std::optional<double> dollars;  // nothing: no price is known

  bool operator==(const RunProgress&) const = default;
};

struct ModelUse {
  std::string model;
  int calls = 0, lost = 0, runs = 0;
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> dollars;
  double seconds = 0;
  std::string last_asked;
};

class ProgressReader {
 public:
  static Result<ProgressReader> open();
  static Result<ProgressReader> open(const std::filesystem::path& folder);

  Result<RunProgress> run(std::string_view id);
  // By when they were asked last.
  Result<std::vector<ModelUse>> models();

 private:
  explicit ProgressReader(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace kforge
