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
  // Of an opaque task (opaque.h): why it is one, and dimensions that follow the numbers in a way of their
  // own, which are symbols besides: their values are in `small` and `odd` as well.
  std::string opaque;
  std::set<std::string> derived;
};

// Gives the numbers that must be what another is that one's value.
void make_equal(Values& values, const std::map<std::string, std::string>& equal);

// Odd numbers first; a size that must be a multiple of something gets one at last.
std::vector<std::int64_t> other_sizes(std::int64_t base);

// What the bridge tells of the module at these numbers: request "describe" or "describe_opaque".
std::expected<ModuleFacts, BridgeFailure> described(Bridge& bridge, const char* request,
                                                    const Values& values);

// Small numbers with which the module runs; those `pinned` stay as they are in `real`. `first` of the ladder
// of sizes is tried first; `small_batch`: a batch of two is enough.
Result<Values> small_numbers(Bridge& bridge, const Values& real, const Values& pinned,
                             const std::map<std::string, std::string>& equal, std::size_t first,
                             bool small_batch);

// `real` are all numbers of the file as they shall be. Small ones are tried first: the real sizes may need
// more memory than there is.
Result<SizedGraph> find_sizes(Bridge& bridge, const Values& real, const std::string& exporter);

}  // namespace kforge
