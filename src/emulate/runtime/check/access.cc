#include "access.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <unordered_map>

#include "../checks.h"
#include "code.h"
#include "findings.h"
#include "sample.h"
#include "shadow.h"
#include "traffic.h"

extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
extern const char __start_kfe_state[] __attribute__((visibility("hidden")));
extern const char __stop_kfe_state[] __attribute__((visibility("hidden")));
// Set in the tables of a program: bounds only, for memory too large to keep a history of.
extern const kfe_u32 kfe_bounds_only, kfe_counts;
}

namespace kfe {
const KfeSite* site_before(uint32_t offset);
}

namespace kfe::check {
namespace {

constexpr uint32_t kMostRegions = 256;
constexpr uint64_t kMostCells = 64u << 20;

// Of one byte of shared memory: copies that nobody has waited for.
struct Pending {
  uint16_t copies;
  uint32_t place;   // of the last
  uint32_t thread;  // of the block
};

struct Memory {
  Region region[kMostRegions];
  uint32_t regions, last;
  Cell* arena;  // one for each byte of shared memory
  Pending* pending;
  uint32_t accesses;
};
Memory memory __attribute__((section("kfe_state")));
std::unordered_map<uintptr_t, Cell>* globals __attribute__((section("kfe_state")));

Cell* make_cells(uint64_t count) {
  void* made = mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? nullptr : static_cast<Cell*>(made);
}

[[noreturn]] void refuse(uintptr_t pc, bool write, const char* text) {
  add(KFE_OUT_OF_BOUNDS, text, place_of(pc, write));
  state().spoiled = true;
  this_worker->end_thread();
}

void race(const char* name, bool write, bool atomic, uintptr_t pc, const Access& other, bool other_write) {
  KfePlace mine = place_of(pc, write), its{};
  its.offset = other.place & ~(1u << 31);
  its.is_write = other_write;
  set_thread(its, other.thread / kMostThreads, other.thread % kMostThreads);
  char text[128];
  snprintf(text, sizeof text, "%s: %s%s against %s%s", name, atomic ? "atomic " : "",
           write ? "write" : "read", other.place >> 31 ? "atomic " : "", other_write ? "write" : "read");
  add(KFE_RACE, text, mine, &its);
}

// The cells of an access, granule by granule.
template <class CellAt>
void look_for_races(Worker& worker, const char* name, uintptr_t address, uint64_t size, uint32_t granule,
                    uint32_t since, bool write, bool atomic, uintptr_t pc, CellAt cell_at) {
  for (uintptr_t at = address / granule * granule; at < address + size; at += granule) {
    Cell& cell = cell_at(at);
    const bool was_write = cell.write.time != 0;
    const Access written = cell.write;
    const Access* other = touch(worker, cell, write, atomic, offset_of(pc), since);
    if (other)
      return race(name, write, atomic, pc, *other,
                  was_write && other->time == written.time && other->thread == written.thread &&
                      other->place == written.place);
  }
}

const char* shared_name(const KfeSite* site) { return site ? site->name : "shared memory"; }

void shared_access(Worker& worker, uint32_t offset, uintptr_t address, uint64_t size, bool write, bool atomic,
                   uintptr_t pc) {
  const char* name = "dynamic shared memory";
  uint32_t granule = 1;
  char text[128];
  if (offset < kArenaBytes) {
    const KfeSite* site = site_at(offset);
    if (!site || offset + size > site->offset + uint64_t{site->bytes}) {
      const KfeSite* near = site ? site : site_before(offset);
      snprintf(text, sizeof text, "%llu bytes at byte %lld of %s, which has %u",
               static_cast<unsigned long long>(size),
               near ? static_cast<long long>(offset) - near->offset : static_cast<long long>(offset),
               shared_name(near), near ? near->bytes : 0);
      refuse(pc, write, text);
    }
    name = site->name;
    granule = site->element >= 4 ? 4 : site->element == 2 ? 2 : 1;
  } else if (offset + size > kArenaBytes + worker.launch().step->shared_bytes) {
    snprintf(text, sizeof text,
             "%llu bytes at byte %u of dynamic shared memory, of which the launch has %llu",
             static_cast<unsigned long long>(size), offset - kArenaBytes,
             static_cast<unsigned long long>(worker.launch().step->shared_bytes));
    refuse(pc, write, text);
  }
  traffic_access(worker, offset_of(pc), offset, static_cast<uint32_t>(size), write, atomic, true);
  if (kfe_bounds_only) return;
  if (memory.pending)
    for (uint32_t i = offset; i < offset + size; ++i)
      if (const Pending& copy = memory.pending[i]; copy.copies) {
        KfePlace its{};
        its.offset = copy.place;
        its.is_write = true;
        set_thread(its, worker.block_number(), copy.thread);
        snprintf(text, sizeof text, "%s: %s against an asynchronous copy that was not waited for", name,
                 write ? "write" : "read");
        add(KFE_RACE, text, place_of(pc, write), &its);
        break;
      }
  Cell* cells = memory.arena;
  const uintptr_t base = reinterpret_cast<uintptr_t>(kfe_shared_arena);
  if (!write)
    for (uintptr_t at = address / granule * granule; at < address + size; at += granule)
      if (cells[at - base].write.time <= block_began()) {
        add(KFE_UNWRITTEN, name, place_of(pc, false));
        break;
      }
  look_for_races(worker, name, address, size, granule, block_began(), write, atomic, pc,
                 [&](uintptr_t at) -> Cell& { return cells[at - base]; });
}

Region* region_of(uintptr_t address) {
  Region& last = memory.region[memory.last];
  if (address >= last.begin && address < last.end) return &last;
  for (uint32_t i = 0; i < memory.regions; ++i)
    if (address >= memory.region[i].begin && address < memory.region[i].end) {
      memory.last = i;
      return &memory.region[i];
    }
  return nullptr;
}

bool is_global(uintptr_t address, uint64_t size) {
  const auto in = [&](const char* begin, const char* end) {
    return address + size > reinterpret_cast<uintptr_t>(begin) && address < reinterpret_cast<uintptr_t>(end);
  };
  return in(__ehdr_start, _end) && !in(__start_kfe_state, __stop_kfe_state);
}

// The runtime's words that device code reads, and the one it counts down.
bool is_index(uintptr_t address, uint64_t size, bool write) {
  struct Word {
    void* at;
    uint64_t bytes;
    bool writable;
  };
  const Word words[] = {{&kfe_thread_index, sizeof(KfeIndex), false},
                        {&kfe_block_index, sizeof(KfeIndex), false},
                        {&kfe_block_size, sizeof(KfeIndex), false},
                        {&kfe_grid_size, sizeof(KfeIndex), false},
                        {&kfe_full_block, sizeof(KfeIndex), false},
                        {&kfe_grid_threads, sizeof(KfeIndex), false},
                        {&kfe_thread_number, 4, false},
                        {static_cast<void*>(&kfe_shared_arena), sizeof(char*), false},
                        {static_cast<void*>(&kfe_dynamic_shared), sizeof(char*), false},
                        {&kfe_patience, 4, true}};
  for (const Word& word : words) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(word.at);
    if (address >= begin && address + size <= begin + word.bytes) return word.writable || !write;
  }
  return false;
}

bool is_argument(uintptr_t address, uint64_t size, bool write) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(this_worker->launch().arguments);
  return !write && address >= begin && address + size <= begin + 2 * kMostArguments * sizeof(KfeArgument);
}

// What the scheduler holds for the lanes that met: read once, right after.
bool is_meeting(uintptr_t address, uint64_t size, bool write) {
  return !write && this_worker->owns_meeting(reinterpret_cast<const void*>(address), size);
}

// The nearest memory of the launch, in words.
void describe(uintptr_t address, uint64_t size, char (&text)[128]) {
  const Region* near = nullptr;
  uint64_t distance = ~0ull;
  for (uint32_t i = 0; i < memory.regions; ++i) {
    const Region& region = memory.region[i];
    const uint64_t away = address < region.begin ? region.begin - address : address - region.begin;
    if (away < distance) distance = away, near = &region;
  }
  if (!near || distance > (uint64_t{1} << 32))
    snprintf(text, sizeof text, "%llu bytes outside of all memory of the launch",
             static_cast<unsigned long long>(size));
  else
    snprintf(text, sizeof text, "%llu bytes at byte %lld of %s, which has %llu",
             static_cast<unsigned long long>(size), static_cast<long long>(address - near->begin), near->name,
             static_cast<unsigned long long>(near->end - near->begin));
}

}  // namespace

void access(uintptr_t address, uint64_t size, bool write, bool atomic, uintptr_t pc) {
  if (!this_worker || !state().step || size == 0) return;
  Worker& worker = *this_worker;
  const Fiber& fiber = *worker.fiber();
  if (address >= reinterpret_cast<uintptr_t>(fiber.low) &&
      address + size <= reinterpret_cast<uintptr_t>(fiber.high))
    return;
  if (memory.accesses != ~0u) ++memory.accesses;
  const uintptr_t arena = reinterpret_cast<uintptr_t>(kfe_shared_arena);
  if (atomic) clock_atomic(worker, address);
  if (address >= arena && address < arena + kArenaBytes + kSharedLimit)
    return shared_access(worker, static_cast<uint32_t>(address - arena), address, size, write, atomic, pc);
  if (Region* region = region_of(address)) {
    if (address + size > region->end) {
      char text[128];
      describe(address, size, text);
      refuse(pc, write, text);
    }
    if (write && region->read_only) {
      char text[128];
      snprintf(text, sizeof text, "a write to %.60s, which prepare made and run may only read", region->name);
      refuse(pc, write, text);
    }
    // Memory of a device begins at a sector.
    traffic_access(worker, offset_of(pc), address - region->begin, static_cast<uint32_t>(size), write, atomic,
                   false);
    use_access(static_cast<uint32_t>(region - memory.region), address - region->begin, size, write);
    if (kfe_bounds_only) return;
    if (!region->cells) return;
    return look_for_races(worker, region->name, address - region->begin, size, region->granule, 0, write,
                          atomic, pc,
                          [&](uintptr_t at) -> Cell& { return region->cells[at / region->granule]; });
  }
  if (is_argument(address, size, write) || is_index(address, size, write) || is_meeting(address, size, write))
    return;
  if (is_global(address, size)) {
    if (kfe_bounds_only) return;
    if (!globals) globals = new std::unordered_map<uintptr_t, Cell>;
    return look_for_races(worker, "a variable of the program", address, size, 4, 0, write, atomic, pc,
                          [&](uintptr_t at) -> Cell& { return (*globals)[at]; });
  }
  char text[128];
  describe(address, size, text);
  refuse(pc, write, text);
}

void pending(uintptr_t address, uint64_t size, int delta, uintptr_t pc) {
  const uintptr_t arena = reinterpret_cast<uintptr_t>(kfe_shared_arena);
  constexpr uint64_t kBytes = kArenaBytes + kSharedLimit;
  if (kfe_bounds_only || address < arena || address + size > arena + kBytes) return;
  if (!memory.pending) {
    void* made = mmap(nullptr, (kBytes + 4096) * sizeof(Pending), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return;
    memory.pending = static_cast<Pending*>(made);
  }
  for (uint64_t i = address - arena; i < address - arena + size; ++i) {
    Pending& copy = memory.pending[i];
    copy.copies = static_cast<uint16_t>(copy.copies + delta);
    copy.place = offset_of(pc);
    copy.thread = this_worker->current_number();
  }
}

void bad_index(const char* file, uint32_t line, int64_t index) {
  char text[128];
  snprintf(text, sizeof text, "index %lld of an array that has no such element",
           static_cast<long long>(index));
  add(KFE_OUT_OF_BOUNDS, text, place_of(file, static_cast<int>(line)));
  state().spoiled = true;
  this_worker->end_thread();
}

}  // namespace kfe::check

namespace kfe::checks {

using namespace check;

void launch_begins(const KfeProgram& program, const KfeStep& step, void* const* addresses) {
  state().step = &step;
  state().spoiled = false;
  sample_launch(step);
  clock_begins_launch();
  if (!memory.arena) memory.arena = make_cells(kArenaBytes + kSharedLimit + 4096);
  for (uint32_t i = 0; i < memory.regions; ++i)
    if (memory.region[i].cells) munmap(memory.region[i].cells, memory.region[i].cell_count * sizeof(Cell));
  memory.regions = memory.last = 0;
  const bool preparing = &step >= program.prepare && &step < program.prepare + program.prepares;
  // Only what the launch was given: a kernel that finds its way into another tensor is wrong as well.
  for (uint32_t i = 0; i < step.count && memory.regions < kMostRegions; ++i) {
    const int which = step.arguments[i].memory;
    if (which < 0) continue;
    const KfeMemory& one = program.memory[which];
    const uintptr_t begin = reinterpret_cast<uintptr_t>(addresses[which]);
    bool known = false;
    for (uint32_t r = 0; r < memory.regions; ++r) known |= memory.region[r].begin == begin;
    if (known) continue;
    Region& region = memory.region[memory.regions++];
    const uint32_t granule = one.element >= 4 ? 4 : one.element == 2 ? 2 : 1;
    const uint64_t cells = one.bytes / granule + 8;
    region = {one.name, begin, begin + one.bytes, granule, nullptr, cells, one.prepared && !preparing};
    if (!kfe_bounds_only && cells <= kMostCells) region.cells = make_cells(cells);
    use_memory(memory.regions - 1, one.name, one.bytes);
  }
}

void call_begins(const KfeProgram& program, const void* asked) { sample_call(program, asked); }
int poison() { return sample_partial() ? 0 : kPoison; }
bool skips_block(uint64_t number) { return sample_partial() && !sample_has(number); }
void moved(uint64_t bytes) { sample_move(bytes); }
void hand_over(void* report) {
  sample_call_ends();
  check::hand_over(report);
}

void launch_ends() {
  sample_launch_ends();
  state().step = nullptr;
  state().report.accesses_checked = memory.accesses;
}

void block_begins(Worker& worker) {
  clock_begins_block(worker);
  sample_block(worker);
  traffic_begins(worker);
}
void block_ends(Worker& worker) {
  traffic_ends(worker);
  code_phase_ends();
  use_block_ends();
  sample_block_ends();
}
void barrier_passed(Worker& worker) {
  clock_barrier();
  if (!kfe_counts) return;
  traffic_ends(worker);
  code_phase_ends();
  sample_barrier();
}
void lanes_met(Worker&, uint32_t first_thread, uint32_t lanes, uint32_t kind) {
  clock_lanes_met(first_thread, lanes);
  // A reduction is a shuffle for each doubling of the lanes.
  sample_meeting(first_thread / KFE_LANES, kind == KFE_REDUCE ? 5 : 1);
}
void fence(Worker& worker, bool device) { clock_fence(worker, device); }
// Bounds and races are those of the moment it is asked for, and again of the moment it is made.
void copy_asked(const Copy& copy) {
  access(reinterpret_cast<uintptr_t>(copy.from), copy.given, false, false, copy.pc);
  access(reinterpret_cast<uintptr_t>(copy.to), copy.bytes, true, false, copy.pc);
  pending(reinterpret_cast<uintptr_t>(copy.to), copy.bytes, 1, copy.pc);
}
void copy_made(const Copy& copy, bool ends) {
  pending(reinterpret_cast<uintptr_t>(copy.to), copy.bytes, -1, copy.pc);
  if (!ends) access(reinterpret_cast<uintptr_t>(copy.to), copy.bytes, true, false, copy.pc);
}

void barrier_diverged(const char* file, int line, const char* other_file, int other_line) {
  if (state().spoiled) return;
  const KfePlace other = place_of(other_file, other_line);
  add(KFE_BARRIER_DIVERGED, "threads of one block wait at different barriers", place_of(file, line), &other);
}
void barrier_left(Worker&, const char* file, int line) {
  if (!state().spoiled)
    add(KFE_BARRIER_LEFT, "threads ended before the barrier that the others wait at", place_of(file, line));
}
void meeting_diverged(const char* what, const char* file, int line, const char* other_file, int other_line) {
  if (state().spoiled) return;
  const KfePlace other = place_of(other_file, other_line);
  add(KFE_MEETING_DIVERGED, what, place_of(file, line), &other);
}
void absent_lane(Worker&, uint32_t lane, const char* file, int line) {
  if (state().spoiled) return;
  char text[128];
  snprintf(text, sizeof text, "takes the value of lane %u, which has ended or does not take part", lane);
  add(KFE_LANE_ABSENT, text, place_of(file, line));
}
void deadlock(const Thread* const (&at)[2], const uint32_t (&counts)[2]) {
  if (state().spoiled) return;
  KfePlace places[2] = {};
  for (int i = 0; i < 2; ++i)
    if (at[i]) places[i] = place_of(at[i]->file, at[i]->line);
  char text[128];
  snprintf(text, sizeof text, "%u threads wait at a %s%s", counts[0],
           at[0] && at[0]->wait == Thread::kBarrier ? "barrier" : "warp function",
           at[1] ? (at[1]->wait == Thread::kBarrier ? ", others at a barrier" : ", others at a warp function")
                 : "");
  add(KFE_DEADLOCK, text, places[0], at[1] ? &places[1] : nullptr);
}
void trap(const char* what, const char* file, int line) { add(KFE_TRAP, what, place_of(file, line)); }
void limit(const char* what) { add(KFE_LIMIT, what, KfePlace{}); }

}  // namespace kfe::checks
