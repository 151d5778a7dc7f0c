// What elementwise operators make of a product's sums. Such a value costs nothing to store: its loop becomes
// the product's epilogue, which writes it in place of the sums. So it is stored at once, in a loose stage,
// and everything behind it reads a plain tensor: the three parts of an attention's projection, the residual
// that a normalisation reads three times. A chain of loose stages becomes one again where nobody else reads
// its links.
#pragma once

#include "smith/graph/lowering.h"

namespace kforge::smith {

// Whether `value` is made element by element of one of the tensors `sums`, seen under the value's own shape,
// and is more than that tensor.
bool is_epilogue_of(const Value& value, const std::set<std::string>& sums);

// Loose stages that one stage alone reads go into that stage, unless it is a product (whose operands are
// plain tensors), or would do arithmetic that is worth storing more than once.
void join_loose_stages(Program& program);

}  // namespace kforge::smith
