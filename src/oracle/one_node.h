// For tests: graphs of one node, and tensors written as lists of numbers.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "oracle/oracle.h"

namespace kforge {

inline Node make_node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {.name = op + "_0", .op = op, .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

struct TestTensor {
  DType dtype;
  Shape shape;
  std::vector<double> values;
  bool absent = false;  // an optional input that is left out
};

inline TestTensor floats(Shape shape, std::vector<double> values) { return {DType::kFloat32, shape, values}; }
inline TestTensor int64s(Shape shape, std::vector<double> values) { return {DType::kInt64, shape, values}; }
inline TestTensor bools(Shape shape, std::vector<double> values) { return {DType::kBool, shape, values}; }
inline TestTensor nothing() { return {DType::kFloat32, {}, {}, true}; }

inline std::vector<std::byte> raw_bytes(const TestTensor& tensor) {
  std::vector<std::byte> bytes(tensor.values.size() * size_of(tensor.dtype));
  auto put = [&]<class T>(T, auto convert) {
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      const T element = static_cast<T>(convert(tensor.values[i]));
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  };
  auto same = [](double v) { return v; };
  auto whole = [](double v) { return static_cast<std::int64_t>(v); };
  switch (tensor.dtype) {
    case DType::kFloat32:
      put(float{}, same);
      break;
    case DType::kFloat64:
      put(double{}, same);
      break;
    case DType::kFloat16:
      put(std::uint16_t{}, fp16_from_double);
      break;
    case DType::kBFloat16:
      put(std::uint16_t{}, bf16_from_double);
      break;
    case DType::kInt8:
      put(std::int8_t{}, whole);
      break;
    case DType::kInt16:
      put(std::int16_t{}, whole);
      break;
    case DType::kInt32:
      put(std::int32_t{}, whole);
      break;
    case DType::kInt64:
      put(std::int64_t{}, whole);
      break;
    case DType::kUInt8:
      put(std::uint8_t{}, whole);
      break;
    case DType::kUInt16:
      put(std::uint16_t{}, whole);
      break;
    case DType::kUInt32:
      put(std::uint32_t{}, whole);
      break;
    case DType::kUInt64:
      put(std::uint64_t{}, [](double v) { return static_cast<std::uint64_t>(v); });
      break;
    case DType::kBool:
      put(std::uint8_t{}, whole);
      break;
    case DType::kString:
      break;
  }
  return bytes;
}

struct OneNode {
  std::string op;
  std::vector<TestTensor> inputs;
  std::map<std::string, Attribute> attributes = {};
  std::size_t outputs = 1;

  Result<std::vector<OracleTensor>> run(Precision precision = Precision::kFp64, int threads = 2) const {
    Graph graph;
    graph.name = "test";
    Node node{.name = "node", .op = op, .attributes = attributes};
    std::vector<std::vector<std::byte>> bytes;
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = "in" + std::to_string(i);
      node.inputs.push_back(inputs[i].absent ? "" : name);
      if (inputs[i].absent) continue;
      graph.inputs.push_back({name, {}});
      bytes.push_back(raw_bytes(inputs[i]));
      views.push_back({name, inputs[i].dtype, inputs[i].shape, bytes.back().data()});
    }
    for (std::size_t i = 0; i < outputs; ++i) {
      node.outputs.push_back("out" + std::to_string(i));
      graph.outputs.push_back({node.outputs.back(), {}});
    }
    graph.nodes.push_back(std::move(node));
    return run_oracle(graph, views, precision, threads);
  }
};

// The values of a result as doubles, whatever its type.
inline std::vector<double> values_of(const OracleTensor& tensor) {
  if (const auto* values = std::get_if<std::vector<double>>(&tensor.values)) return *values;
  const auto& ints = std::get<std::vector<std::int64_t>>(tensor.values);
  return {ints.begin(), ints.end()};
}

// Values of one output; an empty list and a printed reason where the node does not run.
inline std::vector<double> run_values(const OneNode& node, std::size_t output = 0,
                                      Precision precision = Precision::kFp64) {
  const auto results = node.run(precision);
  if (!results) {
    fmt::print("{}\n", results.error().text());
    return {};
  }
  return values_of((*results)[output]);
}
inline Shape run_shape(const OneNode& node, std::size_t output = 0) {
  const auto results = node.run();
  if (!results) {
    fmt::print("{}\n", results.error().text());
    return {-1};
  }
  return (*results)[output].shape;
}
// The message with which the node is refused, "" where it runs.
inline std::string refusal_of(const OneNode& node) {
  const auto results = node.run();
  return results ? "" : results.error().message;
}

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace kforge
