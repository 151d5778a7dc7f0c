#include "shadow.h"

#include <string.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace kfe::check {
namespace {

constexpr uint32_t kAtomic = 1u << 31;

struct Released {
  uint32_t block;
  uint32_t time, device_time;  // of the last fence of any kind, and of one for all blocks
};

struct Clock {
  uint32_t now, launch, block, barrier, fence, device_fence;
  uint32_t warp_met[kMostWarps];                        // all live lanes met
  uint32_t pair_met[kMostWarps][KFE_LANES][KFE_LANES];  // these two did
  bool pairs_used[kMostWarps];
};
Clock now_is __attribute__((section("kfe_state")));

// What blocks made visible through an atomic, and which of these the current block has looked at.
std::unordered_map<uintptr_t, std::vector<Released>>* released __attribute__((section("kfe_state")));
std::vector<uintptr_t>* acquired __attribute__((section("kfe_state")));

bool seen_through_atomic(const Access& access, uint32_t my_block) {
  const uint32_t block = access.thread / kMostThreads;
  for (uintptr_t address : *acquired)
    for (const Released& one : (*released)[address])
      if (one.block == block && (block == my_block ? one.time : one.device_time) > access.time) return true;
  return false;
}

bool ordered(Worker& worker, const Access& access, uint32_t me, uint32_t since) {
  if (access.time <= since || access.thread == me) return true;
  const uint32_t block = static_cast<uint32_t>(worker.block_number() % (1u << 22));
  if (access.thread / kMostThreads == block) {
    if (access.time < now_is.barrier) return true;
    const uint32_t mine = me % kMostThreads, its = access.thread % kMostThreads;
    const uint32_t warp = mine / KFE_LANES;
    if (its / KFE_LANES == warp) {
      if (access.time < now_is.warp_met[warp]) return true;
      if (now_is.pairs_used[warp] && access.time < now_is.pair_met[warp][mine % KFE_LANES][its % KFE_LANES])
        return true;
    }
  }
  return seen_through_atomic(access, block);
}

}  // namespace

uint32_t block_began() { return now_is.block; }

void clock_begins_launch() {
  if (!released) {
    released = new std::unordered_map<uintptr_t, std::vector<Released>>;
    acquired = new std::vector<uintptr_t>;
  }
  released->clear();
  now_is.launch = ++now_is.now;
}

void clock_begins_block(Worker&) {
  now_is.block = now_is.barrier = ++now_is.now;
  ++now_is.now;
  now_is.fence = now_is.device_fence = 0;
  memset(now_is.warp_met, 0, sizeof now_is.warp_met);
  for (uint32_t i = 0; i < kMostWarps; ++i)
    if (std::exchange(now_is.pairs_used[i], false)) memset(now_is.pair_met[i], 0, sizeof now_is.pair_met[i]);
  acquired->clear();
}

void clock_barrier() { now_is.barrier = ++now_is.now; }

void clock_lanes_met(uint32_t first_thread, uint32_t lanes) {
  const uint32_t warp = first_thread / KFE_LANES, time = ++now_is.now;
  if (lanes == this_worker->warp_of(first_thread).live) {
    now_is.warp_met[warp] = time;
    return;
  }
  now_is.pairs_used[warp] = true;
  for (uint32_t a = lanes; a; a &= a - 1)
    for (uint32_t b = lanes; b; b &= b - 1) now_is.pair_met[warp][__builtin_ctz(a)][__builtin_ctz(b)] = time;
}

void clock_fence(Worker&, bool device) {
  now_is.fence = ++now_is.now;
  if (device) now_is.device_fence = now_is.fence;
}

void clock_atomic(Worker& worker, uintptr_t address) {
  auto found = released->find(address);
  if (found != released->end()) {
    bool known = false;
    for (uintptr_t one : *acquired) known |= one == address;
    if (!known) acquired->push_back(address);
  }
  if (!now_is.fence) return;
  const uint32_t block = static_cast<uint32_t>(worker.block_number() % (1u << 22));
  std::vector<Released>& list = (*released)[address];
  if (!list.empty() && list.back().block == block)
    list.back() = {block, now_is.fence, now_is.device_fence};
  else
    list.push_back({block, now_is.fence, now_is.device_fence});
}

const Access* touch(Worker& worker, Cell& cell, bool write, bool atomic, uint32_t place, uint32_t since) {
  if (since < now_is.launch) since = now_is.launch;
  const uint32_t block = static_cast<uint32_t>(worker.block_number() % (1u << 22));
  const uint32_t me = block * kMostThreads + worker.current_number();
  const Access* races = nullptr;
  auto conflicts = [&](const Access& access) {
    if (!access.time || (atomic && (access.place & kAtomic))) return false;
    return !ordered(worker, access, me, since);
  };
  if (conflicts(cell.write)) races = &cell.write;
  if (write && !races) {
    if (conflicts(cell.read))
      races = &cell.read;
    else if (conflicts(cell.other_read))
      races = &cell.other_read;
  }
  static Access other __attribute__((section("kfe_state")));
  if (races) other = *races;
  const Access mine{now_is.now, me, place | (atomic ? kAtomic : 0)};
  if (write) {
    cell.write = mine;
  } else {
    if (cell.read.time && cell.read.thread != me) cell.other_read = cell.read;
    cell.read = mine;
  }
  return races ? &other : nullptr;
}

}  // namespace kfe::check
