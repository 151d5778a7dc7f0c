#include "findings.h"

#include <stdio.h>
#include <string.h>

extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));

namespace kfe::check {
namespace {

State the_state __attribute__((section("kfe_state")));

template <size_t n>
void copy_text(char (&to)[n], const char* from) {
  strncpy(to, from ? from : "", n - 1);
  to[n - 1] = 0;
}

bool same_place(const KfePlace& a, const KfePlace& b) {
  return a.offset == b.offset && a.line == b.line && strcmp(a.file, b.file) == 0;
}

}  // namespace

State& state() { return the_state; }

uint32_t offset_of(uintptr_t pc) {
  return static_cast<uint32_t>(pc - reinterpret_cast<uintptr_t>(__ehdr_start));
}

void set_thread(KfePlace& place, uint64_t block, uint32_t thread) {
  const KfeIndex grid = kfe_grid_size, size = kfe_full_block;
  if (!grid.x || !grid.y || !size.x || !size.y) return;
  place.block = {static_cast<uint32_t>(block % grid.x), static_cast<uint32_t>(block / grid.x % grid.y),
                 static_cast<uint32_t>(block / grid.x / grid.y)};
  place.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

KfePlace place_of(const char* file, int line) {
  KfePlace place{};
  copy_text(place.file, file);
  place.line = static_cast<uint32_t>(line);
  set_thread(place, this_worker->block_number(), this_worker->current_number());
  return place;
}

KfePlace place_of(uintptr_t pc, bool is_write) {
  KfePlace place{};
  place.offset = offset_of(pc);
  place.is_write = is_write;
  set_thread(place, this_worker->block_number(), this_worker->current_number());
  return place;
}

KfeFinding* add(KfeFindingKind kind, const char* text, const KfePlace& place, const KfePlace* other) {
  KfeReport& report = the_state.report;
  const KfePlace none{};
  for (uint32_t i = 0; i < report.findings; ++i) {
    KfeFinding& known = report.finding[i];
    if (known.kind != kind || !same_place(known.places[0], place) ||
        !same_place(known.places[1], other ? *other : none))
      continue;
    ++known.times;
    return &known;
  }
  if (report.findings == KFE_MAX_FINDINGS) return nullptr;
  KfeFinding& made = report.finding[report.findings++];
  made.kind = kind;
  made.times = 1;
  copy_text(made.kernel, the_state.step ? the_state.step->name : "");
  copy_text(made.text, text);
  made.places[0] = place;
  made.places[1] = other ? *other : none;
  return &made;
}

void hand_over(void* report) {
  the_state.report.magic = KFE_REPORT_MAGIC;
  if (report) memcpy(report, &the_state.report, sizeof the_state.report);
}

}  // namespace kfe::check
