// Rules for profiles of accelerators (ncu, nsys, rocprof, KForge's emulator): utilisation in percent of the
// device's peak, and how the lanes of a warp work together.
#include <fmt/core.h>

#include <algorithm>

#include "analyse/rules.h"

namespace kforge {
namespace {

std::optional<Advice> device_memory(const Known& known) {
  auto memory = known.fact("device_memory_throughput"), compute = known.fact("device_compute_throughput");
  if (!memory || *memory < 60 || *memory < compute.value_or(0)) return std::nullopt;
  return Advice{.bottleneck = "device memory bandwidth",
                .evidence = fmt::format("memory at {:.0f} % of its peak, arithmetic at {:.0f} %", *memory,
                                        compute.value_or(0)),
                .change =
                    "Move fewer bytes: fuse with the kernels before and after, keep tiles in shared memory "
                    "or registers for reuse, use wider loads; nothing else will help "
                    "while the memory is saturated.",
                .expected_gain = *memory > 85 ? 1.2 : 1.4,
                .confidence = 0.6,
                .tag = "fuse"};
}

std::optional<Advice> device_compute(const Known& known) {
  auto memory = known.fact("device_memory_throughput"), compute = known.fact("device_compute_throughput");
  if (!compute || *compute < 60 || *compute < memory.value_or(0)) return std::nullopt;
  return Advice{.bottleneck = "arithmetic units",
                .evidence = fmt::format("arithmetic at {:.0f} % of its peak, memory at {:.0f} %", *compute,
                                        memory.value_or(0)),
                .change =
                    "Use matrix units where the policy allows their precision, take invariant work out of "
                    "the inner loop, replace divisions and transcendental calls.",
                .expected_gain = 1.3,
                .confidence = 0.45,
                .tag = "precision"};
}

std::optional<Advice> device_latency(const Known& known) {
  auto memory = known.fact("device_memory_throughput"), compute = known.fact("device_compute_throughput"),
       occupancy = known.fact("device_occupancy");
  if (!memory || !compute || *memory >= 60 || *compute >= 60) return std::nullopt;
  bool low = occupancy && *occupancy < 40;
  double registers = known.fact_or("device_registers", 0), shared = known.fact_or("device_shared_bytes", 0);
  return Advice{.bottleneck = low ? "too few threads in flight" : "latency: the device waits for results",
                .evidence = fmt::format(
                    "memory {:.0f} %, arithmetic {:.0f} % of peak{}{}{}", *memory, *compute,
                    occupancy ? fmt::format(", occupancy {:.0f} %", *occupancy) : "",
                    registers > 0 ? fmt::format(", {:.0f} registers per thread", registers) : "",
                    shared > 0 ? fmt::format(", {:.0f} bytes of shared memory per block", shared) : ""),
                .change = low ? "Raise occupancy: more blocks than multiprocessors (split the reduction or "
                                "the longest dimension), fewer registers or less shared memory per block."
                              : "Give each thread more independent work: several outputs per thread, loads "
                                "issued before they are needed (double buffering), unrolled inner loop.",
                .expected_gain = std::clamp(60 / std::max(*memory, *compute), 1.2, 3.0),
                .confidence = 0.55,
                .tag = low ? "parallelize" : "unroll"};
}

std::optional<Advice> device_launches(const Known& known) {
  auto launches = known.fact("device_launches"), mean_us = known.fact("device_kernel_us");
  if (!launches || !mean_us || *launches < 3 || *mean_us > 10) return std::nullopt;
  return Advice{.bottleneck = "launch overhead",
                .evidence = fmt::format("{:.0f} launches of {:.3g} us on average", *launches, *mean_us),
                .change = "Fuse the small kernels into one, or give each launch more of the work.",
                .expected_gain = std::clamp(1 + 5 / std::max(*mean_us, 1.0), 1.2, 3.0),
                .confidence = 0.6,
                .tag = "overhead"};
}

std::optional<Advice> device_copies(const Known& known) {
  auto share = known.fact("device_copy_share");
  if (!share || *share < 20) return std::nullopt;
  return Advice{.bottleneck = "copies between host and device",
                .evidence = fmt::format("{:.0f} % of device time are memory copies", *share),
                .change = "Keep data on the device between kernels, and do not copy what is not used.",
                .expected_gain = amdahl(*share / 100, 10),
                .confidence = 0.6,
                .tag = "overhead"};
}

std::optional<Advice> one_kernel(const Known& known) {
  auto share = known.fact("device_top_kernel_share");
  if (!share || *share < 50 || known.fact("device_memory_throughput")) return std::nullopt;
  return Advice{.bottleneck = "one kernel takes most of the time",
                .evidence = fmt::format("{:.0f} % of kernel time is in one kernel", *share),
                .change =
                    "Work on that kernel alone, and take a profile with its counters (memory and arithmetic "
                    "throughput, occupancy) to see what limits it.",
                .expected_gain = amdahl(*share / 100, 1.5),
                .confidence = 0.3,
                .tag = "tile"};
}

std::optional<Advice> bank_conflicts(const Known& known) {
  auto conflicts = known.fact("device_bank_conflicts");
  // The emulator knows how much of the time that is; profilers do not say.
  const double share = known.fact_or("device_shared_throughput", 50);
  if (!conflicts || *conflicts < 1.5 || share < 10) return std::nullopt;
  return Advice{.bottleneck = "bank conflicts in shared memory",
                .evidence = fmt::format("{:.3g} passes per shared-memory access", *conflicts),
                .change =
                    "Pad the shared tile by one element per row, or permute its columns, so that the threads "
                    "of a warp hit different banks.",
                .expected_gain = std::clamp(amdahl(share / 100, *conflicts), 1.05, 2.0),
                .confidence = 0.55,
                .tag = "pack"};
}

// How much of what a request moves was asked for.
std::optional<Advice> coalescing(const Known& known) {
  auto use = known.fact("device_sector_use"), sectors = known.fact("device_sectors_per_request");
  if (!use || !sectors || *use >= 60) return std::nullopt;
  const double share =
      std::max(known.fact_or("device_l1_throughput", 0), known.fact_or("device_memory_throughput", 0));
  return Advice{
      .bottleneck = "accesses that are not coalesced",
      .evidence = fmt::format(
          "{:.3g} sectors of 32 bytes for each request of a warp, of which {:.0f} % is used", *sectors, *use),
      .change =
          "Let neighbouring threads touch neighbouring elements: index by the thread along the dimension "
          "that "
          "lies together in memory, or bring a tile into shared memory by rows and read it by columns there.",
      .expected_gain = std::clamp(amdahl(share / 100, 100 / std::max(*use, 5.0)), 1.1, 4.0),
      .confidence = 0.65,
      .tag = "tile"};
}

std::optional<Advice> divergence(const Known& known) {
  auto lanes = known.fact("device_active_lanes");
  if (!lanes || *lanes >= 75) return std::nullopt;
  const double compute = known.fact_or("device_compute_throughput", 50);
  return Advice{
      .bottleneck = "lanes that sit out",
      .evidence = fmt::format("instructions are issued for {:.0f} % of the lanes on average", *lanes),
      .change =
          "Give the lanes of a warp the same way to go: branch by warp or block and not by thread, give "
          "loops the "
          "same number of rounds in all lanes, and choose blocks that are a multiple of 32 and no larger "
          "than "
          "the work of a row.",
      .expected_gain = std::clamp(amdahl(compute / 100, 100 / *lanes), 1.05, 2.5),
      .confidence = 0.5,
      .tag = "parallelize"};
}

std::optional<Advice> low_occupancy(const Known& known) {
  auto occupancy = known.fact("device_occupancy"), latency = known.fact("device_latency_share");
  if (!occupancy || !latency || *occupancy >= 50 || *latency < 40) return std::nullopt;
  const double registers = known.fact_or("device_registers", 0),
               shared = known.fact_or("device_shared_bytes", 0);
  return Advice{
      .bottleneck = "too few threads in flight",
      .evidence = fmt::format(
          "occupancy {:.0f} %, with {:.0f} registers in a thread and {:.0f} bytes of shared memory in a "
          "block of {:.0f}; {:.0f} % of the time is waiting",
          *occupancy, registers, shared, known.fact_or("device_block_threads", 0), *latency),
      .change =
          "Let a unit hold more blocks: less shared memory or fewer registers in each, or blocks of another "
          "size.",
      .expected_gain = std::clamp(50 / std::max(*occupancy, 5.0), 1.1, 3.0),
      .confidence = 0.5,
      .tag = "parallelize"};
}

std::optional<Advice> device_spills(const Known& known) {
  auto bytes = known.fact("device_spill_bytes");
  if (!bytes || *bytes <= 0) return std::nullopt;
  return Advice{.bottleneck = "registers are spilled to memory",
                .evidence = fmt::format("{:.0f} bytes of spill stores and loads in a thread", *bytes),
                .change = "Hold less in a thread: a smaller register tile, or less unrolling.",
                .expected_gain = 1.3,
                .confidence = 0.55,
                .tag = "tile"};
}

std::optional<Advice> device_barriers(const Known& known) {
  auto count = known.fact("device_barriers"), latency = known.fact("device_latency_share");
  if (!count || !latency || *count < 6 || *latency < 40) return std::nullopt;
  return Advice{.bottleneck = "barriers",
                .evidence = fmt::format("{:.3g} barriers in a block, {:.0f} % of the time is waiting", *count,
                                        *latency),
                .change =
                    "Meet less often: reduce within warps by shuffles and only then through shared memory, "
                    "load two tiles "
                    "ahead, make tiles deeper, or use smaller blocks.",
                .expected_gain = 1.15,
                .confidence = 0.4,
                .tag = "tile"};
}

std::optional<Advice> low_ipc(const Known& known) {
  auto ipc = known.fact("ipc"), misses = known.fact("cache_miss_rate");
  if (!ipc || *ipc > 1) return std::nullopt;
  bool memory = misses && *misses > 20;
  return Advice{
      .bottleneck = memory ? "memory latency" : "latency: few instructions complete per cycle",
      .evidence = fmt::format("{:.2f} instructions per cycle{}", *ipc,
                              misses ? fmt::format(", {:.0f} % of cache references miss", *misses) : ""),
      .change = memory ? "Block the loops so that data is reused from the caches, and read memory in order."
                       : "Break dependent chains: several independent accumulators, unrolled loops.",
      .expected_gain = 1.4,
      .confidence = 0.45,
      .tag = memory ? "tile" : "unroll"};
}

}  // namespace

std::vector<Rule> device_rules() {
  return {device_memory, device_compute,  device_latency, device_launches, device_copies,
          one_kernel,    bank_conflicts,  coalescing,     divergence,      low_occupancy,
          device_spills, device_barriers, low_ipc};
}

}  // namespace kforge
