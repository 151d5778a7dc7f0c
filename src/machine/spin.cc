#include "machine/spin.h"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "machine/pinned_threads.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLine = 64;

// Memory of one helper, grown when more is asked for. Made and first touched by the helper itself, so that it
// lies in the memory next to its core.
class EvictionBuffer {
 public:
  EvictionBuffer() = default;
  EvictionBuffer(const EvictionBuffer&) = delete;
  EvictionBuffer& operator=(const EvictionBuffer&) = delete;
  ~EvictionBuffer() { release(); }

  void reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    release();
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return;  // then the core is only kept busy
    ::madvise(data, bytes, MADV_HUGEPAGE);
    data_ = static_cast<std::uint64_t*>(data);
    bytes_ = bytes;
  }
  // Reads and writes one word of every line in [from, to).
  void touch(std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; at += kLine) data_[at / sizeof *data_] += at + 1;
  }
  std::size_t bytes() const { return bytes_; }
  void release() {
    if (data_) ::munmap(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }

 private:
  std::uint64_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Some dependent arithmetic; its result is kept so that the compiler cannot drop it.
void burn() {
  std::uint64_t x = 88172645463325252u;
  for (int i = 0; i < 2000; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  asm volatile("" : : "r"(x));
}

void keep_busy(EvictionBuffer& buffer, Clock::time_point until, std::size_t evict_bytes) {
  constexpr std::size_t kPiece = 256 << 10;  // between two looks at the clock
  buffer.reserve(evict_bytes);
  std::size_t bytes = std::min(evict_bytes, buffer.bytes()), done = 0, at = 0;
  while (done < bytes || Clock::now() < until) {
    if (bytes == 0) {
      burn();
      continue;
    }
    std::size_t end = std::min(at + kPiece, bytes);
    buffer.touch(at, end);
    done += end - at;
    at = end == bytes ? 0 : end;
  }
}

// Helpers for one set of cores.
struct Helpers {
  explicit Helpers(const std::vector<int>& cpus) : threads(cpus), buffers(cpus.size()) {}
  PinnedThreads threads;
  std::vector<EvictionBuffer> buffers;
};

struct AllHelpers {
  std::mutex mutex;
  std::map<std::vector<int>, std::unique_ptr<Helpers>> of_cpus;
};

AllHelpers& all_helpers() {
  static AllHelpers all;
  return all;
}

}  // namespace

void spin_cores(const std::vector<int>& cpus, std::chrono::milliseconds duration, std::size_t evict_bytes) {
  AllHelpers& all = all_helpers();
  std::lock_guard lock(all.mutex);
  std::unique_ptr<Helpers>& helpers = all.of_cpus[cpus];
  if (!helpers) helpers = std::make_unique<Helpers>(cpus);
  Clock::time_point until = Clock::now() + duration;
  helpers->threads.run(
      [&](int i) { keep_busy(helpers->buffers[static_cast<std::size_t>(i)], until, evict_bytes); });
}

void release_eviction_memory() {
  AllHelpers& all = all_helpers();
  std::lock_guard lock(all.mutex);
  for (auto& [cpus, helpers] : all.of_cpus)
    for (EvictionBuffer& buffer : helpers->buffers) buffer.release();
}

std::size_t evict_bytes_per_core(const Machine& machine) {
  std::size_t share = 0;
  for (const CacheLevel& cache : machine.caches) {
    auto sharers = static_cast<std::size_t>(std::clamp(cache.shared_by, 1, std::max(1, machine.threads())));
    share += cache.bytes / sharers;
  }
  return std::max<std::size_t>(2 * share, 8 << 20);
}

std::uint64_t steal_ticks() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  std::uint64_t user, nice, system, idle, iowait, irq, softirq, steal = 0;
  if (stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) return steal;
  return 0;
}

}  // namespace kforge
