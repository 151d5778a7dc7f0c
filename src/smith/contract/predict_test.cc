#include "smith/contract/predict.h"

#include <gtest/gtest.h>

namespace kforge::smith {
namespace {

Machine wide_machine() {
  Machine machine;
  machine.features = {"avx2", "fma", "avx512f"};
  machine.caches = {{.level = 1, .bytes = 48 << 10}, {.level = 2, .bytes = 2 << 20}};
  return machine;
}
Contraction product(long m, long n, long k) {
  Contraction c;
  c.name = c.what = "product";
  c.m = m, c.n = n, c.k = k;
  c.a = matrix_operand("a", m, k, true, 1, 0);
  c.b = matrix_operand("b", n, k, false, 1, 0);
  return c;
}

// What was measured on such a machine: 145 GFLOP/s of 179, blocks that leave a thread idle 0.88 of that.
TEST(Predict, AProductTakesALittleMoreThanItsMultiplications) {
  const Machine machine = wide_machine();
  const Contraction c = product(512, 1024, 2048);
  const ContractionSchedule s = first_schedule(c, machine, 1);
  const double least = static_cast<double>(c.m * c.n * c.k) / 32;
  EXPECT_GT(predicted_cycles(c, s, machine), 1.02 * least);
  EXPECT_LT(predicted_cycles(c, s, machine), 1.4 * least);
}

TEST(Predict, KnowsWhatIsSlower) {
  const Machine machine = wide_machine();
  const Contraction c = product(512, 1024, 2048);
  const ContractionSchedule first = first_schedule(c, machine, 2);
  const double best = predicted_cycles(c, first, machine);
  const auto slower = [&](auto change) {
    ContractionSchedule s = first;
    change(s);
    return predicted_cycles(c, s, machine) / best;
  };
  EXPECT_GT(slower([](auto& s) { s.threads = 1; }), 1.8);
  EXPECT_GT(slower([](auto& s) { s.rows = 4, s.vectors = 1; }), 1.5);
  EXPECT_GT(slower([](auto& s) { s.block_n = 192; }), 1.05);   // 18 panels for one thread, 14 for the other
  EXPECT_GT(slower([](auto& s) { s.block_m = 258; }), 1.02);   // b is packed twice
  EXPECT_GT(slower([](auto& s) { s.block_k = 32; }), 1.05);    // sums leave the registers all the time
  EXPECT_GT(slower([](auto& s) { s.block_k = 2048; }), 1.02);  // a panel of b that no L1 holds
}

TEST(Predict, RanksMovesAndTriesWhatIsHopelessLast) {
  const Machine machine = wide_machine();
  const Contraction c = product(512, 1024, 2048);
  ContractionSchedule now = first_schedule(c, machine, 2);
  now.rows = 4, now.vectors = 1;  // too small a tile: larger ones are clearly faster
  const auto moves = neighbours(now, c, machine);
  ASSERT_FALSE(moves.empty());
  const double before = predicted_cycles(c, now, machine);
  EXPECT_TRUE(moves[0].name.starts_with("tile ")) << moves[0].name;
  EXPECT_LT(predicted_cycles(c, moves[0].schedule, machine), 0.8 * before);
  EXPECT_EQ(moves.back().name, "one_thread");
}

}  // namespace
}  // namespace kforge::smith
