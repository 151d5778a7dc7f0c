// Strategies: which programs are tried next. Each is a small file with one pure function of the history.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/history.h"

namespace kforge {

struct StrategySettings {
  int generators = 1;     // agents given
  int width = 1;          // lanes, beam, islands
  int repairs = 3;        // failed repairs before the search turns away
  double epsilon = 0.25;  // tree: how often a node is chosen by chance
  int migrate = 3;        // evolve: generations between migrations
  std::uint64_t seed = 0;
};

// The next attempts to make, at least one; all of them may be made at once. Called only when every earlier
// proposal has been judged.
using Strategy = std::vector<Proposal> (*)(const History& history, const StrategySettings& settings);

struct StrategyEntry {
  const char* name;
  const char* what;   // one line for --help
  int default_width;  // 0: one lane per generator
  bool wide;          // whether a width means anything to it
  Strategy propose;
};
std::span<const StrategyEntry> all_strategies();
// An Error lists the names.
Result<const StrategyEntry*> find_strategy(std::string_view name);

std::vector<Proposal> propose_chain(const History& history, const StrategySettings& settings);
std::vector<Proposal> propose_best_of(const History& history, const StrategySettings& settings);
std::vector<Proposal> propose_beam(const History& history, const StrategySettings& settings);
std::vector<Proposal> propose_tree(const History& history, const StrategySettings& settings);
std::vector<Proposal> propose_evolve(const History& history, const StrategySettings& settings);

// One line of descent, by the table of passes.
Proposal next_in_lane(const History& history, int lane, int repairs);
// Repairs a failed attempt; its rival is the nearest verified ancestor.
Proposal repair_of(const History& history, const Attempt& failed);
// Goes on from an attempt that can_grow().
Proposal improvement_of(const Attempt& attempt);
// Marks those that go on from the same place in the same way, so that each is asked for something else.
void number_siblings(std::vector<Proposal>& proposals);
// Numbers that depend on the seed and on how many attempts were made: the same again after a resume.
std::uint64_t chance(const StrategySettings& settings, const History& history, std::uint64_t salt);

}  // namespace kforge
