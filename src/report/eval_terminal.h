// The evaluation report on one screen.
#pragma once

#include <string>

#include "store/eval_report.h"

namespace kforge {

struct TerminalStyle {
  bool colour = false;
  bool explain = false;  // --explain: every gate with its evidence, every baseline with what it is
  int width = 100;
};
// Colour when standard output is a terminal and NO_COLOR is unset.
TerminalStyle terminal_style();
std::string to_terminal(const EvalReport& report, const TerminalStyle& style);

}  // namespace kforge
