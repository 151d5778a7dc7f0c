#include "sample.h"

#include <string.h>

#include "code.h"
#include "findings.h"

namespace kfe::check {
namespace {

constexpr uint32_t kParts = 4, kWarpParts = 3;
constexpr uint32_t kLaunchesCounted = 16;              // of equal ones, about
constexpr uint64_t kFirstBlocks = 4, kFirstWarps = 2;  // variant check

struct Sample {
  const KfeProgram* program;  // while it runs; prepare() is not counted
  uint64_t seed;
  bool partial;
  uint32_t row, steps;  // of the launch; launches so far
  bool counted;
  uint64_t block[kParts + 2];
  double weight[kParts + 2];
  uint32_t blocks;
  double block_weight;
  double warp_weight[kMostWarps];
} sample __attribute__((section("kfe_state")));

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = sample.seed + 0x9e3779b97f4a7c15u * (a + 1) + 0xd1b54a32d192ed03u * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool same_launch(const KfeStep& a, const KfeStep& b) {
  return a.kind == KfeStep::kLaunch && b.kind == KfeStep::kLaunch && a.thunk == b.thunk &&
         memcmp(&a.grid, &b.grid, sizeof a.grid) == 0 && memcmp(&a.block, &b.block, sizeof a.block) == 0 &&
         a.shared_bytes == b.shared_bytes;
}

// The row of equal launches; KFE_MAX_LAUNCHES where there is no room.
uint32_t row_for(const KfeStep& step) {
  KfeReport& report = state().report;
  for (uint32_t i = 0; i < report.launches; ++i) {
    const KfeLaunch& row = report.launch[i];
    if (strncmp(row.kernel, step.name, sizeof row.kernel - 1) == 0 &&
        memcmp(&row.grid, &step.grid, sizeof row.grid) == 0 &&
        memcmp(&row.block, &step.block, sizeof row.block) == 0 && row.shared_bytes == step.shared_bytes)
      return i;
  }
  if (report.launches == KFE_MAX_LAUNCHES) {
    report.overflowed = 1;
    return KFE_MAX_LAUNCHES;
  }
  KfeLaunch& made = report.launch[report.launches];
  strncpy(made.kernel, step.name, sizeof made.kernel - 1);
  made.grid = step.grid;
  made.block = step.block;
  made.shared_bytes = step.shared_bytes;
  return report.launches++;
}

// One from each of `parts` equal parts of [1, count], each standing for its part.
template <class Take>
void draw(uint64_t count, uint32_t parts, uint64_t salt, Take take) {
  for (uint32_t i = 0; i < parts; ++i) {
    const uint64_t from = 1 + count * i / parts, to = 1 + count * (i + 1) / parts;
    if (to > from) take(from + mixed(salt, i) % (to - from), static_cast<double>(to - from));
  }
}

void draw_blocks(uint64_t all) {
  sample.blocks = 0;
  auto take = [](uint64_t block, double weight) {
    sample.block[sample.blocks] = block;
    sample.weight[sample.blocks++] = weight;
  };
  take(0, 1);
  if (all > 1) take(all - 1, 1);
  if (all > 2) draw(all - 2, kParts, sample.steps, take);
}

}  // namespace

void sample_call(const KfeProgram& program, const void* asked) {
  if (!kfe_counts || !asked) return;
  KfeAsked what;
  memcpy(&what, asked, sizeof what);
  if (what.magic != KFE_ASKED_MAGIC) return;
  KfeReport& report = state().report;
  report.launches = report.codes = report.uses = report.traffics = report.overflowed = 0;
  memset(report.launch, 0, sizeof report.launch);
  memset(report.traffic, 0, sizeof report.traffic);
  sample.program = &program;
  sample.seed = what.seed;
  sample.partial = what.partial != 0;
  sample.steps = 0;
}

void sample_call_ends() {
  sample.program = nullptr;
  sample.partial = false;
}

bool sample_partial() { return sample.partial; }

void sample_launch(const KfeStep& step) {
  sample.counted = false;
  sample.row = 0;
  if (!sample.program) return;
  const uint32_t number = sample.steps++;
  sample.row = row_for(step);
  if (sample.row == KFE_MAX_LAUNCHES) return;
  KfeLaunch& row = state().report.launch[sample.row];
  uint32_t equal = 0;
  for (uint32_t i = 0; i < sample.program->runs; ++i) equal += same_launch(sample.program->run[i], step);
  const uint32_t each = equal <= kLaunchesCounted ? 1 : equal / kLaunchesCounted;
  draw_blocks(uint64_t{step.grid.x} * step.grid.y * step.grid.z);
  ++row.times;
  sample.counted = row.counted == 0 || mixed(~0ull, number) % each == 0;
  if (!sample.counted) return;
  ++row.counted;
  code_begins_launch();
}

void sample_launch_ends() {
  if (!sample.counted) return;
  KfeLaunch& row = state().report.launch[sample.row];
  const uint64_t used = shared_declared();
  if (used > row.static_bytes) row.static_bytes = used;
  code_launch_ends();
  sample.counted = false;
}

bool sample_has(uint64_t block) {
  for (uint32_t i = 0; i < sample.blocks; ++i)
    if (sample.block[i] == block) return true;
  return false;
}

void sample_block(Worker& worker) {
  const uint32_t warps = (worker.thread_count() + KFE_LANES - 1) / KFE_LANES;
  sample.block_weight = 0;
  memset(sample.warp_weight, 0, sizeof sample.warp_weight);
  if (!kfe_counts) {
    if (kfe_bounds_only || worker.block_number() >= kFirstBlocks) return;
    sample.block_weight = 1;
    for (uint32_t i = 0; i < kFirstWarps; ++i) sample.warp_weight[i] = 1;
    return;
  }
  if (!sample.counted) return;
  for (uint32_t i = 0; i < sample.blocks; ++i)
    if (sample.block[i] == worker.block_number()) sample.block_weight = sample.weight[i];
  if (sample.block_weight <= 0) return;
  sample.warp_weight[0] = sample.block_weight;
  if (warps > 1)
    draw(warps - 1, kWarpParts, worker.block_number() ^ (uint64_t{sample.steps} << 40),
         [](uint64_t warp, double weight) { sample.warp_weight[warp] = weight * sample.block_weight; });
  KfeLaunch& row = state().report.launch[sample.row];
  row.warps += sample.block_weight * warps;
}

void sample_block_ends() {
  sample.block_weight = 0;
  memset(sample.warp_weight, 0, sizeof sample.warp_weight);
}

void sample_barrier() {
  if (sample.counted) state().report.launch[sample.row].barriers += sample.block_weight;
}

void sample_meeting(uint32_t warp, double shuffles) {
  if (sample.counted) state().report.launch[sample.row].meetings += shuffles * sample.warp_weight[warp];
}

void sample_move(uint64_t bytes) {
  if (!sample.program) return;
  KfeReport& report = state().report;
  if (report.launches == KFE_MAX_LAUNCHES) {
    report.overflowed = 1;
    return;
  }
  KfeLaunch& row = report.launch[report.launches++];
  row.bytes = bytes;
  row.times = row.counted = 1;
}

double block_weight() { return sample.block_weight; }
double warp_weight(uint32_t warp) { return sample.warp_weight[warp]; }
uint32_t launch_row() { return sample.row; }

}  // namespace kfe::check
