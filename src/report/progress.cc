#include "report/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/clock.h"
#include "report/eval_terminal.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

// "  timing against onednn  42 %  round 12 of 40"
std::string line_of(std::string_view stage, double fraction, std::string_view detail) {
  std::string line = fmt::format("  {}", stage);
  if (fraction > 0) line += fmt::format("  {:3.0f} %", 100 * (fraction < 1 ? fraction : 1));
  if (!detail.empty()) line += fmt::format("  {}", detail);
  return line;
}

// One line at the bottom of the terminal, rewritten at most ten times a second: a terminal must not slow the
// work.
class TerminalLine final : public Progress {
 public:
  explicit TerminalLine(double patience) : patience_(patience) {}
  ~TerminalLine() override { finish(); }

  void stage(std::string_view name) override {
    stage_ = name;
    show(0, "", true);
  }
  void advance(double fraction, std::string_view detail) override { show(fraction, detail, false); }
  void finish() override {
    if (shown_) write("\r\x1b[K");
    shown_ = false;
  }

 private:
  void show(double fraction, std::string_view detail, bool new_stage) {
    if (seconds_since(start_) < patience_) return;
    if (!new_stage && shown_ && seconds_since(last_) < 0.1) return;
    last_ = Clock::now();
    shown_ = true;
    std::string line = line_of(stage_, fraction, detail);
    int columns = terminal_columns(STDERR_FILENO);
    std::size_t room = columns > 3 ? static_cast<std::size_t>(columns) - 2 : 78;
    if (line.size() > room) line.resize(room);
    write("\r\x1b[K" + line);
  }
  static void write(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }

  Clock::time_point start_ = Clock::now(), last_ = start_;
  double patience_;
  std::string stage_;
  bool shown_ = false;
};

// For logs: a line when a stage begins, and one every ten seconds of a long stage.
class PlainLines final : public Progress {
 public:
  explicit PlainLines(double patience) : patience_(patience) {}

  void stage(std::string_view name) override {
    stage_ = name;
    said_ = false;
    say(0, "");
  }
  void advance(double fraction, std::string_view detail) override {
    if (said_ && seconds_since(last_) < 10) return;
    say(fraction, detail);
  }
  void finish() override {}

 private:
  void say(double fraction, std::string_view detail) {
    if (seconds_since(start_) < patience_) return;
    said_ = true;
    last_ = Clock::now();
    fmt::print(stderr, "{}\n", line_of(stage_, fraction, detail));
  }

  Clock::time_point start_ = Clock::now(), last_ = start_;
  double patience_;
  std::string stage_;
  bool said_ = false;
};

}  // namespace

std::unique_ptr<Progress> make_progress(bool quiet, double patience_seconds) {
  if (quiet) return std::make_unique<SilentProgress>();
  if (::isatty(STDERR_FILENO)) return std::make_unique<TerminalLine>(patience_seconds);
  return std::make_unique<PlainLines>(patience_seconds);
}

}  // namespace kforge
