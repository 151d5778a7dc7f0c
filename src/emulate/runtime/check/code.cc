#include "code.h"

#include <string.h>
#include <sys/mman.h>

#include "findings.h"
#include "sample.h"

namespace kfe::check {
namespace {

constexpr uint32_t kMostStretches = 2048;  // stretches of one kernel
constexpr uint32_t kSlots = 1 << 13;

struct Code {
  uint32_t offset[kMostStretches];
  double issues[kMostStretches], lanes[kMostStretches];
  bool touched[kMostStretches];
  uint16_t touched_list[kMostStretches];
  uint32_t count, touched_count;
  uint16_t slot[kSlots];          // index + 1, by hash of the offset
  uint32_t (*ran)[kMostThreads];  // by stretch and thread
} code __attribute__((section("kfe_state")));

// The stretch that begins there; kMostStretches where there is no room.
uint32_t index_of(uint32_t offset) {
  for (uint32_t at = offset * 2654435761u >> 19;; at = (at + 1) % kSlots) {
    if (!code.slot[at]) {
      if (code.count == kMostStretches) return kMostStretches;
      code.offset[code.count] = offset;
      code.slot[at] = static_cast<uint16_t>(++code.count);
      return code.count - 1;
    }
    if (code.offset[code.slot[at] - 1] == offset) return code.slot[at] - 1u;
  }
}

}  // namespace

void code_begins_launch() {
  if (!code.ran) {
    void* made = mmap(nullptr, sizeof(uint32_t) * kMostStretches * kMostThreads, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) {
      state().report.overflowed = 1;
      return;
    }
    code.ran = static_cast<uint32_t(*)[kMostThreads]>(made);
  }
  code.count = code.touched_count = 0;
  memset(code.slot, 0, sizeof code.slot);
  memset(code.issues, 0, sizeof code.issues);
  memset(code.lanes, 0, sizeof code.lanes);
  memset(code.touched, 0, sizeof code.touched);
}

void code_ran(uintptr_t pc) {
  if (block_weight() <= 0 || !code.ran) return;
  const uint32_t thread = this_worker->current_number();
  if (warp_weight(thread / KFE_LANES) <= 0) return;
  const uint32_t index = index_of(offset_of(pc));
  if (index == kMostStretches) {
    state().report.overflowed = 1;
    return;
  }
  ++code.ran[index][thread];
  if (code.touched[index]) return;
  code.touched[index] = true;
  code.touched_list[code.touched_count++] = static_cast<uint16_t>(index);
}

void code_phase_ends() {
  if (block_weight() <= 0 || !code.ran) return;
  for (uint32_t t = 0; t < code.touched_count; ++t) {
    const uint32_t index = code.touched_list[t];
    code.touched[index] = false;
    uint32_t* ran = code.ran[index];
    for (uint32_t warp = 0; warp < kMostWarps; ++warp) {
      const double weight = warp_weight(warp);
      if (weight <= 0) continue;
      uint32_t most = 0;
      uint64_t sum = 0;
      for (uint32_t lane = 0; lane < KFE_LANES; ++lane) {
        uint32_t& times = ran[warp * KFE_LANES + lane];
        if (times > most) most = times;
        sum += times;
        times = 0;
      }
      code.issues[index] += weight * most;
      code.lanes[index] += weight * static_cast<double>(sum);
    }
  }
  code.touched_count = 0;
}

void code_launch_ends() {
  KfeReport& report = state().report;
  for (uint32_t i = 0; i < code.count; ++i) {
    uint32_t row = 0;
    while (row < report.codes &&
           (report.code[row].offset != code.offset[i] || report.code[row].launch != launch_row()))
      ++row;
    if (row == KFE_MAX_CODE) {
      report.overflowed = 1;
      return;
    }
    if (row == report.codes) report.code[report.codes++] = {code.offset[i], launch_row(), 0, 0};
    report.code[row].issues += code.issues[i];
    report.code[row].lanes += code.lanes[i];
  }
}

}  // namespace kfe::check
