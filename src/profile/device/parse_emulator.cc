// Facts of emulated programs for the analysts: what the emulator counted, by kernel and by line, and what the
// model of the chip makes of it. No command of the platform's is run.
#include <fmt/core.h>

#include <algorithm>

#include "generate/quote.h"
#include "profile/device/simt_model.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kShownLines = 12;

// The kernel that takes most of the modelled time: the facts are its own.
const LaunchFigures* heaviest(const std::vector<LaunchFigures>& launches) {
  const LaunchFigures* best = nullptr;
  for (const LaunchFigures& one : launches)
    if (!one.kernel.empty() && (!best || one.times * one.ns > best->times * best->ns)) best = &one;
  return best;
}

std::string kernel_table(const std::vector<LaunchFigures>& launches) {
  std::string text =
      "kernel: launches x modelled us (limit) | block, registers, shared bytes, occupancy (limit) | "
      "sectors per request, bank passes, active lanes, barriers\n";
  for (const LaunchFigures& one : launches) {
    if (one.kernel.empty()) {
      text += fmt::format("fill or copy: {:.0f} x {:.3g} us\n", one.times, one.ns / 1e3);
      continue;
    }
    text += fmt::format(
        "{}: {:.0f} x {:.3g} us ({}) | {:.0f}, {:.0f}{}, {:.0f}, {:.0f} % ({}) | {:.3g}, {:.3g}, {:.0f} %, "
        "{:.3g}\n",
        single_line(one.kernel, 60), one.times, one.ns / 1e3, one.bound, one.threads, one.registers,
        one.registers_estimated ? " (estimated)" : "", one.shared_bytes, 100 * one.occupancy.fraction,
        one.occupancy.limit, one.sectors_per_request, one.bank_passes, 100 * one.active_lanes, one.barriers);
  }
  return text;
}

// The lines that cost most: sectors or passes beyond what the same bytes need.
std::string line_table(const emulate::Report& counts) {
  std::vector<const emulate::Traffic*> rows;
  for (const emulate::Traffic& row : counts.traffic)
    if (!row.file.empty()) rows.push_back(&row);
  std::ranges::sort(rows, std::greater(),
                    [](const emulate::Traffic* row) { return row->requests * row->units; });
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kShownLines); ++i) {
    const emulate::Traffic& row = *rows[i];
    text += fmt::format("{}:{} {} {}: {:.3g} requests of {} bytes by {:.3g} lanes, {:.3g} {} each\n",
                        single_line(row.file, 60), row.line,
                        row.atomic  ? "atomic"
                        : row.write ? "store"
                                    : "load",
                        row.shared ? "shared" : "global", row.requests, row.bytes, row.lanes, row.units,
                        row.shared ? "bank passes" : "sectors");
  }
  return text;
}

}  // namespace

bool parse_emulator(const Said& said, Findings& findings) {
  const ProfileInput& input = *findings.input;
  const auto& model = input.platform->model;
  auto absent = [&](std::string_view why) {
    findings.profile.absent.push_back(fmt::format("{}: {}", said.profiler, why));
    return false;
  };
  if (!input.task || !input.machine || !input.candidate) return absent("there is no program to count");
  if (!input.platform->emulates_device()) return absent("the device is not emulated");
  if (!model || !model->chip) return absent("the platform names no chip: [model.chip]");
  auto result = simt_model(input, *model->chip);
  if (!result) return absent(single_line(result.error().message, 200));
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  double launches = 0;
  for (const LaunchFigures& one : result->launches) launches += one.times;
  const double all = modelled_ns(result->launches);
  fact("device_modelled_us", all / 1e3, "us");
  fact("device_launches", launches, "");
  fact("device_kernel_us", all / launches / 1e3, "us");
  if (const LaunchFigures* one = heaviest(result->launches)) {
    const double ns = std::max(one->ns, 1.0);
    fact("device_top_kernel_share", 100 * one->times * one->ns / all, "%");
    fact("device_memory_throughput", 100 * std::max(one->memory_ns, one->l2_ns) / ns, "%");
    fact("device_compute_throughput", 100 * std::max(one->issue_ns, one->special_ns) / ns, "%");
    fact("device_occupancy", 100 * one->occupancy.fraction, "%");
    fact("device_registers", one->registers, "");
    fact("device_shared_bytes", one->shared_bytes, "byte");
    fact("device_block_threads", one->threads, "");
    fact("device_waves", one->waves, "");
    if (one->requests > 0) {
      fact("device_sectors_per_request", one->sectors_per_request, "");
      fact("device_sector_use", 100 * one->sector_use, "%");
    }
    if (one->shared_requests > 0) fact("device_bank_conflicts", one->bank_passes, "");
    fact("device_shared_throughput", 100 * one->shared_ns / ns, "%");
    fact("device_l1_throughput", 100 * one->l1_ns / ns, "%");
    fact("device_latency_share", 100 * one->latency_ns / ns, "%");
    fact("device_active_lanes", 100 * one->active_lanes, "%");
    fact("device_barriers", one->barriers, "");
  }
  findings.profile.texts.push_back({"kernels, as the model of " + model->chip->name + " sees them",
                                    kernel_table(result->launches), said.profiler});
  if (std::string lines = line_table(result->counts); !lines.empty())
    findings.profile.texts.push_back({"memory accesses by line", lines, said.profiler});
  return true;
}

}  // namespace kforge
