// Where the program was when the timer struck: shares by library, by thread, and by address for the hot loop.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kMostPlaces = 100'000;

bool is_library(std::string_view file, std::string_view name) { return file.starts_with(name); }

}  // namespace

bool parse_samples(const Said& said, Findings& findings) {
  double all = 0, libm = 0, openmp = 0, libc = 0, ours = 0, user = 0, system = 0;
  std::vector<double> threads;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name;
    std::uint32_t count = 0;
    words >> kind;
    if (kind == "at") {
      std::uint64_t address = 0;
      if (words >> std::hex >> address >> std::dec >> count && findings.samples.size() < kMostPlaces)
        findings.samples[address] += count;
    } else if (kind == "in" && words >> name >> count) {
      all += count;
      if (name == "candidate") ours += count;
      if (is_library(name, "libm.") || is_library(name, "libmvec")) libm += count;
      if (is_library(name, "libgomp") || is_library(name, "libomp")) openmp += count;
      if (is_library(name, "libc.")) libc += count;
    } else if (kind == "thread" && words >> count && threads.size() < 4096) {
      threads.push_back(count);
    } else if (kind == "calls") {
      std::string word;
      long calls = 0;
      words >> calls >> word >> user >> word >> system;
    }
  }
  if (all < 5) {
    findings.profile.absent.push_back(fmt::format("{}: too few samples", said.profiler));
    return false;
  }
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  fact("samples", all, "");
  fact("samples_program", 100 * ours / all, "%");
  fact("samples_libm", 100 * libm / all, "%");
  fact("samples_openmp", 100 * openmp / all, "%");
  fact("samples_libc", 100 * libc / all, "%");
  if (user + system > 0) fact("samples_system", 100 * system / (user + system), "%");
  if (threads.size() > 1) {
    // Threads that only wait spin inside the OpenMP run-time, which the share of samples there shows.
    auto [least, most] = std::ranges::minmax(threads);
    fact("threads_seen", static_cast<double>(threads.size()), "");
    if (most > 0) fact("thread_balance", least / most, "");
  }
  return true;
}

}  // namespace kforge
