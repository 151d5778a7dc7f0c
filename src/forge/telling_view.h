// The view of a run that also tells other processes what it does: the live page watches runs that were
// started in some terminal (store/live_status.h).
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "report/run_report.h"
#include "store/live_status.h"

namespace kforge {

class TellingView final : public RunView {
 public:
  // `view` outlives it, and is told everything too.
  explicit TellingView(RunView& view) : view_(view) {}

  // From here on the run has a name under which it can be watched.
  void announce(const std::filesystem::path& home, std::string_view run);
  // The clock of the search: `seconds` that it had taken before; nothing: it stands.
  void search_clock(std::optional<double> seconds);

  void stage(std::string_view name) override;
  void advance(double fraction, std::string_view detail) override;
  void finish() override { view_.finish(); }
  void line(std::string_view text) override { view_.line(text); }

 private:
  void tell(bool new_stage);

  RunView& view_;
  std::mutex mutex_;  // agents are asked on threads of their own
  std::optional<LiveStatusFile> file_;
  LiveStatus status_;
  std::chrono::steady_clock::time_point begun_;
  double before_ = 0;
};

}  // namespace kforge
