// The state of one runner: what the parent handed over and what was loaded. One per process, reachable from
// the crash handler. Nothing here allocates, throws or uses more than libc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runner/call_pointers.h"
#include "runner/protocol.h"

namespace kforge::runner {

inline constexpr int kMostReadable = 15;
inline constexpr size_t kGuardBytes = 4096 * 4;  // no access before and after every tensor instance

// One argument: all its slots lie in one reserved stretch of addresses, guards between them.
struct Argument {
  KforgeArgumentRow row;
  char* region = nullptr;
  size_t region_bytes = 0;
  uint32_t slots = 0;

  size_t step() const { return kGuardBytes + row.pages_bytes; }
  char* pages(uint32_t slot) const { return region + kGuardBytes + slot * step(); }
  void* data(uint32_t slot) const { return pages(slot) + row.data_offset; }
};

struct Candidate {
  AnyFunction kernel = nullptr;  // or:
  AnyFunction prepare = nullptr;
  AnyFunction kernel_prepared = nullptr;
  AnyFunction release = nullptr;  // may be absent
  bool uses_prepare() const { return kernel_prepared != nullptr; }
};

struct RunnerState {
  const char* path = nullptr;             // of the candidate's shared library
  int load_filter = -1, run_filter = -1;  // descriptors, -1: none
  const char* readable[16] = {};          // the candidate itself, then folders with libraries it may need
  Argument arguments[KFORGE_MAX_ARGUMENTS];
  uint32_t argument_count = 0;
  uint32_t slot_count = 0;
  Candidate candidate;
  void* state = nullptr;
  bool prepared = false;
  bool loaded = false;

  // Read by the crash handler.
  volatile uint32_t stage = 0;  // message type being served
  volatile uint32_t slot = 0;   // of the call under way
};

extern RunnerState runner_state;

// channel.cc
void send_message(uint32_t type, uint64_t value, uint64_t nanoseconds, const void* payload = nullptr,
                  uint32_t bytes = 0);
void send_done(uint64_t value, uint64_t nanoseconds);
void send_error(const char* first, const char* second = "");  // the two texts one after the other
struct Packet {
  KforgeMessage head;
  const unsigned char* payload;
  int fds[3];
  int fd_count;
};
bool receive_packet(Packet& packet);  // false when the parent is gone

// arenas.cc: maps the tensors; answers to the parent itself.
void set_up(const Packet& packet);
// load.cc: confines the process, loads the candidate, confines it further.
void load();
// filters.cc
const char* install_filter(int fd);       // null, or what went wrong
const char* allow_only_candidate_file();  // Landlock where the kernel has it
// symbols.cc: a function named `name` with C++ linkage, mangled; null when there is none.
const char* mangled_variant(void* library, const char* name);
bool starts_threads(void* library);  // threads of its own, besides those of OpenMP
// call.cc
void prepare();
void call(const Packet& packet);
void release_state();
// crash.cc
void install_crash_handlers();

}  // namespace kforge::runner
