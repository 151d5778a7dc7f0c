// llvm-mca: how long an iteration of the hot loop takes when every load hits the first-level cache, and what
// its units would need. The difference is waiting for earlier results.
#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "generate/quote.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

// The number behind "Total Cycles:" and the like.
std::optional<double> number_after(std::string_view text, std::string_view label) {
  std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + label.size());
  std::size_t start = text.find_first_not_of(" \t[");
  if (start == std::string_view::npos) return std::nullopt;
  double value = 0;
  auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

bool parse_mca(const Said& said, Findings& findings) {
  auto iterations = number_after(said.out, "Iterations:"), cycles = number_after(said.out, "Total Cycles:"),
       throughput = number_after(said.out, "Block RThroughput:");
  if (!iterations || !cycles || *iterations < 1) {
    findings.profile.absent.push_back(fmt::format(
        "{}: {}", said.profiler, single_line(said.err.empty() ? "said nothing usable" : said.err, 120)));
    return false;
  }
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  fact("mca_cycles_per_iteration", *cycles / *iterations, "cycles");
  if (throughput) fact("mca_throughput_cycles", *throughput, "cycles");
  if (auto ipc = number_after(said.out, "IPC:")) fact("mca_ipc", *ipc, "");
  if (auto share = number_after(said.out, "Resource Pressure")) fact("mca_resource_pressure", *share, "%");
  if (auto share = number_after(said.out, "Data Dependencies:")) fact("mca_data_dependencies", *share, "%");
  return true;
}

}  // namespace kforge
