#include "profile/device/simt_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "profile/device/count_run.h"

namespace kforge {
namespace {

constexpr double kSector = 32;
// Instructions and loads of one thread that are under way together: compilers order them so that about this
// many do not wait for each other.
constexpr double kInstructionsTogether = 2, kLoadsTogether = 4;
// Limits overlap, yet not wholly: between their maximum and their sum, near the maximum.
constexpr double kNorm = 4;
// Where no assembler says: what a small kernel has, and a register for each word of the frame it needs here.
constexpr double kFewRegisters = 24, kMostRegisters = 255;

double product(const std::array<std::uint32_t, 3>& of) { return double(of[0]) * of[1] * of[2]; }

// What all requests of a launch do together.
struct Requests {
  double reads = 0, writes = 0, read_sectors = 0, write_sectors = 0;  // global memory
  double wanted = 0;                                                  // bytes of all lanes
  double shared = 0, shared_reads = 0, passes = 0;
};

Requests requests_of(const emulate::Report& counts, std::size_t launch, double times) {
  Requests all;
  for (const emulate::Traffic& row : counts.traffic) {
    if (row.launch != launch) continue;
    const double requests = row.requests / times, units = requests * row.units;
    if (!row.shared) all.wanted += std::min(requests * row.lanes * row.bytes, kSector * units);
    if (row.shared) {
      all.shared += requests;
      all.passes += units;
      if (!row.write || row.atomic) all.shared_reads += requests;
    } else if (row.write && !row.atomic) {
      all.writes += requests;
      all.write_sectors += units;
    } else {
      all.reads += requests;
      all.read_sectors += units;
    }
  }
  return all;
}

void add_code(const emulate::LaunchCounts& counts, const InstructionMix& mix, LaunchFigures& out,
              double& frame) {
  double lanes = 0, full = 0;
  for (const emulate::LaunchCounts::Code& code : counts.code) {
    const auto found = mix.find(code.offset);
    if (found == mix.end()) continue;
    const StretchMix& one = found->second;
    out.instructions += code.issues * one.instructions / counts.times;
    out.flops += code.lanes * one.flops / counts.times;
    out.special += code.lanes * one.special / counts.times;
    lanes += code.lanes * one.instructions;
    full += kWarpLanes * code.issues * one.instructions;
    frame = std::max(frame, one.frame_bytes);
  }
  if (full > 0) out.active_lanes = lanes / full;
}

// What passes the first cache, what passes the second.
void add_bytes(const emulate::LaunchCounts& counts, const Requests& requests, const Chip& chip,
               LaunchFigures& out) {
  double distinct = 0, footprint = 0;
  for (const auto& memory : counts.memory) {
    distinct += memory.read / counts.times;
    footprint += std::min((memory.read + memory.written) / counts.times, static_cast<double>(memory.bytes));
  }
  const double read = kSector * requests.read_sectors, again = std::max(0.0, read - distinct);
  const double room = 1024 * chip.l1_kb / std::max(out.occupancy.blocks, 1.0);
  const double held = distinct > 0 ? std::min(1.0, room / (distinct / out.blocks)) : 1;
  out.l1_bytes = read + kSector * requests.write_sectors;
  const double read_l2 = std::min(read, distinct) + again * (1 - held);
  out.l2_bytes = read_l2 + kSector * requests.write_sectors;
  const double kept = footprint > 0 ? std::min(1.0, 1e6 * chip.l2_mb / footprint) : 1;
  for (const auto& memory : counts.memory)
    for (const double bytes : {memory.read / counts.times, memory.written / counts.times}) {
      const double once = std::min(bytes, static_cast<double>(memory.bytes));
      out.memory_bytes += once + (bytes - once) * (1 - kept);
    }
}

void add_limits(const Requests& requests, const Chip& chip, LaunchFigures& out) {
  // The busiest unit decides where units share blocks unevenly.
  const double uneven = std::ceil(out.blocks / chip.units) * chip.units / out.blocks;
  const double per_unit = uneven / (chip.units * chip.clock_ghz);  // ns for one clock's work
  const double issued = out.instructions + requests.reads + requests.writes + requests.shared +
                        out.meetings * out.blocks * std::ceil(out.threads / kWarpLanes);
  out.issue_ns = issued / chip.issue_per_clock * per_unit;
  out.special_ns = out.special / out.active_lanes / chip.special_per_clock * per_unit;
  out.shared_ns = requests.passes / chip.shared_passes_per_clock * per_unit;
  out.l1_ns = out.l1_bytes / kSector / chip.sectors_per_clock * per_unit;
  out.l2_ns = out.l2_bytes / chip.l2_gb_s;
  out.memory_ns = out.memory_bytes / chip.memory_gb_s;

  // The way of one warp from its first to its last instruction, in clocks, as often as units are filled anew.
  const double warps = out.blocks * std::ceil(out.threads / kWarpLanes);
  const double missed = requests.read_sectors > 0
                            ? std::min(1.0, std::max(0.0, out.l2_bytes / kSector - requests.write_sectors) /
                                                requests.read_sectors)
                            : 0;
  const double load = chip.l1_latency_clocks + missed * chip.memory_latency_ns * chip.clock_ghz;
  const double way = out.instructions / warps * chip.arithmetic_latency_clocks / kInstructionsTogether +
                     requests.reads / warps * load / kLoadsTogether +
                     requests.shared_reads / warps * chip.shared_latency_clocks / kLoadsTogether +
                     out.meetings * chip.shared_latency_clocks + out.barriers * chip.barrier_clocks;
  out.waves = std::ceil(out.blocks / (chip.units * out.occupancy.blocks));
  out.latency_ns = out.waves * way / chip.clock_ghz;
}

void add_up(const Chip& chip, LaunchFigures& out) {
  const std::pair<std::string_view, double> limits[] = {
      {"instructions", out.issue_ns}, {"special functions", out.special_ns}, {"shared memory", out.shared_ns},
      {"first cache", out.l1_ns},     {"second cache", out.l2_ns},           {"memory", out.memory_ns},
      {"latency", out.latency_ns}};
  double sum = 0, largest = 0;
  for (const auto& [name, ns] : limits) {
    sum += std::pow(ns, kNorm);
    if (ns > largest) largest = ns, out.bound = name;
  }
  out.ns = std::pow(sum, 1 / kNorm) + 1e3 * chip.launch_us;
  if (largest < 1e3 * chip.launch_us) out.bound = "launch";
}

Result<LaunchFigures> model_launch(const emulate::Report& counts, std::size_t index,
                                   const InstructionMix& mix, const PtxasKernels& registers,
                                   const Chip& chip) {
  const emulate::LaunchCounts& launch = counts.launches[index];
  LaunchFigures out;
  out.kernel = launch.kernel;
  out.times = std::max(1.0, launch.times);
  if (launch.kernel.empty()) {
    out.memory_bytes = static_cast<double>(launch.bytes);
    out.memory_ns = out.memory_bytes / chip.memory_gb_s;
    add_up(chip, out);
    return out;
  }
  out.blocks = std::max(1.0, product(launch.grid));
  out.threads = std::max(1.0, product(launch.block));
  out.shared_bytes = static_cast<double>(launch.shared_bytes);
  double frame = 0;
  add_code(launch, mix, out, frame);
  out.registers = std::clamp(kFewRegisters + frame / 4, kFewRegisters, kMostRegisters);
  if (const auto known = registers.find(launch.kernel);
      known != registers.end() && known->second.registers > 0) {
    out.registers = known->second.registers;
    out.registers_estimated = false;
  }
  out.occupancy = occupancy_of({out.threads, out.registers, out.shared_bytes}, chip);
  if (out.occupancy.blocks < 1)
    return fail(
        "a block of kernel {} does not fit on {}: {} threads with {:.0f} registers, {} bytes of shared "
        "memory",
        launch.kernel, chip.name, out.threads, out.registers, out.shared_bytes);
  const Requests requests = requests_of(counts, index, out.times);
  out.requests = requests.reads + requests.writes;
  out.shared_requests = requests.shared;
  if (out.requests > 0)
    out.sectors_per_request = (requests.read_sectors + requests.write_sectors) / out.requests,
    out.sector_use = requests.wanted / (kSector * (requests.read_sectors + requests.write_sectors));
  if (requests.shared > 0) out.bank_passes = requests.passes / requests.shared;
  out.barriers = launch.barriers / out.times / out.blocks;
  if (launch.warps > 0) out.meetings = launch.meetings / launch.warps;
  add_bytes(launch, requests, chip, out);
  add_limits(requests, chip, out);
  add_up(chip, out);
  return out;
}

}  // namespace

Result<std::vector<LaunchFigures>> model_launches(const emulate::Report& counts, const InstructionMix& mix,
                                                  const PtxasKernels& registers, const Chip& chip) {
  std::vector<LaunchFigures> all;
  for (std::size_t i = 0; i < counts.launches.size(); ++i) {
    KF_TRY(LaunchFigures one, model_launch(counts, i, mix, registers, chip));
    all.push_back(std::move(one));
  }
  if (all.empty()) return fail("the program launches nothing");
  return all;
}

double modelled_ns(const std::vector<LaunchFigures>& launches) {
  double ns = 0;
  for (const LaunchFigures& launch : launches) ns += launch.times * launch.ns;
  return ns;
}

Result<SimtResult> simt_model(const ProfileInput& input, const Chip& chip) {
  KF_TRY(DeviceCounts counts, count_device(input));
  KF_TRY(InstructionMix mix, instruction_mix(counts.library, input.tier));
  SimtResult result{
      {}, std::move(counts.report), counts.partial, "the chip has no 'architecture' to compile for"};
  PtxasKernels registers;
  if (!chip.architecture.empty()) {
    auto found = ptxas_facts(*input.candidate, *input.task, chip.architecture, input.tier);
    result.registers_absent = found ? "" : found.error().message;
    if (found) registers = std::move(*found);
  }
  KF_TRY(result.launches, model_launches(result.counts, mix, registers, chip));
  return result;
}

Result<ModelledTime> simt_time(const ProfileInput& input, const Chip& chip) {
  KF_TRY(SimtResult result, simt_model(input, chip));
  ModelledTime time{modelled_ns(result.launches), {}};
  for (const LaunchFigures& one : result.launches) {
    const std::string source = one.kernel.empty() ? "fill or copy" : one.kernel;
    auto add = [&](std::string_view name, double value, std::string_view unit) {
      time.inputs.push_back({std::string(name), value, std::string(unit), source});
    };
    add("modelled", one.ns / 1e3, "us");
    add("launches", one.times, "");
    if (one.kernel.empty()) {
      add("memory", one.memory_bytes, "byte");
      continue;
    }
    add("blocks", one.blocks, "");
    add("threads", one.threads, "");
    add(one.registers_estimated ? "registers (estimated)" : "registers (ptxas)", one.registers, "");
    add("shared memory of a block", one.shared_bytes, "byte");
    add(fmt::format("occupancy ({})", one.occupancy.limit), 100 * one.occupancy.fraction, "%");
    add("sectors per request", one.sectors_per_request, "");
    add("bank passes per request", one.bank_passes, "");
    add("active lanes", 100 * one.active_lanes, "%");
    add("barriers of a block", one.barriers, "");
    add("warp functions of a warp", one.meetings, "");
    add("instructions of warps", one.instructions, "");
    add("flops", one.flops, "");
    add("first cache", one.l1_bytes, "byte");
    add("second cache", one.l2_bytes, "byte");
    add("memory", one.memory_bytes, "byte");
    add(fmt::format("limit: {}", one.bound),
        std::max({one.issue_ns, one.special_ns, one.shared_ns, one.l1_ns, one.l2_ns, one.memory_ns,
                  one.latency_ns}) /
            1e3,
        "us");
  }
  time.inputs.push_back(
      {result.partial ? "blocks that were looked at ran alone" : "all blocks ran", 1, "", "emulator"});
  return time;
}

}  // namespace kforge
