// KForge's own interpreter of a Graph: the judge of every value. In fp64 it is the truth; the same code in
// plain float, summed in order (long sums in chains), is the yardstick for what a straightforward fp32
// program reaches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace kforge {

// A named view of raw elements (as a candidate would get them).
struct TensorView {
  std::string name;
  DType dtype;
  Shape shape;
  const std::byte* data;
};

// A result: floating tensors as double whatever their dtype, all others as int64.
struct OracleTensor {
  DType dtype;
  Shape shape;
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
};

enum class Precision : std::uint8_t {
  kFp64,  // float tensors held and computed as double
  kFp32,  // held and computed as float, sums in index order
};

// `inputs` name every graph input, whose shapes may still be symbolic (they are taken from the tensors), and
// may name initializers, whose value they then replace. Results are in the order of graph.outputs. An
// operator that is not supported is an Error that names it ("operator Loop is not supported by the oracle").
// `long_sums` (may be null): whether a result of some operator is the sum of more values than one chain has.
Result<std::vector<OracleTensor>> run_oracle(const Graph& graph, std::span<const TensorView> inputs,
                                             Precision precision, int threads, bool* long_sums = nullptr);

// The graph in fp32, with every value that an operator rounded moved by up to one unit in the last place:
// which way depends on `draw` alone.
Result<std::vector<OracleTensor>> run_oracle_rounding_otherwise(const Graph& graph,
                                                                std::span<const TensorView> inputs,
                                                                int threads, std::uint64_t draw);

// True when every node of the graph has an implementation; else `missing` lists the operators.
bool oracle_supports(const Graph& graph, std::vector<std::string>* missing);

}  // namespace kforge
