// What judging keeps from one program to the next: the store, expected values, the machine's peaks, the
// baselines. `kforge eval` opens one for a single program; `kforge forge` keeps one open for a whole run.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file_cache.h"
#include "base/files.h"
#include "base/progress.h"
#include "execute/program_process.h"
#include "judge/baselines.h"
#include "judge/setup.h"
#include "oracle/expected_cache.h"
#include "profile/profile.h"
#include "store/store.h"
#include "verify/verdict.h"

namespace kforge {

class Workspace {
 public:
  // `progress` outlives it. Errors as of open_setup(), and of the store.
  static Result<std::unique_ptr<Workspace>> open(const JudgeOptions& options, Progress& progress);
  ~Workspace();

  const JudgeSetup& setup() const { return *setup_; }
  Progress& progress() const { return *progress_; }
  Store* store() { return store_ ? &*store_ : nullptr; }  // null: nothing is written
  double open_seconds() const { return open_seconds_; }

  // From now on programs end at once when this is requested, and the step under way is an Error. The default
  // token never is.
  void stop_on(std::stop_token stop) { stop_ = std::move(stop); }
  const std::stop_token& stop() const { return stop_; }

  // What every judging step needs to know about one case. `fresh_inputs`: check inputs from a seed drawn now.
  Result<JudgeContext> context(const BoundTask& task, bool fresh_inputs = false);

  Result<Peaks*> peaks();  // measured when first asked for
  // Where a time of a case stands. Faster than the peaks allow: they were taken in a busy moment and are
  // measured again, once (rewritten algebra may really be faster).
  Result<RooflinePosition> roofline(const BoundTask& task, double ns);

  // Of a case: found and checked when first asked for.
  Result<CaseBaselines*> baselines(std::size_t index, const JudgeContext& context);
  // Starts processes of those that take seconds to start, in the background: for a judging that asks for them
  // later.
  Result<void> start_baselines(std::size_t index);
  // Those that start quickly; not kept.
  Result<CaseBaselines> quick_baselines(std::size_t index, const JudgeContext& context);
  // The name of the baseline that was the fastest so far, here or where it was measured before; "": not
  // known.
  const std::string& fastest(std::size_t index) const { return cases_[index].fastest; }
  void set_fastest(std::size_t index, std::string name) { cases_[index].fastest = std::move(name); }

  // The process that tells what a message takes, once somebody has started it: TimedOptions::echo.
  std::unique_ptr<ProgramProcess>& echo() { return echo_; }

 private:
  struct CaseState {
    std::optional<Baselines> libraries;  // before they are judged
    std::optional<CaseBaselines> baselines;
    std::string fastest;
    std::uint64_t secret = 0;  // of the check inputs, without a store
  };

  Workspace(std::unique_ptr<const JudgeSetup> setup, Progress& progress)
      : setup_(std::move(setup)), progress_(&progress) {}
  Result<void> open_files();
  Result<std::uint64_t> check_secret(const BoundTask& task);
  Result<Baselines*> libraries(std::size_t index);

  const std::unique_ptr<const JudgeSetup> setup_;
  Progress* progress_;
  double open_seconds_ = 0;
  std::stop_token stop_;
  std::optional<FileLock> in_use_;  // `kforge clean` waits for whoever judges
  std::optional<Store> store_;
  std::optional<FileCache> oracle_cache_;
  std::optional<ExpectedCache> expected_cache_;
  std::optional<Peaks> peaks_;
  bool peaks_doubted_ = false;
  std::vector<CaseState> cases_;
  TempDir graph_files_;  // of the baselines
  std::unique_ptr<ProgramProcess> echo_;
};

}  // namespace kforge
