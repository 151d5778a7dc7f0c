// The yardstick's functions are a little too good: where a program's exponential is off in the last bit, the
// C library's is right, and the mean of equal values comes out exact. What follows may magnify that bit (a
// normalisation of nearly equal values by 300), and a program that is as good as fp32 can be would look
// wrong. So every second result of an operator that rounds is moved by one unit in the last place, towards
// zero: no probability passes 1.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "oracle/tensor.h"

namespace kforge {

// Operators whose results no fp32 program is sure to get to the last bit, whatever its inputs.
bool rounds_always(const Node& node);

// Operators that calculate, rather than move or choose values: what they give was rounded unless it is a
// whole number.
bool computes(const Node& node);

// REQUIRES: the tensor was just made by the operator. Integers, zeros and what is not finite stay.
void nudge(Tensor<float>& tensor, int threads);

// Every value that is no whole number goes one unit in the last place up or down, or stays, as `draw`
// decides.
void jitter(Tensor<float>& tensor, std::uint64_t draw, int threads);

}  // namespace kforge
