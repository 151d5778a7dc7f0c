// The evaluation report on one screen.
#pragma once

#include <string>

#include "store/eval_report.h"

namespace kforge {

struct TerminalStyle {
  bool colour = false;
  bool explain = false;  // --explain: every gate with its evidence, every baseline with what it is
  int width = 80;
  std::size_t table_width = 0;  // 0: a row is a line, however long (what a pipe gets)
};
// Of standard output: colour on a terminal unless NO_COLOR is set, and its width, or $COLUMNS where that is
// given.
TerminalStyle terminal_style();
// $COLUMNS, or the width of the terminal that a file descriptor is; 0: it is none.
int terminal_columns(int fd);
std::string to_terminal(const EvalReport& report, const TerminalStyle& style);

}  // namespace kforge
