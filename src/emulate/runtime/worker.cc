#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "checks.h"

extern "C" {
__thread KfeIndex kfe_thread_index, kfe_block_index, kfe_block_size, kfe_grid_size, kfe_full_block,
    kfe_grid_threads;
__thread kfe_u32 kfe_thread_number;
__thread char *kfe_shared_arena, *kfe_dynamic_shared;
__thread kfe_i32 kfe_patience;
}

namespace kfe {

__thread Worker* this_worker;

namespace {

constexpr int kPatience = 2000;

uint32_t smaller(uint64_t a, uint64_t b) { return static_cast<uint32_t>(a < b ? a : b); }

}  // namespace

Worker* Worker::make() {
  void* memory = mmap(nullptr, sizeof(Worker), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* arena = mmap(nullptr, kArenaBytes + (kSharedLimit + 4096), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || arena == MAP_FAILED) abort();
  auto* worker = static_cast<Worker*>(memory);  // all zero is its first state
  worker->arena_ = static_cast<char*>(arena);
  worker->dirty_ = kArenaBytes;
  return worker;
}

void Worker::destroy() {
  pool_.release();
  for (Copies& copies : copies_) copies.release();
  while (Meeting* meeting = free_meetings_) {
    free_meetings_ = meeting->next;
    free(meeting);
  }
  munmap(arena_, kArenaBytes + (kSharedLimit + 4096));
  munmap(this, sizeof(Worker));
}

void Worker::enter(uint32_t number) {
  current_ = number;
  kfe_thread_index = threads_[number].index;
  kfe_thread_number = number;
}

void Worker::run_blocks(Launch& launch) {
  launch_ = &launch;
  this_worker = this;
  kfe_grid_size = launch.grid;
  kfe_full_block = launch.block;
  kfe_grid_threads = launch.threads;
  kfe_shared_arena = arena_;
  kfe_dynamic_shared = arena_ + kArenaBytes;
  for (;;) {
    const uint64_t number = __atomic_fetch_add(&launch.next, 1, __ATOMIC_RELAXED);
    if (number >= launch.blocks || __atomic_load_n(&launch.stopped, __ATOMIC_RELAXED)) break;
    if (!checks::skips_block(number)) run_block(number);
  }
}

void Worker::run_block(uint64_t number) {
  const KfeIndex grid = launch_->grid, full = launch_->block, all = launch_->threads;
  block_ = number;
  kfe_block_index = {static_cast<uint32_t>(number % grid.x), static_cast<uint32_t>(number / grid.x % grid.y),
                     static_cast<uint32_t>(number / grid.x / grid.y)};
  // Blocks at the edge of a non-uniform grid are smaller.
  const KfeIndex size = {smaller(full.x, all.x - uint64_t{kfe_block_index.x} * full.x),
                         smaller(full.y, all.y - uint64_t{kfe_block_index.y} * full.y),
                         smaller(full.z, all.z - uint64_t{kfe_block_index.z} * full.z)};
  kfe_block_size = size;
  count_ = alive_ = size.x * size.y * size.z;
  next_ = ready_begin_ = ready_end_ = arrived_ = lost_ = 0;
  other_file_ = nullptr;
  counted_ = voted_ = 0;
  for (uint32_t i = 0; i * KFE_LANES < count_; ++i) {
    const uint32_t lanes = count_ - i * KFE_LANES;
    warps_[i] = {lanes >= KFE_LANES ? ~0u : (1u << lanes) - 1, 0, nullptr};
  }
  memset(arena_, kPoison, dirty_);
  if (launch_->step->shared_bytes) memset(kfe_dynamic_shared, kPoison, launch_->step->shared_bytes);
  checks::block_begins(*this);
  fiber_ = pool_.take(fiber_main);
  kfe_switch(&launcher_, fiber_->stack_pointer);
  dirty_ = arena_used();
  checks::block_ends(*this);
}

void Worker::fiber_main() {
  Worker& worker = *this_worker;
  while (worker.next_ < worker.count_) worker.start_next();
  // Nothing left to start: this stack is free once left, and nobody takes it before.
  worker.pool_.give_back(worker.fiber_);
  void* nowhere;
  worker.leave(&nowhere);
  __builtin_unreachable();
}

void Worker::start_next() {
  const uint32_t number = next_++;
  Thread& thread = threads_[number];
  const KfeIndex size = kfe_block_size;
  thread.index = {number % size.x, number / size.x % size.y, number / size.x / size.y};
  thread.fiber = fiber_;
  thread.wait = Thread::kNothing;
  thread.ended = false;
  kfe_patience = kPatience;
  enter(number);
  launch_->step->thunk(launch_->arguments);
  thread_ended(current_);
}

void Worker::thread_ended(uint32_t number) {
  threads_[number].ended = true;
  copies_[number].finish(true);
  --alive_;
  Warp& warp = warp_of(number);
  warp.live &= ~(1u << number % KFE_LANES);
  warp.ended |= 1u << number % KFE_LANES;
  for (Meeting* meeting = warp.open; meeting;) {
    Meeting* next = meeting->next;
    const uint32_t needed = meeting->mask ? meeting->mask & warp.live : warp.live;
    if (meeting->lanes.arrived == needed) complete(*meeting, warp, number / KFE_LANES * KFE_LANES);
    meeting = next;
  }
  if (arrived_ && arrived_ == alive_) release_barrier();
}

void Worker::end_thread() {
  ++lost_;
  thread_ended(current_);
  pool_.give_back(fiber_);
  void* nowhere;
  leave(&nowhere);
  __builtin_unreachable();
}

void Worker::stop_launch() {
  __atomic_store_n(&launch_->stopped, true, __ATOMIC_RELAXED);
  // The stacks of the threads that wait are lost to the pool: a program that gets here runs no further.
  void* nowhere;
  kfe_switch(&nowhere, launcher_);
  __builtin_unreachable();
}

void Worker::leave(void** save) {
  for (;;) {
    if (next_ < count_) {
      fiber_ = pool_.take(fiber_main);
      break;
    }
    if (ready_begin_ != ready_end_) {
      fiber_ = threads_[ready_[ready_begin_++ % kMostThreads]].fiber;
      break;
    }
    if (alive_ == 0) return kfe_switch(save, launcher_);
    resolve_idle();
  }
  if (save == &fiber_->stack_pointer) return;  // its own turn again
  kfe_switch(save, fiber_->stack_pointer);
}

void Worker::wait() {
  const uint32_t me = current_;
  Fiber* mine = fiber_;
  const int patience = kfe_patience;
  leave(&mine->stack_pointer);
  fiber_ = mine;
  kfe_patience = patience;
  threads_[me].wait = Thread::kNothing;
  enter(me);
}

void Worker::yield() {
  make_ready(current_);
  kfe_patience = kPatience;
  wait();
  kfe_patience = kPatience;
}

void Worker::barrier(const char* file, int line) {
  Thread& me = threads_[current_];
  if (arrived_ == 0) {
    first_file_ = file;
    first_line_ = line;
    other_file_ = nullptr;
  } else if (line != first_line_ || (file != first_file_ && strcmp(file, first_file_) != 0)) {
    other_file_ = file;
    other_line_ = line;
  }
  me.file = file;
  me.line = line;
  me.wait = Thread::kBarrier;
  waiting_[arrived_++] = static_cast<uint16_t>(current_);
  if (arrived_ < alive_) return wait();
  // The last one goes on at once.
  --arrived_;
  me.wait = Thread::kNothing;
  release_barrier();
}

void Worker::release_barrier() {
  if (other_file_) checks::barrier_diverged(first_file_, first_line_, other_file_, other_line_);
  if (alive_ < count_ && !lost_) checks::barrier_left(*this, first_file_, first_line_);
  for (uint32_t i = 0; i < arrived_; ++i) make_ready(waiting_[i]);
  arrived_ = 0;
  results_[round_ & 1] = (counted_ & 0xFFFF) | (voted_ << 16);
  counted_ = voted_ = 0;
  ++round_;
  checks::barrier_passed(*this);
}

int Worker::barrier_vote(int vote, int predicate, const char* file, int line) {
  counted_ += predicate != 0;
  ++voted_;
  const uint32_t round = round_;
  barrier(file, line);
  const int yes = results_[round & 1] & 0xFFFF, all = results_[round & 1] >> 16;
  return vote == KFE_COUNT ? yes : vote == KFE_AND ? yes == all : yes != 0;
}

void Worker::resolve_idle() {
  bool some = false;
  for (uint32_t i = 0; i * KFE_LANES < count_; ++i)
    for (Meeting* meeting = warps_[i].open; meeting;) {
      Meeting* next = meeting->next;
      if (meeting->mask == 0) {
        complete(*meeting, warps_[i], i * KFE_LANES);
        some = true;
      }
      meeting = next;
    }
  if (some) return;
  // The places at which they wait, the two that most wait at.
  const Thread* at[2] = {};
  uint32_t counts[2] = {};
  for (uint32_t i = 0; i < count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.ended || thread.wait == Thread::kNothing) continue;
    for (int slot = 0; slot < 2; ++slot) {
      if (!at[slot]) at[slot] = &thread;
      if (at[slot]->line != thread.line || at[slot]->wait != thread.wait) continue;
      ++counts[slot];
      break;
    }
  }
  checks::deadlock(at, counts);
  stop_launch();
}

const KfeLanes* Worker::meet(uint32_t mask, int kind, const void* value, uint32_t bytes, const char* file,
                             int line) {
  const uint32_t lane = current_ % KFE_LANES, bit = 1u << lane;
  Warp& warp = warp_of(current_);
  if (mask && !(mask & bit)) {
    checks::meeting_diverged("the calling lane is not in its own mask", file, line, file, line);
    mask |= bit;
  }
  Meeting* meeting = warp.open;
  while (meeting && meeting->mask != mask) meeting = meeting->next;
  if (!meeting) {
    meeting = free_meetings_;
    if (meeting)
      free_meetings_ = meeting->next;
    else if (!(meeting = static_cast<Meeting*>(malloc(sizeof(Meeting)))))
      abort();
    meeting->lanes.arrived = 0;
    meeting->mask = mask;
    meeting->kind = static_cast<uint32_t>(kind);
    meeting->complete = false;
    meeting->file = file;
    meeting->line = line;
    meeting->next = warp.open;
    warp.open = meeting;
  } else if (meeting->kind != static_cast<uint32_t>(kind)) {
    checks::meeting_diverged("lanes of one mask meet in different functions", meeting->file, meeting->line,
                             file, line);
  }
  if (bytes) memcpy(meeting->lanes.value[lane], value, bytes);
  meeting->lanes.arrived |= bit;
  if (meeting->lanes.arrived == (mask ? mask & warp.live : warp.live)) {
    complete(*meeting, warp, current_ - lane);
  } else {
    Thread& me = threads_[current_];
    me.wait = Thread::kMeeting;
    me.file = file;
    me.line = line;
    wait();
  }
  if (--meeting->pending == 0) {
    meeting->next = free_meetings_;
    free_meetings_ = meeting;
  }
  met_ = &meeting->lanes;
  return met_;
}

void Worker::complete(Meeting& meeting, Warp& warp, uint32_t first_thread) {
  Meeting** link = &warp.open;
  while (*link != &meeting) link = &(*link)->next;
  *link = meeting.next;
  meeting.complete = true;
  meeting.pending = static_cast<uint32_t>(__builtin_popcount(meeting.lanes.arrived));
  for (uint32_t lanes = meeting.lanes.arrived; lanes; lanes &= lanes - 1) {
    const uint32_t thread = first_thread + static_cast<uint32_t>(__builtin_ctz(lanes));
    if (threads_[thread].wait == Thread::kMeeting) make_ready(thread);
  }
  checks::lanes_met(*this, first_thread, meeting.lanes.arrived, meeting.kind);
}

}  // namespace kfe

extern "C" {
void kfe_barrier(const char* file, int line) { kfe::this_worker->barrier(file, line); }
int kfe_barrier_vote(int vote, int predicate, const char* file, int line) {
  return kfe::this_worker->barrier_vote(vote, predicate, file, line);
}
const KfeLanes* kfe_meet(kfe_u32 mask, int kind, const void* value, kfe_u32 bytes, const char* file,
                         int line) {
  return kfe::this_worker->meet(mask, kind, value, bytes, file, line);
}
kfe_u32 kfe_live_lanes() { return kfe::this_worker->warp_of(kfe::this_worker->current_number()).live; }
void kfe_absent_lane(kfe_u32 lane, const char* file, int line) {
  kfe::checks::absent_lane(*kfe::this_worker, lane, file, line);
}
void kfe_yield() { kfe::this_worker->yield(); }
void kfe_fence() { kfe::checks::fence(*kfe::this_worker, true); }
void kfe_fence_block() { kfe::checks::fence(*kfe::this_worker, false); }
kfe_u64 kfe_clock() {
  static kfe_u64 ticks;
  return __atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
}
void kfe_trap(const char* what, const char* file, int line) {
  kfe::checks::trap(what, file, line);
  kfe::this_worker->stop_launch();
}
}
