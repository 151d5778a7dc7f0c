// The report of the checking variants, kept where no access of the candidate may go.
#pragma once

#include "../report.h"
#include "../worker.h"

namespace kfe::check {

// Everything that watches, in the section whose memory is refused to kernels.
struct State {
  KfeReport report;
  const KfeStep* step;  // of the launch that runs
  bool spoiled;         // threads were ended in the middle: what barriers see then is no news
};
State& state();

// Adds a finding, or counts it again. `place` has what the caller knows; the current thread is filled in.
KfeFinding* add(KfeFindingKind kind, const char* text, const KfePlace& place,
                const KfePlace* other = nullptr);
KfePlace place_of(const char* file, int line);
KfePlace place_of(uintptr_t pc, bool is_write);  // a return address
void set_thread(KfePlace& place, uint64_t block, uint32_t thread);
uint32_t offset_of(uintptr_t pc);  // in the library

void hand_over(void* report);  // copies the report to where the caller wants it

}  // namespace kfe::check
