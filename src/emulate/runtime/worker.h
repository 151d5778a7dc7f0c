// One processor thread that runs blocks, one after the other. The threads of a block are lazy fibers: one
// fiber runs thread after thread, and another stack is taken only when a thread has to wait, so a kernel
// without barriers costs a plain loop. At a barrier the switch goes directly to the next thread that can run.
#pragma once

#include <stdint.h>

#include "copies.h"
#include "fiber.h"
#include "kforge/program_api.h"
#include "report.h"

namespace kfe {

inline constexpr int kPoison = 0xFF;  // a NaN as float, -1 as integer: what was never written shows
inline constexpr uint32_t kMostArguments = 256;
inline constexpr uint32_t kMostThreads = 1024;
inline constexpr uint32_t kMostWarps = kMostThreads / KFE_LANES;
inline constexpr uint32_t kArenaBytes = 64 << 10;    // static shared memory, with gaps between variables
inline constexpr uint32_t kStaticLimit = 48 << 10;   // what devices have of it
inline constexpr uint32_t kSharedLimit = 227 << 10;  // static and dynamic together, on the largest

// Lanes that wait for each other with one mask.
struct Meeting {
  KfeLanes lanes;
  uint32_t mask, kind, pending;
  bool complete;
  const char* file;
  int line;
  Meeting* next;
};

struct Warp {
  uint32_t live;   // lanes that have not ended
  uint32_t ended;  // lanes that have; the others of 32 never were
  Meeting* open;
};

struct Thread {
  KfeIndex index;
  Fiber* fiber;
  const char* file;  // where it waits
  int line;
  enum Wait : uint8_t { kNothing, kBarrier, kMeeting } wait;
  bool ended;
};

// A launch as the workers see it.
struct Launch {
  const KfeStep* step;
  const KfeArgument* arguments;
  KfeIndex grid, block, threads;
  uint64_t blocks;
  uint64_t next;      // block to run, taken atomically
  uint32_t finished;  // helpers that are done, atomically
  bool stopped;       // a finding that ends it
};

class Worker {
 public:
  static Worker* make();
  void destroy();

  void run_blocks(Launch& launch);

  // Of the thread that runs now.
  void barrier(const char* file, int line);
  int barrier_vote(int vote, int predicate, const char* file, int line);
  const KfeLanes* meet(uint32_t mask, int kind, const void* value, uint32_t bytes, const char* file,
                       int line);
  void yield();
  [[noreturn]] void end_thread();  // without return from the kernel
  [[noreturn]] void stop_launch();

  Thread& current() { return threads_[current_]; }
  uint32_t current_number() const { return current_; }
  Warp& warp_of(uint32_t thread) { return warps_[thread / KFE_LANES]; }
  Copies& copies() { return copies_[current_]; }
  Fiber* fiber() { return fiber_; }
  Launch& launch() { return *launch_; }
  uint64_t block_number() const { return block_; }
  uint32_t thread_count() const { return count_; }
  // Whether the memory is of the lanes that met last.
  bool owns_meeting(const void* begin, uint64_t bytes) const {
    const char* at = static_cast<const char*>(begin);
    const char* lanes = reinterpret_cast<const char*>(met_);
    return met_ && at >= lanes && at + bytes <= lanes + sizeof(KfeLanes);
  }

 private:
  static void fiber_main();
  void run_block(uint64_t number);
  void start_next();  // runs the next thread that has not started, on this fiber
  void thread_ended(uint32_t number);
  void wait();              // switches away; returns when this thread goes on
  void leave(void** save);  // the switch itself
  void resolve_idle();      // nothing can run: complete what waits for active lanes, or report
  void release_barrier();
  void complete(Meeting& meeting, Warp& warp, uint32_t first_thread);
  void enter(uint32_t number);
  void make_ready(uint32_t number) { ready_[ready_end_++ % kMostThreads] = static_cast<uint16_t>(number); }

  FiberPool pool_;
  void* launcher_ = nullptr;  // stack pointer of run_block
  Fiber* fiber_ = nullptr;
  Launch* launch_ = nullptr;
  uint64_t block_ = 0;
  uint32_t count_ = 0, next_ = 0, alive_ = 0, current_ = 0, dirty_ = 0;
  uint32_t ready_begin_ = 0, ready_end_ = 0;
  // The barrier.
  uint32_t arrived_ = 0, lost_ = 0;  // lost: ended by a finding, not by themselves
  const char* first_file_ = nullptr;
  int first_line_ = 0, other_line_ = 0;
  const char* other_file_ = nullptr;
  int counted_ = 0, voted_ = 0;
  int results_[2] = {};
  uint32_t round_ = 0;

  uint16_t waiting_[kMostThreads];
  uint16_t ready_[kMostThreads];
  Thread threads_[kMostThreads];
  Copies copies_[kMostThreads];
  Warp warps_[kMostWarps];
  Meeting* free_meetings_ = nullptr;
  const KfeLanes* met_ = nullptr;
  char* arena_ = nullptr;
};

extern __thread Worker* this_worker __attribute__((tls_model("initial-exec")));

// Shared memory in use by the launch that runs.
uint32_t arena_used();
uint32_t shared_declared();  // without the gaps between variables
void forget_sites();
const KfeSite* site_at(uint32_t offset);

void run_launch(Launch& launch);

}  // namespace kfe
