// Random small graphs under random legal schedules mean what the oracle says: 10,000 pairs interpreted, with
// parallel loops in random order, and 200 of them compiled.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiled_kernels.h"
#include "graph/graph.h"
#include "oracle/oracle.h"
#include "smith/graph/passes.h"
#include "smith/loops/interpret.h"
#include "smith/schedule/schedule.h"

namespace kforge {
namespace {

using Random = std::mt19937_64;
std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
template <class List>
const auto& one_of(Random& random, const List& list) {
  return list[random() % std::size(list)];
}

struct RandomGraph {
  std::string text;
  Graph graph;
};

// A chain of two to five operators on a tensor of two to four dimensions, with a second operand now and then.
std::string random_text(Random& random) {
  const auto rank = static_cast<std::size_t>(between(random, 2, 4));
  std::string dims, second;
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) {
    shape.push_back(between(random, 1, d + 1 == rank ? 9 : 5));
    dims += (d ? ", " : "") + std::to_string(shape[d]);
    second += (d ? ", " : "") + std::to_string(random() % 3 == 0 ? 1 : shape[d]);
  }
  std::string body, now = "x";
  std::size_t current = rank;
  bool same_shape = true;
  const auto count = between(random, 2, 5);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string next = "v" + std::to_string(i);
    const auto axis = static_cast<std::int64_t>(random() % current);
    switch (random() % 12) {
      case 0:
      case 1: {
        static constexpr const char* kUnary[] = {"Relu",        "Tanh",      "Sigmoid", "Abs",
                                                 "Softplus",    "HardSwish", "Erf",     "kforge.Mish",
                                                 "kforge.Gelu", "Elu"};
        body += fmt::format("  {} = {} ({})\n", next, one_of(random, kUnary), now);
        break;
      }
      case 2:
      case 3:
        if (!same_shape) {
          body += fmt::format("  {} = Neg ({})\n", next, now);
          break;
        }
        body += fmt::format("  {} = {} ({}, other)\n", next, random() % 2 ? "Add" : "Mul", now);
        break;
      case 4:
        body += fmt::format("  {} = Softmax <axis = {}> ({})\n", next, axis, now);
        break;
      case 5:
        body += fmt::format("  {} = LayerNormalization <axis = {}> ({}, one)\n", next, axis, now);
        break;
      case 6: {
        static constexpr const char* kReduce[] = {"ReduceMax", "ReduceMean", "ReduceL2", "ReduceLogSumExp"};
        body += fmt::format("  {} = {} <axes = [{}], keepdims = 1> ({})\n", next, one_of(random, kReduce),
                            axis, now);
        same_shape = false;
        break;
      }
      case 7: {
        std::vector<std::size_t> order(current);
        for (std::size_t d = 0; d < current; ++d) order[d] = d;
        std::shuffle(order.begin(), order.end(), random);
        std::string perm;
        for (std::size_t d = 0; d < current; ++d) perm += (d ? ", " : "") + std::to_string(order[d]);
        body += fmt::format("  {} = Transpose <perm = [{}]> ({})\n", next, perm, now);
        same_shape = false;
        break;
      }
      case 8:
        body += fmt::format(
            "  at{0} = Constant <value = int64 {{{1}}}> ()\n  {2} = CumSum <reverse = {3}, exclusive = {4}> "
            "({5}, at{0})\n",
            i, axis, next, random() % 2, random() % 2, now);
        break;
      case 9:
        body += fmt::format("  {0} = Concat <axis = {1}> ({2}, {2})\n", next, axis, now);
        same_shape = false;
        break;
      case 10:
        body += fmt::format("  back{0} = Transpose <perm = [{1}]> ({2})\n  {3} = MatMul ({2}, back{0})\n", i,
                            current == 2   ? "1, 0"
                            : current == 3 ? "0, 2, 1"
                                           : "0, 1, 3, 2",
                            now, next);
        same_shape = false;
        break;
      default:
        body += fmt::format("  {} = ReduceSumSquare <axes = [{}], keepdims = 1> ({})\n", next, axis, now);
        same_shape = false;
        break;
    }
    now = next;
  }
  std::string result;
  for (std::size_t d = 0; d < current; ++d) result += (d ? ", P" : "P") + std::to_string(d);
  return fmt::format(
      "g (float[{}] x, float[{}] other) => (float[{}] y)\n<float[1] one = {{1.5}}>\n{{\n{}  y = Identity "
      "({})\n}}\n",
      dims, second, result, body, now);
}

smith::Problem problem_for(const Graph& graph) {
  smith::Problem problem;
  problem.name = "random";
  problem.graph = graph;
  problem.threads = 2;
  problem.machine.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 8 << 20, 2}};
  for (const Value& value : graph.inputs)
    problem.arguments.push_back(
        {value.name, value.name, {}, smith::ArgumentRole::kInput, DType::kFloat32, value.type.shape(), {}});
  for (const Value& value : graph.outputs)
    problem.arguments.push_back({value.name,
                                 value.name,
                                 {},
                                 smith::ArgumentRole::kOutput,
                                 DType::kFloat32,
                                 graph.types.at(value.name).shape(),
                                 {}});
  return problem;
}

std::vector<smith::Step> random_steps(Random& random, const smith::Program& program, const smith::Nest& start,
                                      const Machine& machine) {
  std::vector<smith::Step> steps;
  smith::Nest nest = start;
  if (random() % 2 == 0) {
    steps = smith::first_steps(program, nest, machine, 2).steps;
    nest = *smith::apply_all(nest, steps);
  }
  static constexpr const char* kNames[] = {"split",     "fuse",   "distribute", "reorder", "parallelize",
                                           "vectorize", "unroll", "reverse",    "peel"};
  for (int tries = 0; tries < 40; ++tries) {
    const auto loops = smith::loop_names(nest.root);
    if (loops.empty()) break;
    smith::Step step{
        one_of(random, kNames), {one_of(random, loops), one_of(random, loops)}, between(random, 1, 5)};
    if (step.name != "fuse" && step.name != "reorder") step.loops.pop_back();
    if (step.name != "split" && step.name != "vectorize") step.number = 0;
    if (auto next = smith::apply(nest, step)) {
      nest = std::move(*next);
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

struct Sample {
  RandomGraph graph;
  std::vector<float> x, other;
  std::vector<double> expected;
};

bool close(double got, double want, double scale, double tolerance) {
  return std::fabs(got - want) <= tolerance * std::max(1.0, std::max(scale, std::fabs(want)));
}

Sample make_sample(Random& random) {
  for (;;) {
    Sample sample;
    sample.graph.text = random_text(random);
    auto parsed = parse_graph_text(sample.graph.text, "random");
    EXPECT_TRUE(parsed) << parsed.error().text() << "\n" << sample.graph.text;
    auto bound = bind_dims(*parsed, {});
    EXPECT_TRUE(bound) << bound.error().text() << sample.graph.text;
    sample.graph.graph = std::move(*bound);
    std::uniform_real_distribution<float> values(-2, 2);
    for (std::int64_t i = 0; i < element_count(sample.graph.graph.inputs[0].type.shape()); ++i)
      sample.x.push_back(values(random));
    for (std::int64_t i = 0; i < element_count(sample.graph.graph.inputs[1].type.shape()); ++i)
      sample.other.push_back(values(random));
    const TensorView views[] = {{"x", DType::kFloat32, sample.graph.graph.inputs[0].type.shape(),
                                 reinterpret_cast<const std::byte*>(sample.x.data())},
                                {"other", DType::kFloat32, sample.graph.graph.inputs[1].type.shape(),
                                 reinterpret_cast<const std::byte*>(sample.other.data())}};
    auto truth = run_oracle(sample.graph.graph, views, Precision::kFp64, 1);
    EXPECT_TRUE(truth) << truth.error().text();
    sample.expected = std::get<std::vector<double>>((*truth)[0].values);
    // Normalising a row of one element, or equal ones, is all rounding; and nothing is to be seen beyond 1e6.
    if (std::all_of(sample.expected.begin(), sample.expected.end(),
                    [](double v) { return std::isfinite(v) && std::fabs(v) < 1e6; }))
      return sample;
  }
}

TEST(SmithProperty, RandomSchedulesMeanTheSame) {
  Random random(20240607);
  const Machine machine = problem_for(make_sample(random).graph.graph).machine;
  std::vector<KernelSource> sources;
  std::vector<Sample> compiled;
  int pairs = 0, steps_total = 0;
  while (pairs < 10000) {
    const Sample sample = make_sample(random);
    const smith::Problem problem = problem_for(sample.graph.graph);
    auto lowered = smith::lower(problem);
    ASSERT_TRUE(lowered) << lowered.error().text();
    const smith::Program program = smith::tidy_dimensions(smith::split_reductions(smith::prune(*lowered), 2));
    const smith::Nest nest = smith::build_nest(program);
    double scale = 0;
    for (double v : sample.expected) scale = std::max(scale, std::fabs(v));
    for (int k = 0; k < 20; ++k, ++pairs) {
      const auto steps = random_steps(random, program, nest, machine);
      steps_total += static_cast<int>(steps.size());
      auto scheduled = smith::apply_all(nest, steps);
      ASSERT_TRUE(scheduled) << scheduled.error().text();
      std::map<std::string, std::vector<double>> memory;
      memory["x"].assign(sample.x.begin(), sample.x.end());
      memory["other"].assign(sample.other.begin(), sample.other.end());
      const smith::Nest final_nest = smith::shrink_temporaries(*scheduled);
      auto ran = smith::interpret(final_nest, memory, random());
      ASSERT_TRUE(ran) << ran.error().text() << sample.graph.text << print(final_nest);
      for (std::size_t i = 0; i < sample.expected.size(); ++i)
        ASSERT_TRUE(close(memory["y"][i], sample.expected[i], scale, 1e-5))
            << memory["y"][i] << " instead of " << sample.expected[i] << " at " << i << "\n"
            << sample.graph.text << print(final_nest);
      // Contractions leave the program before it becomes loops: their schedules are contract/'s own.
      if (k == 0 && sources.size() < 200 && sample.graph.text.find("MatMul") == std::string::npos) {
        auto design = smith::design_from(problem, to_json(smith::Schedule{steps, {}}));
        ASSERT_TRUE(design) << design.error().text() << "\n" << sample.graph.text;
        sources.push_back({problem, design->source});
        compiled.push_back(sample);
      }
    }
  }
  EXPECT_GT(steps_total, 30000);
  auto here = describe_machine();
  ASSERT_TRUE(here);
  auto calls = compile_kernels(sources, instruction_sets(*here)[0], 25);
  ASSERT_TRUE(calls) << calls.error().text();
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Sample& sample = compiled[s];
    std::vector<float> y(sample.expected.size() + 16);
    auto at = [](const std::vector<float>& v) {  // a copy on a whole line
      auto* p = static_cast<float*>(std::aligned_alloc(64, (v.size() * 4 + 127) / 64 * 64));
      std::copy(v.begin(), v.end(), p);
      return p;
    };
    void* pointers[] = {at(sample.x), at(sample.other), at(y)};
    (*calls)[s](pointers);
    double scale = 0;
    for (double v : sample.expected) scale = std::max(scale, std::fabs(v));
    for (std::size_t i = 0; i < sample.expected.size(); ++i)
      ASSERT_TRUE(close(static_cast<float*>(pointers[2])[i], sample.expected[i], scale, 2e-3))
          << static_cast<float*>(pointers[2])[i] << " instead of " << sample.expected[i] << "\n"
          << sample.graph.text << sources[s].source;
    for (void* p : pointers) std::free(p);
  }
}

}  // namespace
}  // namespace kforge
