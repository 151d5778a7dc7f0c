// The named transformations of loop nests. Each checks its own legality against the nest it is given and
// refuses with a reason; a schedule is a list of them, stored as JSON with the program it made.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "smith/loops/loops.h"

namespace kforge::smith {

struct Step {
  std::string name;                // "split", "fuse", "vectorize", ...
  std::vector<std::string> loops;  // or tensors: what it is applied to
  std::int64_t number = 0;         // factor, count

  friend bool operator==(const Step&, const Step&) = default;
};

// split L n        L becomes L_o (outer) and L (inner, n iterations)
// fuse L M         M, which follows L and has as many iterations, joins L
// distribute L     every statement of L's body gets a loop of its own: L, L_1, L_2, ...
// reorder L M      L and M, nested directly, change places
// parallelize L    iterations of L (and of M, ... nested directly in it) are shared by the threads
// vectorize L n    iterations of L become lanes, n vectors at a time
// unroll L         written out
// reverse L        from the last to the first
// peel L           edges where conditions on positions are open become loops of their own: L_1, L, L_2
// stream T         stores into T go past the caches
Result<Nest> apply(const Nest& nest, const Step& step);
Result<Nest> apply_all(Nest nest, const std::vector<Step>& steps);

std::string print(const Step& step);

// Whether what loop iterations write stays apart: every access to a tensor in the given statements has, in
// one dimension, the variable with one coefficient and the rest smaller than it.
bool pinned(const std::vector<Stmt>& statements, const std::string& tensor, const std::string& variable);

// Temporaries that live inside of one loop iteration shrink to what that iteration needs.
// `accept` (may be empty: all) decides for a tensor of its new shape and the loop it would become a local of.
using AcceptLocal = std::function<bool(const TensorInfo&, const std::string& loop)>;
Nest shrink_temporaries(const Nest& nest, const AcceptLocal& accept = {});

}  // namespace kforge::smith
