// The live display of a run: lines that stay, and below them what is being done now.
#include <fmt/core.h>
#include <unistd.h>

#include "report/run_report.h"

namespace kforge {
namespace {

class LiveView final : public RunView {
 public:
  LiveView(bool lines, bool status) : lines_(lines), status_(make_progress(!status, 0)) {}

  void stage(std::string_view name) override { status_->stage(name); }
  void advance(double fraction, std::string_view detail) override { status_->advance(fraction, detail); }
  void finish() override { status_->finish(); }
  void line(std::string_view text) override {
    if (!lines_) return;
    status_->finish();
    fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
  }

 private:
  bool lines_;
  std::unique_ptr<Progress> status_;
};

}  // namespace

std::unique_ptr<RunView> make_run_view(bool quiet, bool always) {
  bool terminal = ::isatty(STDERR_FILENO);
  return std::make_unique<LiveView>(!quiet && (terminal || always), !quiet && terminal);
}

}  // namespace kforge
