// The model has four parts, each in cycles: multiply-adds in register tiles with what a tile costs besides;
// operands that are packed; operands and sums that overflow the cache they were meant for; and the result on
// its way to memory. Constants are measured on cores with AVX2 and with AVX-512 (docs/smith.md); a search
// needs only their order of magnitude, and measures what it accepts.
#include "smith/contract/predict.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/block_grid.h"
#include "smith/contract/panels.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

constexpr double kMultipliesPerCycle = 2, kLoadsPerCycle = 2, kLatency = 4;
constexpr double kTileStart = 30;                       // call, loop end mispredicted, first loads
constexpr double kSumsPerVector = 2;                    // sums loaded, added and stored between slices of k
constexpr double kPackedPerCycle = 1;                   // floats of an operand turned around
constexpr double kCopiedPerCycle = 4;                   // floats of rows that are only copied
constexpr double kFetchedPerCycle = 1;                  // the same from beyond L2
constexpr double kBeyondL1 = 1.03, kBeyondL2 = 1.25;    // tiles whose operands come from one cache farther
constexpr double kUnaligned = 1.03, kScattered = 1.15;  // tiles that read b where it lies
constexpr double kBytesPerCycle = 6;                    // to and from memory, one core
constexpr double kBarrier = 3000;                       // threads meet
// Above this much behind, a schedule is tried after all others. Not left out: where bench_prediction compared
// them, the model's order and the measured one agreed poorly.
constexpr double kHopeless = 1.2;
// Below this, it is tried before the others.
constexpr double kClear = 0.95;

double cache_floats(const Machine& machine, int level, double otherwise) {
  for (const CacheLevel& cache : machine.caches)
    if (cache.level == level && cache.bytes > 0) return static_cast<double>(cache.bytes) / 4;
  return otherwise;
}

// One tile over `depth` steps of k.
double tile_cycles(const ContractionSchedule& s, double rows, double depth) {
  const double sums = rows * s.vectors;
  return depth * std::max({sums / kMultipliesPerCycle, (rows + s.vectors) / kLoadsPerCycle, kLatency}) +
         kTileStart;
}

double packing_cycles(const Contraction& c, const ContractionSchedule& s, const Machine& machine,
                      long row_blocks, long column_blocks) {
  const auto floats = [](const Operand& operand, long side, long depth) {
    return static_cast<double>(own_items(operand)) * static_cast<double>(side) * static_cast<double>(depth);
  };
  const auto cost = [&](Packing packing, double of_operand, double rate, long times) {
    if (packing == Packing::kCall) return of_operand / rate;
    return packing == Packing::kBlock ? of_operand / rate * static_cast<double>(times) : 0.0;
  };
  const double b = floats(c.b, c.n, c.k);
  const double copied = b > cache_floats(machine, 2, 131072) ? kFetchedPerCycle : kCopiedPerCycle;
  const double rate = linear_stride(c.b.side) == 1 ? copied : kPackedPerCycle;
  return cost(s.a, floats(c.a, c.m, c.k), kPackedPerCycle, column_blocks) + cost(s.b, b, rate, row_blocks);
}

}  // namespace

double predicted_cycles(const Contraction& c, const ContractionSchedule& s, const Machine& machine) {
  const RowPanels rows = row_panels(c.m, s.rows);
  const ColumnPanels columns = column_panels(c, s);
  const long column_count = columns.runs * columns.per_run;
  const long block_rows = std::clamp<long>(s.block_m / s.rows, 1, rows.panels),
             block_columns = std::clamp<long>(s.block_n / s.tile_n(), 1, column_count);
  const long block_k = std::min(s.block_k, c.k), slices = ceil_div(c.k, std::max<long>(1, block_k));
  const int threads = std::max(1, s.threads);

  double tile = static_cast<double>(slices) *
                tile_cycles(s, rows.tall, static_cast<double>(c.k) / static_cast<double>(slices));
  if (slices > 1) tile += static_cast<double>(slices) * kSumsPerVector * rows.tall * s.vectors;
  if (s.b == Packing::kInPlace) tile *= c.scattered ? kScattered : kUnaligned;
  const double a_slice = static_cast<double>(block_rows * rows.tall * block_k),
               b_slice = static_cast<double>(s.tile_n() * block_k),
               sums =
                   slices > 1 ? static_cast<double>(block_rows * rows.tall * block_columns * s.tile_n()) : 0;
  if (b_slice > 0.8 * cache_floats(machine, 1, 8192)) tile *= kBeyondL1;
  if (a_slice + sums + b_slice > cache_floats(machine, 2, 131072)) tile *= kBeyondL2;

  // Parts of k are shared out like blocks, then summed.
  const GridLimits limits{.batch = c.batch * std::max(1, s.splits),
                          .row_panels = rows.panels,
                          .column_panels = column_count,
                          .most_rows = block_rows,
                          .most_columns = block_columns,
                          .threads = threads};
  const double results = static_cast<double>(c.batch) * static_cast<double>(c.m) * static_cast<double>(c.n);
  double cycles = slowest_share(limits, {block_rows, block_columns}) * tile / std::max(1, s.splits);
  if (s.splits > 1) cycles += results * s.splits / kCopiedPerCycle / threads;
  cycles += packing_cycles(c, s, machine, ceil_div(rows.panels, block_rows),
                           ceil_div(column_count, block_columns)) /
            threads;
  if (threads > 1) cycles += kBarrier * (s.a == Packing::kCall || s.b == Packing::kCall ? 2 : 1);
  // Plain stores read every line first. Half of it is hidden behind arithmetic.
  if (results > cache_floats(machine, 2, 131072))
    cycles += results * 4 * (s.stream ? 1 : 2) / kBytesPerCycle / threads / 2;
  return cycles;
}

std::vector<ScheduleMove> ranked(std::vector<ScheduleMove> moves, const ContractionSchedule& now,
                                 const Contraction& c, const Machine& machine) {
  const double before = predicted_cycles(c, now, machine);
  struct Ranked {
    double ratio;
    ScheduleMove move;
  };
  std::vector<Ranked> all;
  for (ScheduleMove& move : moves) {
    // Less work, or other instructions: no matter of degree, and tried before the rest.
    const bool apart = move.tag == "algorithm" || move.tag == "precision" ||
                       move.schedule.winograd != now.winograd || move.schedule.arithmetic != now.arithmetic ||
                       now.arithmetic != Arithmetic::kFp32 || now.winograd || now.pixel_rows;
    double ratio = 0;
    if (!apart) {
      ratio = predicted_cycles(c, move.schedule, machine) / before;
      move.expected = ratio;
      move.why += fmt::format(" (expected: {:.2f} of the time)", ratio);
    }
    // Small differences are beyond the model: such moves stay in the order in which they were offered.
    all.push_back({ratio > kClear && ratio < kHopeless ? 1 : ratio, std::move(move)});
  }
  std::ranges::stable_sort(all, {}, &Ranked::ratio);
  moves.clear();
  for (Ranked& entry : all) moves.push_back(std::move(entry.move));
  return moves;
}

}  // namespace kforge::smith
