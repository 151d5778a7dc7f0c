// Tables of the accelerator vendors' profilers: Nsight Compute, Nsight Systems, rocprof.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "generate/quote.h"
#include "profile/csv.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kShownKernels = 8;

struct KernelTime {
  double ns = 0, calls = 0;
};

// Facts and a table from the time each kernel takes.
bool report_kernels(const Said& said, Findings& findings, const std::map<std::string, KernelTime>& kernels,
                    double copies_ns) {
  double all = 0, calls = 0, top = 0;
  std::vector<std::pair<std::string, KernelTime>> sorted(kernels.begin(), kernels.end());
  std::ranges::sort(sorted, std::greater(), [](const auto& row) { return row.second.ns; });
  std::string text;
  for (const auto& [name, time] : sorted) all += time.ns, calls += time.calls, top = std::max(top, time.ns);
  if (all <= 0)
    return findings.profile.absent.push_back(fmt::format("{}: no kernel in the table", said.profiler)), false;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShownKernels); ++i)
    text += fmt::format("{:5.1f} %  {:.4g} us in {:.0f} launches  {}\n", 100 * sorted[i].second.ns / all,
                        sorted[i].second.ns / 1e3, sorted[i].second.calls, single_line(sorted[i].first, 100));
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  fact("device_time_us", all / 1e3, "us");
  fact("device_launches", calls, "");
  if (calls > 0) fact("device_kernel_us", all / calls / 1e3, "us");
  fact("device_top_kernel_share", 100 * top / all, "%");
  if (copies_ns > 0) fact("device_copy_share", 100 * copies_ns / (all + copies_ns), "%");
  findings.profile.texts.push_back({"time by kernel", text, said.profiler});
  return true;
}

// The metrics rules look at, by the names Nsight Compute gives them.
struct Metric {
  std::string_view fact, unit;
  std::vector<std::string_view> names;
};
const std::vector<Metric>& metrics() {
  static const std::vector<Metric> kMetrics = {
      {"device_memory_throughput",
       "%",
       {"Memory Throughput", "DRAM Throughput",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"device_compute_throughput",
       "%",
       {"Compute (SM) Throughput", "SM [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"device_occupancy", "%", {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"}},
      {"device_registers", "", {"Registers Per Thread", "launch__registers_per_thread"}},
      {"device_shared_bytes",
       "byte",
       {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"}},
      {"device_l2_hit_rate", "%", {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"}},
      {"device_l1_hit_rate", "%", {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"}},
      {"device_waves", "", {"Waves Per SM", "launch__waves_per_multiprocessor"}},
  };
  return kMetrics;
}

const Metric* metric_of(std::string_view name) {
  for (const Metric& metric : metrics())
    if (std::ranges::find(metric.names, name) != metric.names.end()) return &metric;
  return nullptr;
}

}  // namespace

bool parse_ncu(const Said& said, Findings& findings) {
  std::string_view text = said.product.empty() ? said.out : said.product;
  // One value per row ("details" page). Several kernels: weighted alike, the one that takes longest decides
  // nothing here.
  std::map<std::string_view, std::pair<double, int>> sums;
  std::map<std::string, KernelTime> kernels;
  for (const CsvTable& table : read_tables(text, "Metric Name")) {
    auto name = table.column("Metric Name"), value = table.column("Metric Value"),
         unit = table.column("Metric Unit"), kernel = table.column("Kernel Name");
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      auto number = table.number(row, value);
      if (!number) continue;
      std::string metric_name = table.text(row, name), metric_unit = table.text(row, unit);
      if (metric_name == "Duration" || metric_name == "gpu__time_duration.sum") {
        double scale = metric_unit.starts_with("n")   ? 1
                       : metric_unit.starts_with("u") ? 1e3
                       : metric_unit.starts_with("m") ? 1e6
                                                      : 1e9;
        KernelTime& time = kernels[table.text(row, kernel)];
        time.ns += *number * scale, ++time.calls;
      }
      const Metric* metric = metric_of(metric_name);
      // "Memory Throughput" comes twice: in percent and in bytes per second.
      if (!metric || (metric->unit == "%" && metric_unit != "%")) continue;
      auto& [sum, count] = sums[metric->fact];
      sum += *number, ++count;
    }
  }
  // One row per kernel ("raw" page): metrics are columns.
  if (sums.empty())
    for (const CsvTable& table : read_tables(text, "Kernel Name"))
      for (std::size_t column = 0; column < table.header.size(); ++column)
        if (const Metric* metric = metric_of(table.header[column]))
          for (std::size_t row = 0; row < table.rows.size(); ++row)
            if (auto number = table.number(row, column))
              sums[metric->fact].first += *number, ++sums[metric->fact].second;
  if (sums.empty())
    return findings.profile.absent.push_back(
               fmt::format("{}: none of the metrics KForge knows is in the table", said.profiler)),
           false;
  for (const Metric& metric : metrics())
    if (auto found = sums.find(metric.fact); found != sums.end())
      findings.fact(metric.fact, found->second.first / found->second.second, metric.unit, said.profiler);
  if (!kernels.empty()) report_kernels(said, findings, kernels, 0);
  return true;
}

bool parse_nsys(const Said& said, Findings& findings) {
  std::map<std::string, KernelTime> kernels;
  double copies = 0;
  for (std::string_view key : {"Name", "Operation"}) {
    for (const CsvTable& table : read_tables(said.product.empty() ? said.out : said.product, key)) {
      auto total = table.column("Total Time"), name = table.column(key), calls = table.column("Instances");
      if (!calls) calls = table.column("Count");
      if (!calls) calls = table.column("Num Calls");
      bool host_calls =
          table.column("Num Calls").has_value();  // the table of API calls: host time, not the device's
      for (std::size_t row = 0; row < table.rows.size() && total && !host_calls; ++row) {
        double ns = table.number(row, total).value_or(0);
        std::string what = table.text(row, name);
        bool copy = key == "Operation" || what.starts_with("[CUDA mem") || what.starts_with("[");
        if (copy) {
          copies += ns;
        } else {
          kernels[what].ns += ns;
          kernels[what].calls += table.number(row, calls).value_or(1);
        }
      }
    }
  }
  return report_kernels(said, findings, kernels, copies);
}

bool parse_rocprof(const Said& said, Findings& findings) {
  std::string_view text = said.product.empty() ? said.out : said.product;
  std::map<std::string, KernelTime> kernels;
  // results.stats.csv: one row per kernel.
  for (const CsvTable& table : read_tables(text, "TotalDurationNs")) {
    auto name = table.column("Name"), total = table.column("TotalDurationNs"), calls = table.column("Calls");
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      kernels[table.text(row, name)] = {table.number(row, total).value_or(0),
                                        table.number(row, calls).value_or(1)};
  }
  // results.csv or rocprofv3's kernel trace: one row per launch.
  for (std::string_view key : {"KernelName", "Kernel_Name"})
    for (const CsvTable& table : read_tables(text, key)) {
      auto name = table.column(key), duration = table.column("DurationNs"),
           begin = table.column("Start_Timestamp"), end = table.column("End_Timestamp");
      if (!begin) begin = table.column("BeginNs"), end = table.column("EndNs");
      auto vgprs = table.column("arch_vgpr");
      if (!vgprs) vgprs = table.column("VGPR_Count");
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        double ns = duration ? table.number(row, duration).value_or(0)
                             : table.number(row, end).value_or(0) - table.number(row, begin).value_or(0);
        KernelTime& time = kernels[table.text(row, name)];
        time.ns += std::max(0.0, ns), ++time.calls;
      }
      if (vgprs && !table.rows.empty())
        if (auto registers = table.number(0, vgprs))
          findings.fact("device_registers", *registers, "", said.profiler);
    }
  return report_kernels(said, findings, kernels, 0);
}

}  // namespace kforge
