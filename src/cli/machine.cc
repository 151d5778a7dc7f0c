// kforge machine: what this machine executes, its caches, and what it reaches when measured.
#include "machine/machine.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "report/progress.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct MachineArguments {
  int threads = 0;
  bool refresh = false, json = false;
};

Json to_json(const Machine& machine, const Peaks& peaks) {
  Json caches = Json::array(), bandwidths = Json::array();
  for (const CacheLevel& cache : machine.caches)
    caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  for (const Bandwidth& b : peaks.bandwidths)
    bandwidths.push_back(
        {{"level", b.level}, {"bytes", b.bytes}, {"read_gb_s", b.read_gb_s}, {"copy_gb_s", b.copy_gb_s}});
  return {{"schema", "kforge.machine/1"},
          {"id", machine.id()},
          {"cpu", machine.cpu_model},
          {"kernel", machine.kernel},
          {"features", machine.features},
          {"cpus", machine.cpus},
          {"virtualised", machine.virtualised},
          {"page_bytes", machine.page_bytes},
          {"caches", caches},
          {"peaks",
           {{"threads", peaks.threads},
            {"measured_at", peaks.measured_at},
            {"disturbed", peaks.disturbed},
            {"fp32_gflops", peaks.fp32_gflops},
            {"fp64_gflops", peaks.fp64_gflops},
            {"amx_bf16_gflops", peaks.amx_bf16_gflops},
            {"bandwidths", bandwidths}}}};
}

std::string cache_name(const CacheLevel& cache) { return fmt::format("L{}", cache.level); }

std::string to_terminal(const Machine& machine, const Peaks& peaks) {
  std::string text = fmt::format("{}  ({}{})\n\n", machine.cpu_model, machine.id(),
                                 machine.virtualised ? ", virtual machine" : "");
  std::vector<std::string> caches;
  for (const CacheLevel& cache : machine.caches)
    caches.push_back(fmt::format("{} {} KiB{}", cache_name(cache), cache.bytes >> 10,
                                 cache.shared_by > 1 ? fmt::format(" shared by {}", cache.shared_by) : ""));
  auto row = [&](const char* label, const std::string& content) {
    bool first = true;
    for (const std::string& line : wrap(content, static_cast<std::size_t>(terminal_style().width) - 14)) {
      text += fmt::format("  {:<12}{}\n", first ? label : "", line);
      first = false;
    }
  };
  row("kernel", machine.kernel);
  row("cpus", fmt::format("{} allowed: {}", machine.cpus.size(), fmt::join(machine.cpus, " ")));
  row("executes", fmt::format("{}", fmt::join(machine.features, " ")));
  row("caches", fmt::format("{}", fmt::join(caches, ", ")));
  text += fmt::format("\n  measured with {} thread{}, {}\n", peaks.threads, peaks.threads == 1 ? "" : "s",
                      peaks.measured_at);
  if (peaks.disturbed)
    text += "  the machine was too busy to measure it well: these are least values, kept for ten minutes\n";
  row("fp32", fmt::format("{:.0f} GFLOP/s", peaks.fp32_gflops));
  row("fp64", fmt::format("{:.0f} GFLOP/s", peaks.fp64_gflops));
  if (peaks.amx_bf16_gflops > 0) row("AMX bf16", fmt::format("{:.0f} GFLOP/s", peaks.amx_bf16_gflops));
  for (const Bandwidth& b : peaks.bandwidths)
    row(b.level.c_str(), fmt::format("{:6.1f} GB/s read, {:6.1f} GB/s copy", b.read_gb_s, b.copy_gb_s));
  return text;
}

int run(const MachineArguments& arguments) {
  auto machine = describe_machine();
  if (!machine) return report_error(machine.error(), arguments.json);
  int threads = arguments.threads > 0 ? arguments.threads : machine->threads();
  if (threads > machine->threads())
    return report_error(
        {fmt::format("{} threads were asked for, and {} cpus are allowed", threads, machine->threads()), ""},
        arguments.json);
  clean_up_on_interrupt();
  auto progress = make_progress(arguments.json, 0.3);
  progress->stage("measuring peaks and bandwidths");
  auto peaks = machine_peaks(*machine, threads, arguments.refresh);
  progress->finish();
  if (!peaks) return report_error(peaks.error(), arguments.json);
  fmt::print("{}", arguments.json ? to_json(*machine, *peaks).dump(2) + "\n" : to_terminal(*machine, *peaks));
  return kExitPassed;
}

}  // namespace

void declare_machine(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<MachineArguments>();
  add_number(command, "--threads", arguments->threads, 0, 1024, "measure with this many; 0: all allowed");
  command.add_flag("--refresh", arguments->refresh, "measure again (about 2 s)");
  command.add_flag("--json", arguments->json, "as JSON");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge
