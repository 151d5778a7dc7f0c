// Matrix products of every form and schedule against plain loops.
#include <gmock/gmock.h>

#include "smith/contract/compiled_cases.h"

namespace kforge::smith {
namespace {

using ::testing::HasSubstr;

struct Shape3 {
  long m, n, k;
};

Contraction contraction_of(Shape3 s, bool transpose_a, bool transpose_b, long batch = 1,
                           bool share_b = false) {
  Contraction c;
  c.name = "product";
  c.what = "y = a * b";
  c.batch = batch;
  c.m = s.m, c.n = s.n, c.k = s.k;
  c.a = matrix_operand("a", s.m, s.k, !transpose_a, batch, s.m * s.k);
  c.b = matrix_operand("b", s.n, s.k, transpose_b, batch, share_b ? 0 : s.n * s.k);
  c.tensors = {{"const float*", "a"}, {"const float*", "b"}, {"float*", "y"}};
  c.finish = plain_store("y", batch > 1 ? s.m * s.n : 0, s.n);
  return c;
}

std::string naive(const Contraction& c, const std::string& after = "") {
  return fmt::format(R"(  for (long p = 0; p < {}; ++p)
    for (long i = 0; i < {}; ++i)
      for (long j = 0; j < {}; ++j) {{
        double s = 0;
        for (long k = 0; k < {}; ++k) s += double(a[{} + {} + {}]) * b[{} + {} + {}];
        {}
        want[(p * {} + i) * {} + j] = s;
      }})",
                     c.batch, c.m, c.n, c.k, offset_expression(c.a.batch, "p"),
                     offset_expression(c.a.side, "i"), offset_expression(c.a.depth, "k"),
                     offset_expression(c.b.batch, "p"), offset_expression(c.b.side, "j"),
                     offset_expression(c.b.depth, "k"), after, c.m, c.n);
}

std::vector<long> sizes_of(const Contraction& c) {
  const bool shared_b = c.b.batch.empty();
  return {c.batch * c.m * c.k, (shared_b ? 1 : c.batch) * c.n * c.k, c.batch * c.m * c.n};
}

Machine machine_with(std::set<std::string> features) {
  Machine machine;
  machine.features = std::move(features);
  machine.cpus = {0, 1};
  machine.caches = {{1, 32 << 10, 1}, {2, 512 << 10, 1}, {3, 8 << 20, 2}};
  return machine;
}

void add_checked(CompiledCases& cases, const Contraction& c, const ContractionSchedule& s) {
  const auto code = emit_contraction(c, s);
  ASSERT_TRUE(code) << code.error().message << to_json(s);
  std::string label = fmt::format("{} x {} x {} batch {} ", c.m, c.n, c.k, c.batch);
  for (char ch : to_json(s)) label += ch == '"' ? '\'' : ch;
  cases.add(*code, c.tensors, sizes_of(c), naive(c), label);
}

const std::vector<Shape3> kShapes = {{1, 1, 1},   {6, 16, 8},  {7, 17, 9},  {13, 50, 33},
                                     {1, 70, 40}, {70, 1, 40}, {5, 3, 300}, {64, 48, 1}};

TEST(Contraction, EveryShapeTransposedOrNotWithTheFirstSchedule) {
  const Machine machine = machine_with({"avx2", "fma"});
  CompiledCases cases;
  for (const Shape3& shape : kShapes)
    for (int transposed = 0; transposed < 4; ++transposed) {
      const Contraction c = contraction_of(shape, transposed & 1, transposed & 2);
      add_checked(cases, c, first_schedule(c, machine, 2));
    }
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, EveryPackingWithSmallBlocks) {
  CompiledCases cases;
  for (const Packing a : {Packing::kInPlace, Packing::kPrepare, Packing::kCall, Packing::kBlock})
    for (const Packing b : {Packing::kInPlace, Packing::kPrepare, Packing::kCall, Packing::kBlock}) {
      Contraction c = contraction_of({29, 45, 37}, false, false, 3, b == Packing::kPrepare);
      c.a.param = c.b.param = true;
      ContractionSchedule s{
          .rows = 4, .vectors = 3, .block_m = 8, .block_n = 24, .block_k = 16, .a = a, .b = b, .threads = 2};
      add_checked(cases, c, s);
    }
  EXPECT_EQ(cases.count(), 16);
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, PartsOfKAreSummedApart) {
  CompiledCases cases;
  for (const int splits : {2, 3, 5})
    for (const Packing packing : {Packing::kInPlace, Packing::kCall, Packing::kBlock}) {
      const ContractionSchedule s{.block_m = 12,
                                  .block_n = 32,
                                  .block_k = 16,
                                  .a = packing,
                                  .b = packing,
                                  .threads = 2,
                                  .splits = splits};
      add_checked(cases, contraction_of({29, 45, 150}, false, false), s);
    }
  EXPECT_EQ(cases.run(), "");
  const Contraction c = contraction_of({8, 8, 40}, false, false);
  EXPECT_TRUE(check({.block_k = 16, .splits = 3}, c));
  EXPECT_FALSE(check({.block_k = 16, .splits = 4}, c)) << "a part would be empty";
  EXPECT_FALSE(check({.block_k = 40, .splits = 2}, c));
}

TEST(Contraction, ALongKAboveASmallResultIsSplit) {
  const Machine machine = machine_with({"avx2", "fma"});
  const Contraction c = contraction_of({64, 96, 16384}, false, false);
  const ContractionSchedule s = first_schedule(c, machine, 2);
  EXPECT_EQ(s.splits, 2);
  EXPECT_TRUE(check(s, c));
  EXPECT_EQ(first_schedule(c, machine, 1).splits, 1);
  EXPECT_EQ(first_schedule(contraction_of({512, 512, 512}, false, false), machine, 2).splits, 1);
  CompiledCases cases;
  add_checked(cases, c, s);
  EXPECT_EQ(cases.run(), "");
}

// Whole vectors are stored behind a panel's rows while a is packed: nothing beside the panel may change.
// One tile takes all rows, k is walked in one go and b is asked for ahead: it passes by once.
TEST(Contraction, FewRowsMeetALargeMatrixOnce) {
  const Machine machine = machine_with({"avx2", "fma"});
  CompiledCases cases;
  for (const long m : {3, 8, 12}) {
    Contraction c = contraction_of({m, 1037, 1024}, false, true);
    c.b.param = true;
    const ContractionSchedule s = first_schedule(c, machine, 2);
    EXPECT_EQ(s.rows, m);
    EXPECT_EQ(s.block_k, c.k);
    EXPECT_TRUE(streams_b_once(c, s));
    add_checked(cases, c, s);
  }
  EXPECT_EQ(cases.run(), "");
}

// A tiny k: b is packed for the whole call, so that the result is written along its rows.
TEST(Contraction, ATinyKWritesAlongRows) {
  const Machine machine = machine_with({"avx2", "fma"});
  CompiledCases cases;
  const Contraction c = contraction_of({100, 400, 20}, false, false);
  const ContractionSchedule s = first_schedule(c, machine, 2);
  EXPECT_EQ(s.b, Packing::kCall);
  add_checked(cases, c, s);
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, PackingOfEveryHeightOfPanels) {
  CompiledCases cases;
  for (const int rows : {1, 2, 3, 5, 6, 9})
    for (const bool transpose_a : {false, true})
      for (const Packing packing : {Packing::kCall, Packing::kBlock})
        add_checked(cases, contraction_of({2L * rows + 1, 19, 43}, transpose_a, false),
                    {.rows = rows,
                     .vectors = rows > 6 ? 1 : 2,
                     .block_m = 2L * rows,
                     .block_n = 16,
                     .block_k = 24,
                     .a = packing,
                     .b = packing,
                     .threads = 2});
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, NeighboursOfASchedule) {
  const Machine machine = machine_with({"avx2", "fma"});
  CompiledCases cases;
  const Contraction c = contraction_of({50, 90, 150}, false, true);
  for (const ScheduleMove& move : neighbours(first_schedule(c, machine, 2), c, machine))
    add_checked(cases, c, move.schedule);
  EXPECT_GT(cases.count(), 8);
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, FourLanesWithoutAvx) {
  const Machine machine = machine_with({});
  CompiledCases cases;
  for (const Shape3& shape : kShapes) {
    const Contraction c = contraction_of(shape, false, shape.m % 2);
    add_checked(cases, c, first_schedule(c, machine, 2));
  }
  EXPECT_EQ(cases.run({"-march=x86-64-v2"}), "");
}

// What a fused layer does after its product: per-column bias, per-row scale, residual, activation.
TEST(Contraction, EpilogueSeesRowsColumnsAndOtherTensors) {
  const Machine machine = machine_with({"avx2", "fma"});
  CompiledCases cases;
  for (const Shape3& shape : {Shape3{13, 37, 20}, Shape3{6, 32, 300}}) {
    Contraction c = contraction_of(shape, false, true);
    c.b.param = true;
    c.tensors = {{"const float*", "a"},       {"const float*", "b"},        {"const float*", "bias"},
                 {"const float*", "rowwise"}, {"const float*", "residual"}, {"float*", "y"}};
    c.finish = [n = shape.n](const FinishSite& site) {
      return fmt::format(
          "using F = {0};\nconst F v = (load<F>(sum_at + column) + load<F>(bias + column)) * rowwise[row] + "
          "load<F>(residual + row * {1} + column);\nstore(y + row * {1} + column, pick(v > 0.0f, v, 0.1f * "
          "v));",
          site.lanes == 1 ? "float" : "Vec", n);
    };
    const auto code = emit_contraction(c, first_schedule(c, machine, 2));
    ASSERT_TRUE(code);
    const std::string after = fmt::format(
        "s = (s + bias[j]) * rowwise[i] + residual[i * {} + j]; s = s > 0 ? s : 0.1 * s;", shape.n);
    cases.add(*code, c.tensors,
              {shape.m * shape.k, shape.n * shape.k, shape.n, shape.m, shape.m * shape.n, shape.m * shape.n},
              naive(c, after), fmt::format("epilogue {}", shape.m));
  }
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, WeightsOfOtherTypesAndComputedOperands) {
  const Machine machine = machine_with({"avx2", "fma"});
  CompiledCases cases;
  Contraction c = contraction_of({9, 21, 30}, false, true);
  c.b.param = true;
  c.b.dtype = DType::kInt8;
  c.tensors[1].type = "const int8_t*";
  auto code = emit_contraction(c, first_schedule(c, machine, 2));
  ASSERT_TRUE(code);
  cases.add(*code, c.tensors, sizes_of(c), naive(c), "int8 weights");
  Contraction triangle = contraction_of({20, 24, 20}, false, false);
  triangle.a.element = "depth <= side ? a[side * 20 + depth] : 0.0f";
  code = emit_contraction(triangle, first_schedule(triangle, machine, 2));
  ASSERT_TRUE(code);
  std::string expected = naive(triangle);
  const auto at = expected.find("s += ");
  expected.replace(at, 5, "if (k <= i) s += ");
  cases.add(*code, triangle.tensors, sizes_of(triangle), expected, "lower triangle");
  EXPECT_EQ(cases.run(), "");
}

TEST(Contraction, ScheduleSurvivesJson) {
  const ContractionSchedule s{.lanes = 16,
                              .rows = 12,
                              .block_k = 77,
                              .a = Packing::kBlock,
                              .arithmetic = Arithmetic::kBf16x3,
                              .stream = true};
  const auto back = contraction_schedule_from_json(to_json(s));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(s));
}

TEST(Contraction, BadSchedulesAreRefusedByName) {
  for (const auto& [text, word] :
       std::vector<std::pair<std::string, std::string>>{{"[]", "object"},
                                                        {R"({"rows": "x"})", "rows"},
                                                        {R"({"rows": 0})", "rows"},
                                                        {R"({"a": "nowhere"})", "nowhere"},
                                                        {R"({"colour": 1})", "colour"},
                                                        {R"({"arithmetic": "int4"})", "int4"},
                                                        {R"({"block_k": 1e300})", "block_k"}}) {
    const auto parsed = contraction_schedule_from_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr(word));
  }
  const Contraction c = contraction_of({8, 8, 8}, false, true);
  EXPECT_FALSE(check({.rows = 20, .vectors = 4}, c));
  EXPECT_FALSE(check({.a = Packing::kPrepare}, c));
  EXPECT_FALSE(check({.b = Packing::kInPlace}, c));
  EXPECT_FALSE(check({.lanes = 5}, c));
  EXPECT_FALSE(emit_contraction(c, {.rows = 20, .vectors = 4}));
}

TEST(Contraction, RowsAreSharedOutEvenly) {
  const Contraction c = contraction_of({64, 16, 8}, false, false);
  const auto code = emit_contraction(c, {.rows = 6, .vectors = 2});
  ASSERT_TRUE(code);
  // The first 9 have 6 rows, the others 5.
  EXPECT_THAT(code->definitions, HasSubstr("kRowPanels = 11, kTallPanels = 9"));
}

TEST(Contraction, PolicyDecidesTheArithmetic) {
  const Machine amx = machine_with({"avx2", "fma", "avx512f", "avx512_bf16", "amx"});
  using enum Arithmetic;
  EXPECT_EQ(allowed_arithmetic(amx, "fp32"), (std::vector{kBf16x6, kFp32}));
  EXPECT_EQ(allowed_arithmetic(amx, "high"), (std::vector{kBf16x3, kBf16x6, kFp32}));
  EXPECT_EQ(allowed_arithmetic(amx, "bf16"), (std::vector{kBf16, kBf16x3, kBf16x6, kFp32}));
  EXPECT_EQ(allowed_arithmetic(machine_with({"avx512f"}), "bf16"), (std::vector{kFp32}));
}

}  // namespace
}  // namespace kforge::smith
