// Calling the candidate's functions with as many pointers as the task has tensors.
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runner/call_pointers.h"
#include "runner/runner_state.h"

namespace kforge::runner {
namespace {

static_assert(kMostPointers == KFORGE_MAX_ARGUMENTS + 1);  // and the state

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// The pointers of one call: of the params only, of all, or of all but the params after the state.
enum class Which { kParams, kAll, kStateAndRest };
size_t count_of(Which which) {
  size_t count = which == Which::kStateAndRest ? 1 : 0;
  for (uint32_t i = 0; i < runner_state.argument_count; ++i)
    count +=
        which == Which::kAll || (runner_state.arguments[i].row.is_param != 0) == (which == Which::kParams);
  return count;
}
// As many as are passed: nulls follow the last one where the caller passes more.
void gather(Which which, uint32_t slot, void** pointers) {
  size_t count = 0;
  if (which == Which::kStateAndRest) pointers[count++] = runner_state.state;
  for (uint32_t i = 0; i < runner_state.argument_count; ++i) {
    const Argument& argument = runner_state.arguments[i];
    bool wanted = which == Which::kAll || (argument.row.is_param != 0) == (which == Which::kParams);
    if (wanted) pointers[count++] = argument.data(argument.slots == 1 ? 0 : slot);
  }
  for (size_t passed = passed_pointers(count); count < passed;) pointers[count++] = nullptr;
}

// Room for the pointers of the calls of one message, gathered before the clock starts; grows and is kept.
void** room_for(size_t pointers) {
  static void** room = nullptr;
  static size_t held = 0;
  if (pointers <= held) return room;
  if (room) munmap(room, held * sizeof(void*));
  held = 0;
  void* at =
      mmap(nullptr, pointers * sizeof(void*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  room = at == MAP_FAILED ? nullptr : static_cast<void**>(at);
  if (room) held = pointers;
  return room;
}

}  // namespace

void release_state() {
  if (runner_state.prepared && runner_state.candidate.release) {
    void* pointers[] = {runner_state.state};
    call_exactly<1>(runner_state.candidate.release, pointers);
  }
  runner_state.prepared = false;
  runner_state.state = nullptr;
}

void prepare() {
  if (!runner_state.candidate.kernel && !runner_state.candidate.uses_prepare())
    return send_error("no candidate is loaded");
  if (!runner_state.candidate.uses_prepare()) return send_done(0, 0);
  release_state();
  void* params[kMostPointers];
  gather(Which::kParams, 0, params);
  Caller caller = caller_of(count_of(Which::kParams));
  uint64_t start = now_ns();
  runner_state.state = caller(runner_state.candidate.prepare, params);
  uint64_t end = now_ns();
  runner_state.prepared = true;
  send_done(0, end - start);
}

void call(const Packet& packet) {
  uint32_t count = packet.head.payload / sizeof(uint32_t);
  bool trio = runner_state.candidate.uses_prepare();
  if (!trio && !runner_state.candidate.kernel) return send_error("no candidate is loaded");
  if (trio && !runner_state.prepared) return send_error("the candidate was not prepared");
  if (count == 0 || count > KFORGE_MAX_SLOTS || packet.head.payload % sizeof(uint32_t))
    return send_error("wrong number of slots");
  static uint32_t slots[KFORGE_MAX_SLOTS];
  memcpy(slots, packet.payload, packet.head.payload);
  const Which which = trio ? Which::kStateAndRest : Which::kAll;
  const size_t pointers = count_of(which), step = passed_pointers(pointers);
  void** gathered = room_for(count * step);
  if (!gathered) return send_error("no memory for the arguments of the calls");
  for (uint32_t i = 0; i < count; ++i) {
    if (slots[i] >= runner_state.slot_count) return send_error("there is no such slot");
    gather(which, slots[i], gathered + i * step);
  }
  Caller caller = caller_of(pointers);
  AnyFunction function = trio ? runner_state.candidate.kernel_prepared : runner_state.candidate.kernel;
  uint64_t start = now_ns();
  for (uint32_t i = 0; i < count; ++i) {
    runner_state.slot = slots[i];
    caller(function, gathered + i * step);
  }
  send_done(0, now_ns() - start);
}

}  // namespace kforge::runner
