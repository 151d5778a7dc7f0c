// Bytes that nodes and arguments move.
#pragma once

#include <string>

#include "graph/graph.h"

namespace kforge {

// 0 when the value or its shape is not known.
double value_elements(const Graph& bound, const std::string& value);
double value_bytes(const Graph& bound, const std::string& value);

// What an unfused program moves for this node: inputs read, outputs written; nothing for mere views (Reshape,
// ...).
double node_bytes(const Graph& bound, const Node& node);

// How much of an argument must be read at least: a table that is only gathered from counts the rows read, a
// matrix of which only a triangle or a slice is used counts that part. Never more than the true need of any
// honest kernel, since beating it is called impossible.
double bytes_needed(const Graph& bound, const std::string& value);

}  // namespace kforge
