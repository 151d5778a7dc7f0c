// The passes over every task: valid after each, printable, timed.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "smith/pipeline.h"
#include "smith/smith.h"
#include "smith_problem.h"

namespace kforge {
namespace {

Machine a_machine() {
  Machine machine;
  machine.features = {"avx2", "fma"};
  machine.cpus = {0, 1};
  return machine;
}

smith::Problem problem_of(const Task& task) {
  auto bound = bind_task(task, "small");
  EXPECT_TRUE(bound) << bound.error().text();
  return smith_problem(*bound, a_machine(), 2);
}

TEST(SmithPasses, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names = {"lower"};
  for (const smith::Pass& pass : smith::passes()) EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
  EXPECT_GE(names.size(), 9u);
}

TEST(SmithPasses, EveryTaskIsAValidProgramAfterEachOfThem) {
  // A program that is not valid ends the test: it is a bug.
  auto tasks = load_all_tasks();
  ASSERT_TRUE(tasks) << tasks.error().text();
  for (const Task& task : *tasks)
    EXPECT_TRUE(smith::run_passes(problem_of(task), {.check = true})) << task.name;
}

TEST(SmithPasses, AreTimedAndPrintableOneByOne) {
  auto task = load_task("gemm_scale_leakyrelu");
  ASSERT_TRUE(task) << task.error().text();
  const smith::Problem problem = problem_of(*task);
  std::vector<smith::PassTime> times;
  ASSERT_TRUE(smith::run_passes(problem, {.times = &times}));
  EXPECT_EQ(times.size(), smith::passes().size() + 1);
  std::string lowered, matched;
  ASSERT_TRUE(smith::run_passes(problem, {.dump_after = "lower", .dump = &lowered}));
  ASSERT_TRUE(smith::run_passes(problem, {.dump_after = "match_contractions", .dump = &matched}));
  EXPECT_NE(lowered.find("sum over"), std::string::npos) << lowered;
  EXPECT_NE(matched.find("contraction with its epilogue"), std::string::npos) << matched;
}

// A graph as the smith sees it. Inputs are arguments; what begins with "w" is a param.
smith::Problem problem_of_text(const std::string& text) {
  auto parsed = parse_graph_text(text, "g");
  EXPECT_TRUE(parsed) << parsed.error().text();
  auto graph = bind_dims(*parsed, {});
  EXPECT_TRUE(graph) << graph.error().text();
  smith::Problem problem;
  problem.name = "g";
  problem.graph = *graph;
  problem.threads = 2;
  problem.machine = a_machine();
  const auto add = [&](const Value& value, smith::ArgumentRole role) {
    const TensorType& type = graph->types.at(value.name);
    problem.arguments.push_back({value.name, value.name, {}, role, type.dtype, type.shape(), {}});
  };
  for (const Value& value : graph->inputs)
    add(value, value.name.starts_with("w") ? smith::ArgumentRole::kParam : smith::ArgumentRole::kInput);
  for (const Value& value : graph->outputs) add(value, smith::ArgumentRole::kOutput);
  return problem;
}

// Its program after the pass `after`.
std::string passed(const std::string& text, const std::string& after) {
  std::string program;
  auto done =
      smith::run_passes(problem_of_text(text), {.check = true, .dump_after = after, .dump = &program});
  EXPECT_TRUE(done) << done.error().text();
  return program;
}

std::size_t lines_with(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
  return count;
}

// Queries, keys and values are parts of one product with its bias. Nothing is copied between the product,
// which adds the bias, and the attention, which reads the parts where they lie; the scale is known before it
// runs.
TEST(SmithPasses, AnAttentionReadsItsProjectionWhereItLies) {
  const std::string program =
      passed(R"(g (float[2, 40, 64] x, float[64, 192] w1, float[192] w2) => (float[2, 2, 40, 32] y)
<int64[5] shape = {2, 40, 3, 2, 32}, int64 zero = {0}, int64 one = {1}, int64 two = {2}, float head = {32}, float power = {-0.5}>
{
  p = MatMul (x, w1)
  a = Add (w2, p)
  r = Reshape (a, shape)
  t = Transpose <perm = [2, 0, 3, 1, 4]> (r)
  q = Gather <axis = 0> (t, zero)
  k = Gather <axis = 0> (t, one)
  v = Gather <axis = 0> (t, two)
  kt = Transpose <perm = [0, 1, 3, 2]> (k)
  s = MatMul (q, kt)
  scale = Pow (head, power)
  scaled = Mul (s, scale)
  weights = Softmax <axis = -1> (scaled)
  y = MatMul (weights, v)
})",
             "match_contractions");
  EXPECT_EQ(lines_with(program, "native code"), 2u) << program;
  EXPECT_EQ(lines_with(program, "\n"), 2u) << program;
}

// A residual that a normalisation reads several times, and the next residual once more, is stored by the
// product behind which it stands.
TEST(SmithPasses, AResidualIsTheEpilogueOfItsProduct) {
  const std::string program = passed(
      R"(g (float[1, 40, 64] x, float[64, 64] w1, float[64] w2, float[64] w3, float[64, 64] w4) => (float[1, 40, 64] y)
{
  p = MatMul (x, w1)
  b = Add (w2, p)
  residual = Add (x, b)
  n = LayerNormalization <axis = -1> (residual, w2, w3)
  m = MatMul (n, w4)
  y = Add (residual, m)
})",
      "match_contractions");
  EXPECT_EQ(lines_with(program, "w2["), 1u) << program;  // what is left of it: the normalisation's scale
  EXPECT_EQ(lines_with(program, "residual: native code"), 1u) << program;
  EXPECT_EQ(lines_with(program, "y: native code"), 1u) << program;
}

// One reader: it takes the arithmetic, as a product's epilogue takes one stage only.
TEST(SmithPasses, AChainBehindAProductIsOneStage) {
  const std::string program =
      passed(R"(g (float[40, 64] x, float[64, 64] w1, float[64] w2) => (float[40, 64] y)
{
  p = MatMul (x, w1)
  b = Add (p, w2)
  e = Exp (b)
  y = Mul (e, b)
})",
             "lower");
  EXPECT_EQ(lines_with(program, "\n"), 2u) << program;
}

// What is tried for one layer is tried for those that are like it, or a search would compile a network once
// for each of its layers.
TEST(SmithPasses, LayersThatAreAlikeMoveTogether) {
  const smith::Problem problem = problem_of_text(
      R"(g (float[96, 64] x, float[64, 64] w1, float[64, 64] w2, float[64, 32] w3) => (float[96, 32] y)
{
  p = MatMul (x, w1)
  a = Relu (p)
  q = MatMul (a, w2)
  b = Relu (q)
  y = MatMul (b, w3)
})");
  auto first = smith::first_design(problem);
  ASSERT_TRUE(first) << first.error().text();
  int together = 0, alone = 0;
  for (const smith::Move& move : smith::moves(problem, *first)) {
    together += move.name.starts_with("tile ") && move.name.ends_with(" p and 1 alike");
    alone += move.name.starts_with("tile ") && move.name.ends_with(" y");
    EXPECT_FALSE(move.name.ends_with(" q")) << move.name;
    EXPECT_TRUE(smith::design_from(problem, move.schedule)) << move.name;
  }
  EXPECT_GE(together, 2);
  EXPECT_GE(alone, 2);
}

}  // namespace
}  // namespace kforge
