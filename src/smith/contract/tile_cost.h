// What register tiles take, in cycles for one step of k; analytic, for the choice of a first schedule.
#pragma once

namespace kforge::smith {

// A tile of rows x vectors: two multiply-adds or two loads in a cycle, and no less than the latency of a
// multiply-add.
double tile_cycles(long rows, long vectors);

// Per row of the result, along a run of columns in tiles of rows x vectors.
double tile_cost(int rows, int vectors, int lanes, long run);

// Packed panels of columns of an image: what they take per element of the result, spread over `rows` of it;
// and what reading in place takes more than reading panels. The figures are measured.
double image_packing_cost(int lanes, long rows);
double in_place_factor(bool scattered);

}  // namespace kforge::smith
