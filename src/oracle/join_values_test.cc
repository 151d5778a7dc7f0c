// Joined operators (graph/join.h) compute what the pieces did: by the oracle's own operators, and by the
// function bodies that other runtimes get.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/files.h"
#include "graph/join.h"
#include "oracle/one_node.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;

struct Drawn {
  std::vector<std::vector<float>> values;
  std::vector<TensorView> views;
};

// Random values for every argument, initializers too: nothing may rest on what the file happened to hold.
Drawn draw(const Graph& graph) {
  Drawn drawn;
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.3f, 2.0f);
  auto add = [&](const std::string& name) {
    Shape shape = graph.types.at(name).shape();
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = normal(random);
    drawn.values.push_back(std::move(values));
    drawn.views.push_back(
        {name, DType::kFloat32, shape, reinterpret_cast<const std::byte*>(drawn.values.back().data())});
  };
  for (const Value& input : graph.inputs) add(input.name);
  for (const Initializer& one : graph.initializers)
    if (!one.folded) add(one.name);
  return drawn;
}

std::vector<double> evaluate(const Graph& graph, const Drawn& drawn) {
  auto results = run_oracle(graph, drawn.views, Precision::kFp64, 1);
  EXPECT_TRUE(results) << (results ? "" : results.error().text());
  return results ? values_of((*results)[0]) : std::vector<double>();
}

// The graph as another runtime reads it: functions in place of KForge's own operators.
Graph as_written(const Graph& graph, const fs::path& folder) {
  auto bytes = to_onnx_model(graph);
  EXPECT_TRUE(bytes && write_file_atomic(folder / "joined.onnx", *bytes));
  auto read = load_graph((folder / "joined.onnx").string());
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : Graph();
}

TEST(JoinedOperators, ComputeWhatThePiecesDid) {
  TempDir folder = *TempDir::create();
  for (const auto& file : fs::recursive_directory_iterator(KFORGE_SOURCE_DIR "/tests/data/exported")) {
    if (file.path().extension() != ".onnx") continue;
    SCOPED_TRACE(file.path().string());
    auto loaded = load_graph(file.path().string());
    ASSERT_TRUE(loaded) << loaded.error().message;
    auto graph = bind_dims(*loaded, {});
    ASSERT_TRUE(graph) << graph.error().message;
    Drawn drawn = draw(*graph);
    std::vector<double> pieces = evaluate(*graph, drawn);
    Graph joined = join_operators(*graph);
    for (const auto& values : {evaluate(joined, drawn), evaluate(as_written(joined, folder.path()), drawn)}) {
      ASSERT_EQ(values.size(), pieces.size());
      // Constants of a file are floats, those of an operator are exact: 3e-8 of each factor.
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], pieces[i], 4e-7 * (1 + std::abs(pieces[i]))) << i;
    }
  }
}

}  // namespace
}  // namespace kforge
