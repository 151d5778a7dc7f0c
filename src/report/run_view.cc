// The live display of a run: lines that stay, and below them what is being done now.
#include <fmt/core.h>
#include <unistd.h>

#include <mutex>

#include "report/run_report.h"

namespace kforge {
namespace {

// Told from the thread that judges and from those that ask models.
class LiveView final : public RunView {
 public:
  LiveView(bool lines, bool status) : lines_(lines), status_(make_progress(!status, 0)) {}

  void stage(std::string_view name) override {
    std::lock_guard lock(mutex_);
    status_->stage(name);
  }
  void advance(double fraction, std::string_view detail) override {
    std::lock_guard lock(mutex_);
    status_->advance(fraction, detail);
  }
  void finish() override {
    std::lock_guard lock(mutex_);
    status_->finish();
  }
  void line(std::string_view text) override {
    if (!lines_) return;
    std::lock_guard lock(mutex_);
    status_->finish();
    fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
  }

 private:
  std::mutex mutex_;
  bool lines_;
  std::unique_ptr<Progress> status_;
};

}  // namespace

std::unique_ptr<RunView> make_run_view(bool quiet, bool always, bool stages) {
  bool terminal = ::isatty(STDERR_FILENO);
  return std::make_unique<LiveView>(!quiet && (terminal || always), !quiet && (terminal || stages));
}

}  // namespace kforge
