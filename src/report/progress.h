// What a long piece of work says while it runs. The work knows only this interface; report/ has a terminal
// line, plain lines and silence as implementations.
#pragma once

#include <memory>
#include <string_view>

namespace kforge {

class Progress {
 public:
  virtual ~Progress() = default;

  // A new stage begins, in the words a person reads: "compiling", "checking values", "timing against onednn".
  virtual void stage(std::string_view name) = 0;
  // How far the stage is, 0 to 1, with a word on what is being done now ("gate accuracy", "round 12 of 40").
  virtual void advance(double fraction, std::string_view detail = "") = 0;
  // Nothing more to say: the line is cleared so that the report starts on a clean one. Safe to call twice.
  virtual void finish() = 0;
};

// Says nothing: --json, --quiet, tests.
class SilentProgress final : public Progress {
 public:
  void stage(std::string_view) override {}
  void advance(double, std::string_view) override {}
  void finish() override {}
};

// A line on standard error, rewritten in place on a terminal, one line per stage elsewhere. Work shorter than
// `patience_seconds` shows nothing at all.
std::unique_ptr<Progress> make_progress(bool quiet, double patience_seconds = 2.0);

}  // namespace kforge
