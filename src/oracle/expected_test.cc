#include "oracle/expected.h"
#include "oracle/rounding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "oracle/expected_file.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;

#define SHAPES(dims) \
  "description = \"d\"\n[shapes]\nbench = { " dims " }\nsmall = { " dims " }\nodd = { " dims " }\n"

Expected compute(const BoundTask& task, InputKind kind = InputKind::kOwn, FileCache* cache = nullptr) {
  auto expected = expected_outputs(task, kind, 7, 2, cache);
  EXPECT_TRUE(expected) << (expected ? "" : expected.error().message);
  return expected ? std::move(*expected) : Expected{};
}

TEST(Expected, HoldsTruthAndWhatTheYardstickReaches) {
  ScratchTask scratch(SHAPES("B = 3, K = 500, N = 4"),
                      "g (float[B, K] x, float[K, N] w) => (float[B, N] y) { y = MatMul(x, w) }");
  const BoundTask task = scratch.bind();
  const Expected expected = compute(task, InputKind::kNormal);
  ASSERT_EQ(expected.outputs.size(), 1u);
  const ExpectedOutput& y = expected.outputs[0];
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.shape, (Shape{3, 4}));
  EXPECT_TRUE(expected.yardstick_finite);
  EXPECT_FALSE(expected.from_cache);
  EXPECT_GT(y.yardstick_worst_abs, 0);  // 500 additions in float are not exact
  EXPECT_LT(y.yardstick_worst_abs, 1e-4 * y.rms);
  // The same by hand, from the same inputs.
  std::vector<float> x(1500), w(2000);
  fill_argument(task.arguments[0], InputKind::kNormal, 7, 0, std::as_writable_bytes(std::span(x)));
  fill_argument(task.arguments[1], InputKind::kNormal, 7, 1, std::as_writable_bytes(std::span(w)));
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < 500; ++k)
    sum += static_cast<double>(x[500 + k]) * static_cast<double>(w[k * 4 + 2]);
  EXPECT_EQ(y.values[4 + 2], static_cast<float>(sum));
  for (float v : y.values) squares += static_cast<double>(v) * static_cast<double>(v);
  EXPECT_NEAR(y.rms, std::sqrt(squares / 12), 1e-6 * y.rms);
}

// A batch of 16 equal rows: their mean is exact in pairwise sums, and one unit in the last place of it, times
// the reciprocal root of epsilon, is what a program with another order of rounding may be off by.
TEST(Expected, EqualValuesAreJudgedByOtherRoundingsToo) {
  ScratchTask scratch(SHAPES("B = 16, N = 8"),
                      "g (float[B, N] x, float[N] s, float[N] m) => (float[B, N] y)\n"
                      "{ z = Mul(x, s) y, a, b = BatchNormalization <training_mode = 1> (z, s, s, m, m) }");
  const Expected expected = compute(scratch.bind(), InputKind::kEqual);
  ASSERT_EQ(expected.outputs.size(), 1u);
  EXPECT_GT(expected.outputs[0].yardstick_worst_abs, 100 * 0x1p-24 * expected.outputs[0].rms);

  // The mean is rounded inside one operator.
  ScratchTask rows(SHAPES("B = 16, D = 64"),
                   "g (float[B, D] x, float[D] s, float[D] b) => (float[B, D] y)\n"
                   "{ y = LayerNormalization <axis = -1> (x, s, b) }");
  const Expected of_rows = compute(rows.bind(), InputKind::kEqual);
  EXPECT_GT(of_rows.outputs.at(0).yardstick_worst_abs, 100 * 0x1p-24 * of_rows.outputs[0].rms);
}

// The largest error of a layer normalisation of one row whose mean and variance are merged from blocks of 16:
// as good as fp32 programs are.
double error_of_merged_blocks(const BoundTask& task, std::uint64_t seed, const ExpectedOutput& expected) {
  std::vector<std::vector<float>> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.emplace_back(expected.values.size());
    fill_argument(task.arguments[static_cast<std::size_t>(i)], InputKind::kShifted, seed, i,
                  std::as_writable_bytes(std::span(inputs.back())));
  }
  const std::vector<float>& x = inputs[0];
  float count = 0, mean = 0, squares = 0;
  for (std::size_t first = 0; first < x.size(); first += 16) {
    const std::size_t size = std::min<std::size_t>(16, x.size() - first);
    float sum = 0, block_squares = 0;
    for (std::size_t d = first; d < first + size; ++d) sum += x[d];
    const float block_count = static_cast<float>(size), block_mean = sum / block_count;
    for (std::size_t d = first; d < first + size; ++d)
      block_squares += (x[d] - block_mean) * (x[d] - block_mean);
    const float delta = block_mean - mean, total = count + block_count;
    mean += delta * (block_count / total);
    squares += block_squares + delta * delta * (count * block_count / total);
    count = total;
  }
  const float factor = 1 / std::sqrt(squares / count + 1e-5F);
  double worst = 0;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const float y = (x[d] - mean) * factor * inputs[1][d] + inputs[2][d];
    worst = std::max(worst, std::fabs(static_cast<double>(y) - static_cast<double>(expected.values[d])));
  }
  return worst;
}

// With one row the yardstick has one mean, which can be right to the last bit; a program whose mean is off by
// that bit is honest. The policy allows four times the yardstick's error.
TEST(Expected, OneRowWithALargeMeanIsJudgedByOtherRoundingsToo) {
  ScratchTask row(SHAPES("B = 1, D = 1926"),
                  "g (float[B, D] x, float[D] s, float[D] b) => (float[B, D] y)\n"
                  "{ y = LayerNormalization <axis = -1> (x, s, b) }");
  const BoundTask task = row.bind();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto expected = expected_outputs(task, InputKind::kShifted, seed, 2, nullptr);
    ASSERT_TRUE(expected);
    const ExpectedOutput& y = expected->outputs.at(0);
    EXPECT_LE(error_of_merged_blocks(task, seed, y), 4 * y.yardstick_worst_abs) << "seed " << seed;
  }
}

// Scores of thousands decide a soft-max by their last bits; a clip or a step would hide or jump.
TEST(Expected, OtherRoundingsAreAllowedWhereTheGraphMagnifiesThem) {
  ScratchTask scratch(SHAPES("B = 2, K = 256, N = 4200"),
                      "g (float[B, K] x, float[K, N] w) => (float[B, N] y)\n"
                      "{ a = MatMul(x, w) b = Mul(a, a) y = Softmax <axis = -1> (b) }");
  const BoundTask task = scratch.bind();
  const Expected strict = compute(task, InputKind::kLarge);
  auto wider = allowing_other_roundings(task, {InputKind::kLarge, 7}, strict, 2);
  ASSERT_TRUE(wider);
  ASSERT_TRUE(*wider);
  EXPECT_GE((*wider)->outputs[0].yardstick_worst_abs, strict.outputs[0].yardstick_worst_abs);
  EXPECT_EQ((*wider)->outputs[0].values, strict.outputs[0].values);

  ScratchTask exact(SHAPES("B = 8, K = 16"),
                    "g (float[B, K] x, float[K, B] w) => (float[B, B] y) { y = MatMul(x, w) }");
  const Expected whole = compute(exact.bind(), InputKind::kInteger);
  auto same = allowing_other_roundings(exact.bind(), {InputKind::kInteger, 7}, whole, 2);
  ASSERT_TRUE(same && *same);
  EXPECT_EQ((*same)->outputs[0].yardstick_worst_abs, 0) << "whole numbers are exact in every order";
}

TEST(Expected, OtherRoundingsAreNotAllowedWhereResultsJumpOrRowsAreMany) {
  ScratchTask steps(SHAPES("B = 4"), "g (float[B] x) => (float[B] y) { z = Mul(x, x) y = Floor(z) }");
  auto jumps = allowing_other_roundings(steps.bind(), {InputKind::kLarge, 7}, compute(steps.bind()), 2);
  ASSERT_TRUE(jumps);
  EXPECT_FALSE(*jumps);
  ScratchTask rows(SHAPES("B = 65, N = 3"), "g (float[B, N] x) => (float[B, N] y) { y = Softmax(x) }");
  auto many = allowing_other_roundings(rows.bind(), {InputKind::kLarge, 7}, compute(rows.bind()), 2);
  ASSERT_TRUE(many);
  EXPECT_FALSE(*many);
}

TEST(Expected, IsAnErrorOnceItIsInterrupted) {
  ScratchTask scratch(SHAPES("B = 3, K = 500, N = 4"),
                      "g (float[B, K] x, float[K, N] w) => (float[B, N] y) { y = MatMul(x, w) }");
  const BoundTask task = scratch.bind();
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  const InputChoice choice{InputKind::kOwn, 7};
  EXPECT_TRUE(expected_outputs_once(task, choice, choice, 2, stop));
  source.request_stop();
  auto once = expected_outputs_once(task, choice, choice, 2, stop);
  ASSERT_FALSE(once);
  EXPECT_EQ(once.error().message, "interrupted");
  EXPECT_FALSE(expected_outputs(task, InputKind::kOwn, 7, 2, nullptr, kWorthCaching, stop));
  EXPECT_TRUE(expected_outputs(task, InputKind::kOwn, 7, 2, nullptr));
}

TEST(Expected, DoublesKeepTheirDigitsAndIntegersAreIntegers) {
  ScratchTask scratch(SHAPES("B = 5"),
                      "g (double[B] x, int64[B] i) => (double[B] y, int64[B] j) { y = Exp(x) j = Neg(i) }");
  const Expected expected = compute(scratch.bind());
  ASSERT_EQ(expected.outputs.size(), 2u);
  EXPECT_EQ(expected.outputs[0].doubles.size(), 5u);
  EXPECT_EQ(expected.outputs[0].values.size(), 5u);
  EXPECT_EQ(expected.outputs[1].ints.size(), 5u);
  EXPECT_TRUE(expected.outputs[1].values.empty());
}

TEST(Expected, IndicesComeWithTheValuesTheyWereChosenFrom) {
  ScratchTask scratch(
      SHAPES("B = 3, N = 9"),
      "g (float[B, N] x) => (int64[B] y) { z = Exp(x) a = ArgMax <axis = -1, keepdims = 1> (z) "
      "s = Constant <value_ints = [-1]> () y = Reshape(a, s) }");
  const Expected expected = compute(scratch.bind());
  const ExpectedOutput& y = expected.outputs[0];
  ASSERT_TRUE(y.index_source);
  EXPECT_EQ(y.index_source->shape, (Shape{3, 9}));
  EXPECT_EQ(y.index_source->axis, 1);
  for (std::size_t row = 0; row < 3; ++row) {
    const auto begin = y.index_source->values.begin() + static_cast<std::ptrdiff_t>(row) * 9;
    EXPECT_EQ(*std::max_element(begin, begin + 9), begin[y.ints[row]]);
  }
  EXPECT_EQ(expected.outputs.size(), 1u);  // the values are no output of their own
}

// Equal values have an exact mean, by luck: a program whose mean is off in the last bit is as good, and what
// it gets is magnified by 1 / sqrt(epsilon).
TEST(Expected, TheLastBitOfAFunctionIsNotHeldAgainstAProgram) {
  ScratchTask scratch(
      SHAPES("B = 4, N = 64") "[tensors.x]\nvalues = \"uniform(90, 100)\"\n",
      "g (float[B, N] x) => (float[B, N] y) { t = Tanh(x) m = ReduceMean <axes = [-1]> (t) c = Sub(t, m) "
      "k = Constant <value_float = 300.0> () y = Mul(c, k) }");
  const ExpectedOutput y = compute(scratch.bind()).outputs.at(0);
  EXPECT_EQ(y.values[0], 0);
  EXPECT_GT(y.yardstick_worst_abs, 300 * 0x1p-25);
  EXPECT_LT(y.yardstick_worst_abs, 300 * 0x1p-22);
}

// What rounding costs is allowed at each element by itself; the yardstick's error is what was wrong before
// it.
TEST(Expected, RoundingToANarrowTypeIsNoErrorOfTheYardstick) {
  ScratchTask scratch(
      SHAPES("B = 400"),
      "g (float[B] x) => (bfloat16[B] y) { e = Exp(x) s = Add(e, x) y = Cast <to = 16> (s) }");
  const ExpectedOutput y = compute(scratch.bind()).outputs.at(0);
  EXPECT_LT(y.yardstick_worst_abs, 1e-5);
}

TEST(Expected, AllowanceForRounding) {
  EXPECT_EQ(rounding_allowance(DType::kFloat32, 1.1), 0);
  EXPECT_EQ(rounding_allowance(DType::kBFloat16, 1.1), 0x1p-8);         // half a unit
  EXPECT_EQ(rounding_allowance(DType::kBFloat16, 1 + 0x1p-7), 0x1p-7);  // on the grid: a whole one
  EXPECT_EQ(rounding_allowance(DType::kBFloat16, -300.5), 0x1p0);       // values of 256 to 512 lie 2 apart
  EXPECT_EQ(rounding_allowance(DType::kFloat16, 1.0001), 0x1p-11);
  EXPECT_EQ(rounding_allowance(DType::kFloat16, 1e-7), 0x1p-25);  // denormal
}

TEST(Expected, ExponentialsHaveARelativeError) {
  ScratchTask scratch(
      SHAPES("B = 8, N = 200") "[tensors.x]\nvalues = \"normal(0, 20)\"\n",
      "g (float[B, N] x) => (float[B, N] p, float[B, N] t) { p = Softmax <axis = -1> (x) t = Tanh(x) }");
  const Expected expected = compute(scratch.bind());
  ASSERT_TRUE(expected.outputs.at(0).yardstick_worst_rel);
  EXPECT_GT(*expected.outputs.at(0).yardstick_worst_rel, 0);
  EXPECT_LT(*expected.outputs.at(0).yardstick_worst_rel, 1e-4);
  EXPECT_FALSE(expected.outputs.at(1).yardstick_worst_rel);
}

TEST(Expected, ValuesThatHardlyVaryAreSeenToDoSo) {
  ScratchTask scratch(SHAPES("B = 100, N = 300") "[tensors.x]\nvalues = \"uniform(0.999, 1.001)\"\n",
                      "g (float[B, N] x) => (float[B, N] y) { y = Identity(x) }");
  const ExpectedOutput y = compute(scratch.bind()).outputs.at(0);
  EXPECT_NEAR(y.mean, 1, 1e-4);
  EXPECT_NEAR(y.deviation, 0.002 / std::sqrt(12), 1e-5);
}

TEST(Expected, AYardstickThatOverflowsIsSeen) {
  ScratchTask scratch(SHAPES("B = 4") "[tensors.x]\nvalues = \"uniform(99, 100)\"\n",
                      "g (float[B] x) => (float[B] y) { y = Exp(x) }");
  const Expected expected = compute(scratch.bind());
  EXPECT_FALSE(expected.yardstick_finite);
}

TEST(Expected, AnUnsupportedOperatorIsAnError) {
  ScratchTask scratch(SHAPES("B = 4"), "g (float[B] x) => (float[B] y) { y = RandomUniformLike(x) }");
  const auto expected = expected_outputs(scratch.bind(), InputKind::kOwn, 1, 1, nullptr);
  ASSERT_FALSE(expected);
  EXPECT_THAT(expected.error().message, HasSubstr("operator RandomUniformLike is not supported"));
}

class ExpectedCache : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  FileCache cache_{folder_.path() / "cache", 0};

  std::vector<fs::path> entries() const {
    std::vector<fs::path> files;
    if (!fs::exists(folder_.path() / "cache")) return files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "cache"))
      if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  }
};

TEST_F(ExpectedCache, KeepsWhatWasDearAndRecomputesWhatIsCorrupt) {
  ScratchTask scratch(SHAPES("N = 2000"), "g (float[N] x) => (float[N] y) { a = Erf(x) y = Tanh(a) }");
  const BoundTask task = scratch.bind();
  auto run = [&](std::uint64_t seed) {
    auto expected = expected_outputs(task, InputKind::kOwn, seed, 1, &cache_, 0);
    EXPECT_TRUE(expected);
    return expected ? std::move(*expected) : Expected{};
  };
  const Expected first = run(3), second = run(3);
  EXPECT_FALSE(first.from_cache);
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.outputs[0].values, first.outputs[0].values);
  EXPECT_EQ(second.outputs[0].yardstick_worst_abs, first.outputs[0].yardstick_worst_abs);
  std::fstream(entries()[0], std::ios::in | std::ios::out | std::ios::binary).seekp(4000).write("damage", 6);
  const Expected third = run(3);
  EXPECT_FALSE(third.from_cache);
  EXPECT_EQ(third.outputs[0].values, first.outputs[0].values);
  EXPECT_FALSE(run(4).from_cache);  // another seed is another entry
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(ExpectedCache, CheapResultsAreNotKept) {
  ScratchTask scratch(SHAPES("N = 20"), "g (float[N] x) => (float[N] y) { y = Neg(x) }");
  compute(scratch.bind(), InputKind::kOwn, &cache_);
  EXPECT_TRUE(entries().empty());
}

TEST(ExpectedFile, ReadsBackWhatItWroteAndNothingElse) {
  Expected expected;
  expected.yardstick_finite = false;
  ExpectedOutput output{.name = "y",
                        .dtype = DType::kBFloat16,
                        .shape = {2, 1},
                        .values = {1, INFINITY},
                        .rms = 3,
                        .yardstick_worst_abs = 0.5};
  output.index_source = IndexSource{{4}, 0, {1, 2, 3, 4}, 0.25};
  expected.outputs = {output, {.name = "z", .dtype = DType::kInt64, .shape = {1}, .ints = {-9}}};
  const std::string bytes = write_expected(expected);
  const auto read = read_expected(bytes);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->yardstick_finite);
  ASSERT_EQ(read->outputs.size(), 2u);
  EXPECT_EQ(read->outputs[0].values, output.values);
  EXPECT_EQ(read->outputs[0].index_source->values, output.index_source->values);
  EXPECT_EQ(read->outputs[1].ints, expected.outputs[1].ints);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(read_expected(std::string_view(bytes).substr(0, length))) << length;
  EXPECT_FALSE(read_expected(bytes + "x"));
  std::string huge = bytes;
  for (std::size_t i = 27; i < 43; ++i) huge[i] = '\xff';  // counts
  EXPECT_FALSE(read_expected(huge));
}

}  // namespace
}  // namespace kforge
