// What a long piece of work says while it runs. The work knows only this interface; report/ has a terminal
// line and plain lines as implementations.
#pragma once

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

}  // namespace kforge
