// Rows that are longer than a cache, and attention: compiled, and compared with the oracle in fp64. The
// tasks' own small shapes are too short to reach several blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiled_kernels.h"
#include "graph/graph.h"
#include "oracle/oracle.h"

namespace kforge {
namespace {

struct RowCase {
  std::string name, text;
  double middle = 0;        // mean of the inputs
  double tolerance = 2e-5;  // of the largest result
};

smith::Problem problem_of(const Graph& graph, const std::string& name) {
  smith::Problem problem;
  problem.name = name;
  problem.graph = graph;
  problem.threads = 2;
  problem.machine.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 8 << 20, 2}};
  auto add = [&](const Value& value, smith::ArgumentRole role) {
    problem.arguments.push_back({value.name,
                                 value.name,
                                 {},
                                 role,
                                 graph.types.at(value.name).dtype,
                                 graph.types.at(value.name).shape(),
                                 {}});
  };
  for (const Value& value : graph.inputs) add(value, smith::ArgumentRole::kInput);
  for (const Value& value : graph.outputs) add(value, smith::ArgumentRole::kOutput);
  return problem;
}

Graph graph_of(const RowCase& one) {
  auto parsed = parse_graph_text(one.text, one.name);
  EXPECT_TRUE(parsed) << parsed.error().text();
  auto bound = bind_dims(*parsed, {});
  EXPECT_TRUE(bound) << bound.error().text();
  return *bound;
}

std::string attention(const std::string& sizes, const std::string& between, const std::string& more = "",
                      const std::string& constants = "") {
  return "g (float[" + sizes + ", 24] q, float[2, 150, 24] k, float[2, 150, 20] v" + more + ") => (float[" +
         sizes + ", 20] y)\n<float scale = {0.3}" + constants +
         ">\n{\n  kt = Transpose <perm = [0, 2, 1]> (k)\n  scores = MatMul (q, kt)\n  scaled = Mul (scores, "
         "scale)\n" +
         between + "  y = MatMul (weights, v)\n}\n";
}

const std::vector<RowCase>& attention_cases() {
  static const std::vector<RowCase> cases = {
      {"plain", attention("2, 150", "  weights = Softmax <axis = -1> (scaled)\n")},
      {"one_query", attention("2, 1", "  weights = Softmax <axis = -1> (scaled)\n")},
      {"few_queries", attention("2, 7", "  weights = Softmax <axis = -1> (scaled)\n")},
      // A mask of minus infinity that hides whole blocks from some queries.
      {"infinite_mask",
       attention("2, 150", "  masked = Add (scaled, mask)\n  weights = Softmax <axis = -1> (masked)\n",
                 ", float[150, 150] mask")},
      {"dear_scores",
       attention("2, 150", "  squashed = Tanh (scaled)\n  weights = Softmax <axis = -1> (squashed)\n")},
  };
  return cases;
}

const std::vector<RowCase>& long_cases() {
  static const std::vector<RowCase> cases = {
      {"layer_norm",
       "g (float[3, 131072] x, float[131072] scale, float[131072] bias) => (float[3, 131072] y)\n{\n  y = "
       "LayerNormalization <axis = -1> (x, scale, bias)\n}\n",
       3000, 2e-3},
      {"instance_norm",
       "g (float[2, 3, 512, 160] x, float[3] scale, float[3] bias) => (float[2, 3, 512, 160] y)\n{\n  y = "
       "InstanceNormalization (x, scale, bias)\n}\n",
       3000, 2e-3},
      {"instance_norm_without_divisors",
       "g (float[1, 2, 65537] x, float[2] scale, float[2] bias) => (float[1, 2, 65537] y)\n{\n  y = "
       "InstanceNormalization (x, scale, bias)\n}\n",
       0},
      // Several rows at once, with columns left over behind the last vector.
      {"matrix_times_vector",
       "g (float[12, 4099] a, float[4099, 1] x) => (float[12, 1] y)\n{\n  y = MatMul (a, x)\n}\n", 0},
      {"largest_of_rows",
       "g (float[3, 8, 2051] x) => (float[3, 8] y)\n{\n  y = ReduceMax <axes = [2], keepdims = 0> (x)\n}\n",
       0},
      {"sums_of_five_rows",
       "g (float[5, 2051] x) => (float[5] y)\n{\n  y = ReduceSumSquare <axes = [1], keepdims = 0> (x)\n}\n",
       0},
  };
  return cases;
}

// Layers that are alike, as models have them; the last product sums over heads that lie apart.
const std::vector<RowCase>& layer_cases() {
  static const std::vector<RowCase> cases = [] {
    std::string inputs = "float[40, 48] x0", lines;
    for (int i = 0; i < 4; ++i) {
      inputs += fmt::format(", float[48] s{0}, float[48] b{0}, float[48, 48] w{0}", i);
      lines += fmt::format(
          "  n{0} = LayerNormalization <axis = -1> (x{0}, s{0}, b{0})\n  m{0} = MatMul (n{0}, w{0})\n  r{0} "
          "= Tanh "
          "(m{0})\n  x{1} = Add (x{0}, r{0})\n",
          i, i + 1);
    }
    const std::string layers = "g (" + inputs + ") => (float[40, 48] x4)\n{\n" + lines + "}\n";
    const std::string heads =
        "g (float[3, 40, 16] x, float[48, 32] w) => (float[40, 32] y)\n<int64[2] flat = {40, 48}>\n{\n  t = "
        "Transpose "
        "<perm = [1, 0, 2]> (x)\n  a = Reshape (t, flat)\n  y = MatMul (a, w)\n}\n";
    return std::vector<RowCase>{{"layers", layers}, {"heads", heads}};
  }();
  return cases;
}

void check(const std::vector<RowCase>& cases) {
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  std::vector<Graph> graphs;
  std::vector<KernelSource> sources;
  for (const RowCase& one : cases) {
    graphs.push_back(graph_of(one));
    smith::Problem problem = problem_of(graphs.back(), one.name);
    problem.machine.features = machine->features;  // contractions are made for vectors of one length
    auto design = smith::first_design(problem);
    ASSERT_TRUE(design) << design.error().text();
    sources.push_back({std::move(problem), design->source});
  }
  auto calls = compile_kernels(sources, instruction_sets(*machine)[0], 8);
  ASSERT_TRUE(calls) << calls.error().text();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const Graph& graph = graphs[c];
    std::mt19937 random(7);
    std::normal_distribution<float> spread(static_cast<float>(cases[c].middle), 1);
    std::vector<std::vector<float>> memory;
    std::vector<TensorView> views;
    for (const Value& input : graph.inputs) {
      const Shape shape = input.type.shape();
      auto& values = memory.emplace_back(static_cast<std::size_t>(element_count(shape)));
      const bool mask = input.name == "mask";
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = input.name == "x" || cases[c].middle == 0 ? spread(random) : 1.0f;
        const auto row = i / 150, column = i % 150;
        if (mask) values[i] = column < row ? -INFINITY : 0.0f;
      }
    }
    for (std::size_t i = 0; i < memory.size(); ++i)
      views.push_back({graph.inputs[i].name, DType::kFloat32, graph.inputs[i].type.shape(),
                       reinterpret_cast<const std::byte*>(memory[i].data())});
    auto truth = run_oracle(graph, views, Precision::kFp64, 1);
    ASSERT_TRUE(truth) << truth.error().text();
    const auto& expected = std::get<std::vector<double>>((*truth)[0].values);
    std::vector<void*> pointers;
    auto aligned = [](std::size_t count) { return std::aligned_alloc(64, (count * 4 + 127) / 64 * 64); };
    for (const auto& values : memory) {
      pointers.push_back(aligned(values.size()));
      std::copy(values.begin(), values.end(), static_cast<float*>(pointers.back()));
    }
    pointers.push_back(aligned(expected.size()));
    (*calls)[c](pointers.data());
    const auto* y = static_cast<const float*>(pointers.back());
    double scale = 0, worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      scale = std::max(scale, std::fabs(expected[i]));
      const double off = std::fabs(y[i] - expected[i]);
      worst = std::isfinite(off) ? std::max(worst, off) : INFINITY;
    }
    EXPECT_LE(worst, cases[c].tolerance * scale) << cases[c].name << "\n" << sources[c].source;
    for (void* p : pointers) std::free(p);
  }
}

TEST(SmithRows, LongRowsKeepTheirMomentsWhereTheMeanIsLarge) { check(long_cases()); }

TEST(SmithRows, LongRowsAreReadBlockByBlock) {
  const RowCase& one = long_cases()[0];
  auto loops = smith::print_loops(problem_of(graph_of(one), one.name));
  ASSERT_TRUE(loops);
  EXPECT_NE(loops->find("y_block_squares"), std::string::npos) << *loops;
}

TEST(SmithRows, LayersThatAreAlikeAreRight) { check(layer_cases()); }

TEST(SmithRows, LayersThatAreAlikeAreOneFunctionAndShareMemory) {
  const auto design = smith::first_design(problem_of(graph_of(layer_cases()[0]), "layers"));
  ASSERT_TRUE(design);
  const std::string& source = design->source;
  EXPECT_NE(source.find("using m3_kernel = m0_kernel;"), std::string::npos) << source;
  EXPECT_NE(source.find("// Called "), std::string::npos) << source;
  EXPECT_NE(source.find("s.memory_ + "), std::string::npos) << source;
  EXPECT_NE(design->summary.find("memory: "), std::string::npos) << design->summary;
}

TEST(SmithRows, AProductOverHeadsIsAContraction) {
  const auto design = smith::first_design(problem_of(graph_of(layer_cases()[1]), "heads"));
  ASSERT_TRUE(design);
  EXPECT_NE(design->source.find("y_kernel::work"), std::string::npos) << design->source;
}

TEST(SmithRows, AttentionIsRight) { check(attention_cases()); }

TEST(SmithRows, AttentionKeepsNoScores) {
  for (const RowCase& one : attention_cases()) {
    auto design = smith::first_design(problem_of(graph_of(one), one.name));
    ASSERT_TRUE(design);
    EXPECT_NE(design->source.find("y_attention::work"), std::string::npos) << one.name;
    EXPECT_EQ(design->source.find("struct State"), std::string::npos) << one.name << ": memory between steps";
    auto again = smith::design_from(problem_of(graph_of(one), one.name), design->schedule);
    ASSERT_TRUE(again) << again.error().text();
  }
}

TEST(SmithRows, AttentionSchedulesAreCheckedOnReplay) {
  const RowCase& one = attention_cases()[0];
  const smith::Problem problem = problem_of(graph_of(one), one.name);
  for (const char* part : {R"({"keys": 33, "rows": 8})", R"({"keys": 1048576, "rows": 8})", R"({"keys": 64})",
                           R"({"keys": 64, "rows": 0})", R"("none")"}) {
    const auto design = smith::design_from(
        problem, fmt::format(R"({{"smith": 1, "steps": [], "contractions": {{"y": {}}}}})", part));
    EXPECT_FALSE(design) << part;
  }
  auto first = smith::first_design(problem);
  ASSERT_TRUE(first);
  const auto moves = smith::moves(problem, *first);
  EXPECT_FALSE(moves.empty());
  for (const smith::Move& move : moves) EXPECT_TRUE(smith::design_from(problem, move.schedule)) << move.name;
}

}  // namespace
}  // namespace kforge
