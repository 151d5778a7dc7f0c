#include "machine/spin.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>

#include "machine/pinned_threads.h"
#include "machine/topology.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

int thread_count() {
  int count = 0;
  DIR* folder = ::opendir("/proc/self/task");
  while (dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.';
  ::closedir(folder);
  return count;
}

TEST(PinnedThreads, RunsEveryThreadOnceAndAgain) {
  PinnedThreads threads(std::vector<int>{0, 0, 0});
  std::vector<int> calls(3);
  for (int round = 0; round < 100; ++round) threads.run([&](int i) { ++calls[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(calls, (std::vector<int>{100, 100, 100}));
}

TEST(Spin, KeepsTheCoresBusyForTheDuration) {
  timespec before{}, after{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  auto start = std::chrono::steady_clock::now();
  spin_cores(allowed_cpus(), milliseconds(50), 0);
  auto took = std::chrono::steady_clock::now() - start;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  EXPECT_GE(took, milliseconds(50));
  EXPECT_GT(after.tv_sec - before.tv_sec + 1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec), 0.005);
}

TEST(Spin, HelpersAreKeptAndNoThreadIsMadePerSample) {
  spin_cores(allowed_cpus(), milliseconds(1), 1 << 20);
  int threads = thread_count();
  for (int i = 0; i < 20; ++i) spin_cores(allowed_cpus(), milliseconds(0), 4 << 20);
  EXPECT_EQ(thread_count(), threads);
}

std::size_t private_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string key, rest; file >> key; std::getline(file, rest)) {
    std::size_t kilobytes = 0;
    if (key == "RssAnon:" && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

TEST(Spin, MemoryIsGivenBackAndTakenAgain) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::vector<int> one_core = {allowed_cpus()[0]};
  for (int i = 0; i < 2; ++i) {
    spin_cores(one_core, milliseconds(1), kBytes);
    const std::size_t held = private_bytes();
    release_eviction_memory();
    EXPECT_GT(held, private_bytes() + kBytes / 2);
  }
}

TEST(Spin, NoCoresOrOddCoresAreHarmless) {
  spin_cores({}, milliseconds(1), 1 << 20);
  spin_cores({-1, 1 << 20}, milliseconds(1), 1000);
}

TEST(Spin, SeveralThreadsTakeTurns) {
  std::thread other([] {
    for (int i = 0; i < 10; ++i) spin_cores({0}, milliseconds(1), 0);
  });
  for (int i = 0; i < 10; ++i) spin_cores({0}, milliseconds(1), 1 << 16);
  other.join();
}

// After streaming, what was in the first-level cache is slow to reach: judged by a generous factor and the
// best of several tries, since other programs run here too.
TEST(Spin, EvictionPushesEverythingOut) {
  Machine machine;
  machine.cpus = {allowed_cpus()[0]};
  machine.caches = read_caches("/sys/devices/system/cpu/cpu" + std::to_string(machine.cpus[0]));
  PinnedThreads reader(machine.cpus);
  constexpr std::size_t kWords = 1 << 14;
  std::vector<std::size_t> next(kWords * 8);  // one word per line, visited in a scattered order
  for (std::size_t i = 0; i < kWords; ++i) next[i * 8] = (i * 5 + 2731) % kWords * 8;
  auto walk = [&] {
    double ns = 0;
    reader.run([&](int) {
      auto start = std::chrono::steady_clock::now();
      std::size_t at = 0;
      for (std::size_t i = 0; i < kWords; ++i) at = next[at];
      asm volatile("" : : "r"(at));
      ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    });
    return ns;
  };
  double warm = 1e30, cold = 1e30;
  for (int i = 0; i < 8; ++i) warm = std::min(warm, walk());
  for (int i = 0; i < 8; ++i) {
    spin_cores(machine.cpus, milliseconds(1), evict_bytes_per_core(machine));
    cold = std::min(cold, walk());
  }
  EXPECT_GT(cold, 1.5 * warm);
}

TEST(Spin, EvictionCoversEachCoresShare) {
  Machine machine;
  machine.cpus = {0, 1};
  machine.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 32 << 20, 8}};
  EXPECT_GE(evict_bytes_per_core(machine), 2u * (16 << 20));
  EXPECT_GE(evict_bytes_per_core(Machine{}), 1u << 20);
}

TEST(Spin, StealTicksNeverFall) {
  std::uint64_t before = steal_ticks();
  EXPECT_LE(before, steal_ticks());
}

}  // namespace
}  // namespace kforge
