// The equation of an Einsum, read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace kforge {

// One character per axis. The axes of an ellipsis have characters of their own, below the printable ones;
// they are aligned at its end, as broadcasting does.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

// "ij, jk -> ik" for inputs with these numbers of axes; without an arrow the result has the labels that
// appear once.
Result<EinsumEquation> read_einsum(std::string text, std::span<const std::int64_t> ranks);

// What each label stands for; an axis of 1 stretches to the other's extent.
std::map<char, std::int64_t> einsum_extents(const EinsumEquation& equation, std::span<const Shape> inputs);

// The result's dimensions, where the equation fits the inputs and tells.
std::optional<std::vector<Dim>> einsum_dims(const std::string& equation, std::span<const TensorType> inputs);

}  // namespace kforge
