// Which numbers of the user's file are sizes that may differ from shape to shape, found by trying.
#pragma once

#include <map>
#include <string>

#include "import/agreement.h"
#include "import/unify.h"

namespace kforge {

struct SizedGraph {
  std::string exporter;
  Graph graph;                                // with symbols
  std::map<std::string, std::size_t> states;  // as in ExportedGraph
  ModuleFacts facts;                          // at the small sizes
  Values small, odd;              // numbers of the file for the two shape sets: symbols, and what is fixed
  std::set<std::string> symbols;  // of `graph`
  std::map<std::string, std::string> equal;  // numbers that must be what a symbol is: that symbol
  std::map<std::string, std::string> fixed;  // numbers that are no sizes, or only this one: why
  Agreement agreement, odd_agreement;
};

// Gives the numbers that must be what another is that one's value.
void make_equal(Values& values, const std::map<std::string, std::string>& equal);

// `real` are all numbers of the file as they shall be. Small ones are tried first: the real sizes may need
// more memory than there is.
Result<SizedGraph> find_sizes(Bridge& bridge, const Values& real, const std::string& exporter);

}  // namespace kforge
