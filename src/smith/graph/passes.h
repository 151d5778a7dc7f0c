// What is done to a program before it becomes loops. Each pass keeps its meaning exactly, but for the order
// of sums.
#pragma once

#include "smith/graph/program.h"

namespace kforge::smith {

// Drops stages whose results nobody reads.
Program prune(Program program);

// Stages that depend on params only go to `prepared`, which runs once per set of params; they must be cheap
// to keep (no larger than what they are made from).
struct Hoisted {
  Program prepared, rest;
};
Hoisted hoist_params(Program program);

// In-place arguments: a stage that overwrites what a later stage reads, or what it reads elsewhere itself,
// writes to a copy first.
Program settle_in_place(Program program);

// Dimensions are taken apart where an expression needs their digits (a channel seen as group and member),
// then neighbours are merged where everything runs along both: fewer, longer loops.
Program tidy_dimensions(Program program);
// The first half of it for the dimensions that one stage reduces: the product after an attention sums over
// heads and members of heads, which lie apart.
Stage with_reduced_apart(Stage stage);

// Reductions that leave too few results for the threads are done in parts first: part[i] over the rest, then
// the sum of the parts. Adding in another order is the only change.
Program split_reductions(Program program, int threads);

}  // namespace kforge::smith
