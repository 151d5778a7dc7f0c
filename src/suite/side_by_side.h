// Several sets of records on the problems that all of them have finished: two suites (`kforge compare`), or
// the variants of an ablation. Shares over different problems would say nothing.
#pragma once

#include <string>
#include <vector>

#include "suite/suite_report.h"

namespace kforge {

struct Side {
  std::string name;
  std::vector<SuiteRecord> records;
};

struct SideRow {
  std::string against;        // a baseline that every side has, or kFastestPresent
  std::vector<Score> scores;  // in the order of the sides
};

// A problem on which two sides differ by more than their intervals, or in what they verified.
struct SideDifference {
  std::string task;
  const SuiteRecord* a = nullptr;
  const SuiteRecord* b = nullptr;
  bool a_better = false;
};

struct SideBySide {
  std::vector<Side> sides;   // only common problems, in the same order
  std::size_t left_out = 0;  // problems that not every side has finished, or that are flagged
  std::vector<SideRow> rows;
};

// Problems are matched by task. REQUIRES: at least one side.
SideBySide side_by_side(std::vector<Side> sides);
// Of the first two sides. REQUIRES: there are two; they outlive the differences.
std::vector<SideDifference> differences(const SideBySide& sides);

// The variants of each platform of a suite with an ablation.
std::vector<SideBySide> ablation_sides(const SuiteReport& report);

// Two suites, by their first variant: on a platform that both have, else on the first of each. An Error: they
// have no task in common.
Result<SideBySide> compare_suites(const SuiteReport& a, const SuiteReport& b);
std::string to_terminal(const SideBySide& sides, const TerminalStyle& style);
std::string to_json(const SideBySide& sides);

}  // namespace kforge
