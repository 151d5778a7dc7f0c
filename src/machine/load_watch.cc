#include "machine/load_watch.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace kforge {
namespace {

// Threads that run or are ready to, without the one that asks: "0.50 0.40 0.30 3/512 1234" has three.
double others_ready() {
  std::ifstream file("/proc/loadavg");
  std::string average;
  double ready = 0;
  if (!(file >> average >> average >> average >> ready)) return 0;
  return std::max(ready - 1, 0.0);
}

// About 50 us of dependent arithmetic in registers: its length depends on the clock rate and on who else has
// the core, and on nothing in memory.
double arithmetic_ns() {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t x = 88172645463325252u;
  for (int i = 0; i < 20'000; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  asm volatile("" : : "r"(x));
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

LoadWatch::LoadWatch() : start_(cpu_ticks()) {}

LoadWatch::CpuTicks LoadWatch::cpu_ticks() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  CpuTicks ticks;
  stat >> cpu;
  constexpr int kSteal = 7, kFields = 8;  // user nice system idle iowait irq softirq steal
  for (int field = 0; field < kFields; ++field) {
    std::uint64_t count = 0;
    if (!(stat >> count)) break;
    ticks.all += count;
    if (field == kSteal) ticks.steal = count;
  }
  return ticks;
}

void LoadWatch::look() {
  ready_ += others_ready();
  ++looks_;
  arithmetic_ns_.push_back(arithmetic_ns());
}

MachineLoad LoadWatch::load() const {
  MachineLoad load;
  const CpuTicks now = cpu_ticks();
  if (now.all > start_.all)
    load.steal = static_cast<double>(now.steal - start_.steal) / static_cast<double>(now.all - start_.all);
  if (looks_ > 0) load.run_queue = ready_ / looks_;
  std::vector<double> sorted = arithmetic_ns_;
  std::ranges::sort(sorted);
  if (sorted.size() >= 4)
    load.calibration =
        (sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]) / sorted[sorted.size() / 2];
  return load;
}

}  // namespace kforge
