// Measures what the machine reaches with all threads: a second or two in all, once a week.
//
// Every figure is the second best of several short bursts after 20 ms of spinning. Not the median: the peak
// is what the hardware can do, a busy neighbour can only lower a burst, and a figure that is too low would
// make the floor gate doubt an honest kernel. Not the best: one burst may be timed wrongly. Where others had
// the processors during nearly all bursts, there are more of them; where that does not help, the record says
// so and is believed for minutes only.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "machine/amx.h"
#include "machine/machine.h"
#include "machine/peak_loops.h"
#include "machine/pinned_threads.h"
#include "machine/records.h"
#include "machine/spin.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kBursts = 15, kUndisturbedBursts = 4;
constexpr double kMostSeconds = 1.5;  // for one figure, beyond its first bursts
constexpr auto kWarmUp = std::chrono::milliseconds(20);
constexpr const char* kLargePages = "memory in large pages";
constexpr double kBurstSeconds =
    0.002;  // shorter than a scheduler's slice: some bursts run undisturbed on a busy machine
constexpr auto kValidFor = std::chrono::hours(24 * 7);
constexpr auto kDisturbedValidFor = std::chrono::minutes(10);

// The cores of a measurement and their threads.
struct Team {
  explicit Team(std::vector<int> on) : cpus(std::move(on)), threads(cpus) {
    // Whoever may goes first for the few milliseconds of a burst; others lose nothing by asking.
    threads.run([](int) { ::setpriority(PRIO_PROCESS, 0, -20); });
  }
  std::vector<int> cpus;
  PinnedThreads threads;
  bool disturbed = false;  // a figure had to be taken from bursts that others interrupted
};

constexpr double kDisturbedShare = 0.2;  // of a burst; threads of equal work end a little apart

double thread_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Burst {
  double rate = 0;
  bool disturbed = false;  // the threads did not all have their processors all the time
};

// One burst: every thread does work(i), which returns what it did (flops, bytes). The rate counts from the
// moment all threads have arrived to the end of the last one.
Burst burst_of(Team& team, const std::function<double(int)>& work) {
  int size = team.threads.size();
  std::atomic<int> arrived = 0;
  std::vector<double> done(static_cast<std::size_t>(size));
  std::vector<Clock::time_point> starts(done.size()), ends(done.size());
  std::vector<double> own(done.size());  // processor time
  team.threads.run([&](int i) {
    auto me = static_cast<std::size_t>(i);
    arrived.fetch_add(1);
    while (arrived.load() < size) __builtin_ia32_pause();
    const double before = thread_cpu_seconds();
    starts[me] = Clock::now();
    done[me] = work(i);
    ends[me] = Clock::now();
    own[me] = thread_cpu_seconds() - before;
  });
  double total = 0;
  for (double part : done) total += part;
  const double span =
      std::chrono::duration<double>(*std::ranges::max_element(ends) - *std::ranges::min_element(starts))
          .count();
  // The one that was ready first counts from its own start: threads that ran one after the other show
  // nothing.
  bool disturbed = false;
  for (std::size_t i = 0; i < done.size(); ++i) disturbed |= span - own[i] > kDisturbedShare * span;
  return {total / std::max(1e-9, span), disturbed};
}

double second_best_rate(Team& team, const std::function<double(int)>& work) {
  spin_cores(team.cpus, kWarmUp, 0);
  std::vector<double> rates;
  int undisturbed = 0;
  const auto start = Clock::now();
  auto worth_more = [&] { return undisturbed < kUndisturbedBursts && seconds_since(start) < kMostSeconds; };
  for (int i = 0; i < kBursts || worth_more(); ++i) {
    const Burst burst = burst_of(team, work);
    rates.push_back(burst.rate);
    undisturbed += !burst.disturbed;
    // Who has slept is let in sooner than who has just run.
    if (burst.disturbed) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  if (undisturbed < 2) team.disturbed = true;
  std::ranges::nth_element(rates, rates.begin() + 1, std::greater{});
  return rates[1];
}

// How often `once` fits into a burst, found by doubling on this thread, by its own processor time: on a busy
// machine the clock would say that one time is long enough.
template <class Once>
long repetitions(const Once& once) {
  for (long count = 1;; count *= 2) {
    const double start = thread_cpu_seconds();
    once(count);
    const double seconds = thread_cpu_seconds() - start;
    if (seconds > kBurstSeconds / 4 || count > (1l << 40))
      return std::max(
          1l, static_cast<long>(static_cast<double>(count) * kBurstSeconds / std::max(seconds, 1e-9)));
  }
}

double flop_rate(Team& team, double (*loop)(long)) {
  long rounds = repetitions([&](long n) { loop(n); });
  return second_best_rate(team, [&](int) { return loop(rounds); });
}

// On random data: with zeros the unit is about a fifth faster.
double amx_rate(Team& team) {
  if (!amx::request_permission()) return 0;
  alignas(64) static std::uint16_t tiles[4 * 16 * 32];
  std::uint32_t state = 1;
  for (std::uint16_t& x : tiles) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<std::uint16_t>((state >> 31) << 15 | (126 + (state >> 30 & 1)) << 7 |
                                   (state >> 20 & 127));
  }
  auto work = [&](long rounds) {
    alignas(64) float c[16 * 16];
    amx::configure_full_tiles();
    amx::multiply_rounds(tiles, tiles + 2 * 16 * 32, rounds, c);
    amx::release_tiles();
    return amx::kFlopsPerRound * static_cast<double>(rounds);
  };
  long rounds = repetitions(work);
  return second_best_rate(team, [&](int) { return work(rounds); });
}

// Memory of one thread, first touched by that thread.
class Buffer {
 public:
  // kShared: as tensors lie, which several processes map; the system gives it its plain pages.
  enum class Pages { kLarge, kShared };

  Buffer(std::size_t bytes, Pages pages) : bytes_(bytes) {
    const int sharing = pages == Pages::kShared ? MAP_SHARED : MAP_PRIVATE;
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return;
    if (pages == Pages::kLarge) ::madvise(data, bytes, MADV_HUGEPAGE);
    data_ = static_cast<char*>(data);
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  ~Buffer() {
    if (data_) ::munmap(data_, bytes_);
  }
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct MemoryTeam {
  Team& team;
  MemoryLoops loops;
  std::vector<Buffer> buffers;
};

// Rates over a ring of `bytes` per thread; copying goes from one half to the other and counts both
// directions. A burst goes on where the one before ended: all of a large cache, or more than it holds, would
// take longer than a burst may, and what a busy machine leaves undisturbed is short.
Bandwidth measure_level(MemoryTeam& memory, std::string name, std::size_t bytes, bool beyond_caches) {
  constexpr std::size_t kMostAtOnce = 1 << 20;
  // Whole lines: a cache shared by three has an odd size, and the loops store aligned vectors.
  const std::size_t half = std::max<std::size_t>(bytes / 2 / 1024 * 1024, 1024);
  const std::size_t pieces = (half + kMostAtOnce - 1) / kMostAtOnce;
  const std::size_t piece = std::max<std::size_t>(half / pieces / 1024 * 1024, 1024);
  std::vector<std::size_t> next(memory.buffers.size());
  auto walk = [&](std::size_t thread, long steps, auto&& pass) {
    for (long n = 0; n < steps; ++n) {
      char* first = memory.buffers[thread].data() + next[thread] * piece;
      pass(first, first + half);
      next[thread] = (next[thread] + 1) % pieces;
    }
  };
  auto read = [&](char* first, char* second) {
    memory.loops.read(first, piece);
    memory.loops.read(second, piece);
  };
  const long steps = repetitions([&](long n) { walk(0, n, read); });
  auto rate = [&](auto&& pass) {
    return 1e-9 * second_best_rate(memory.team, [&](int i) {
             walk(static_cast<std::size_t>(i), steps, pass);
             return 2 * static_cast<double>(piece) * static_cast<double>(steps);
           });
  };
  Bandwidth result{std::move(name), 0, 0, 0};
  result.read_gb_s = rate(read);
  result.copy_gb_s = rate([&](char* first, char* second) { memory.loops.copy(first, second, piece); });
  if (beyond_caches)
    result.copy_gb_s =
        std::max(result.copy_gb_s,
                 rate([&](char* first, char* second) { memory.loops.copy_streaming(first, second, piece); }));
  return result;
}

// Bytes per thread for the memory row: four times the last cache, but never a large part of what is free.
std::size_t memory_bytes(const Machine& machine, std::size_t threads) {
  auto free_bytes = static_cast<std::size_t>(std::max(1l, ::sysconf(_SC_AVPHYS_PAGES))) * machine.page_bytes;
  std::size_t wanted = std::clamp<std::size_t>(4 * machine.last_level_bytes(), 128 << 20, 1 << 30);
  return std::min(wanted, free_bytes / 4) / threads / 4096 * 4096;
}

std::vector<Bandwidth> measure_bandwidths(const Machine& machine, Team& team) {
  auto threads = static_cast<std::size_t>(team.threads.size());
  std::size_t memory_each = memory_bytes(machine, threads);
  MemoryTeam memory{team, choose_memory_loops(machine.features), {}};
  auto renew = [&](Buffer::Pages pages) {
    memory.buffers.clear();
    for (std::size_t i = 0; i < threads; ++i) memory.buffers.emplace_back(memory_each, pages);
    for (const Buffer& buffer : memory.buffers)
      if (!buffer.data() || memory_each < 4096) return false;
    team.threads.run([&](int i) {
      char* data = memory.buffers[static_cast<std::size_t>(i)].data();
      for (std::size_t at = 0; at < memory_each; at += 4096) data[at] = 1;
    });
    return true;
  };
  if (!renew(Buffer::Pages::kLarge)) return {};

  std::vector<Bandwidth> rows;
  for (const CacheLevel& cache : machine.caches) {
    auto sharers = std::clamp<std::size_t>(static_cast<std::size_t>(cache.shared_by), 1, threads);
    std::size_t each = cache.bytes / sharers;
    if (each / 2 > memory_each) continue;
    Bandwidth row = measure_level(memory, fmt::format("L{}", cache.level), each / 2, false);
    row.bytes = each * threads;
    rows.push_back(std::move(row));
  }
  rows.push_back(measure_level(memory, kLargePages, memory_each, true));
  if (!renew(Buffer::Pages::kShared)) return {};
  rows.push_back(measure_level(memory, "memory", memory_each, true));
  return rows;
}

bool fresh(const fs::path& record, bool disturbed) {
  std::error_code error;
  auto written = fs::last_write_time(record, error);
  auto now = fs::file_time_type::clock::now();
  const std::chrono::minutes valid_for = disturbed ? kDisturbedValidFor : std::chrono::minutes(kValidFor);
  // A record from the future (the clock was set back) is not trusted either.
  return !error && written <= now + std::chrono::hours(1) && now - written < valid_for;
}

// Whatever else the machine does makes a peak look lower, never higher; a record that is far above is no
// record of this machine.
double higher_of(double now, double before) {
  constexpr double kBelievable = 4;
  return before > now && before < kBelievable * now ? before : now;
}

Peaks higher_of(Peaks peaks, const Peaks& before) {
  peaks.disturbed = peaks.disturbed && before.disturbed;
  peaks.fp32_gflops = higher_of(peaks.fp32_gflops, before.fp32_gflops);
  peaks.fp64_gflops = higher_of(peaks.fp64_gflops, before.fp64_gflops);
  peaks.amx_bf16_gflops = higher_of(peaks.amx_bf16_gflops, before.amx_bf16_gflops);
  for (Bandwidth& row : peaks.bandwidths)
    for (const Bandwidth& old : before.bandwidths) {
      if (old.level != row.level) continue;
      row.read_gb_s = higher_of(row.read_gb_s, old.read_gb_s);
      row.copy_gb_s = higher_of(row.copy_gb_s, old.copy_gb_s);
    }
  return peaks;
}

}  // namespace

Result<Peaks> machine_peaks(const Machine& machine, int threads, bool refresh) {
  threads = std::clamp(threads, 1, std::max(1, machine.threads()));
  KF_TRY(fs::path home, kforge_home());
  fs::path record = home / "machine" / fmt::format("peaks-{}-{}.json", machine.id(), threads);
  const auto known = read_peaks_record(record);
  if (!refresh && known && fresh(record, known->disturbed)) return *known;

  Team team(std::vector<int>(machine.cpus.begin(), machine.cpus.begin() + threads));
  Peaks peaks;
  peaks.threads = threads;
  FlopLoop loop = choose_flop_loop(machine.features);
  peaks.fp32_gflops = 1e-9 * flop_rate(team, loop.fp32);
  peaks.fp64_gflops = 1e-9 * flop_rate(team, loop.fp64);
  if (machine.features.contains("amx")) peaks.amx_bf16_gflops = 1e-9 * amx_rate(team);
  peaks.bandwidths = measure_bandwidths(machine, team);
  if (peaks.bandwidths.empty())
    return fail_with_remedy("free some memory and run the command again",
                            "not enough memory to measure its bandwidth");
  peaks.disturbed = team.disturbed;
  if (known && (refresh || known->disturbed)) peaks = higher_of(std::move(peaks), *known);
  peaks.measured_at = utc_now();
  write_peaks_record(record, peaks);
  return peaks;
}

void give_peaks(const std::map<std::string, double>& given, Peaks& peaks) {
  for (const auto& [name, value] : given) {
    if (name == "fp32_gflops") peaks.fp32_gflops = value;
    if (name == "fp64_gflops") peaks.fp64_gflops = value;
    if (name == "amx_bf16_gflops") peaks.amx_bf16_gflops = value;
    if (name != "memory_gb_s") continue;
    std::erase_if(peaks.bandwidths, [](const Bandwidth& b) { return b.level == "memory"; });
    peaks.bandwidths.push_back({"memory", 0, value, value});
  }
}

}  // namespace kforge
