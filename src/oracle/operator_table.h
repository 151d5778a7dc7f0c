// From an operator's name to the function that computes it.
#pragma once

#include "oracle/call.h"

namespace kforge {

template <class F>
using Operator = Outputs<F> (*)(const Call<F>&);

// Null where the oracle has no such operator.
template <class F>
Operator<F> find_operator(const Node& node);

}  // namespace kforge
