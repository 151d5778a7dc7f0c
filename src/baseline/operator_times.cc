#include "baseline/operator_times.h"

#include <charconv>

#include "base/hash.h"
#include "baseline/baseline.h"
#include "machine/spin.h"
#include "sandbox/sandbox.h"

namespace kforge {
namespace {

constexpr std::size_t kMostOperators = 4096;

Result<std::string> ask_onednn(const ProgramSpec& program, int threads, std::size_t evict_bytes) {
  SandboxSpec spec;
  spec.argv = program.argv;
  spec.argv.push_back("--times");
  if (evict_bytes > 0) spec.argv.insert(spec.argv.end(), {"--evict", std::to_string(evict_bytes)});
  spec.writable = program.writable;
  spec.env = program.env;
  spec.env["OMP_NUM_THREADS"] = spec.env["OMP_THREAD_LIMIT"] = std::to_string(threads);
  spec.cpus = program.cpus;
  spec.limits = program.limits;
  spec.limits.wall = std::chrono::minutes(2);
  spec.limits.output_bytes = 1 << 20;
  KF_TRY(auto process, start_sandboxed(spec, SandboxTier::kNone));
  KF_TRY(SandboxExit exit, process->wait());
  // It cannot compute this graph, or not here: then there are no times.
  if (exit.exit_code != 0 || exit.signal != 0 || exit.wall_exceeded) return "";
  return std::move(exit.out);
}

}  // namespace

std::vector<OperatorTime> parse_operator_times(std::string_view text) {
  std::vector<OperatorTime> times;
  while (!text.empty() && times.size() < kMostOperators) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == line.npos || second == line.npos) continue;
    OperatorTime time{std::string(line.substr(0, first)),
                      std::string(line.substr(first + 1, second - first - 1)), 0};
    std::string_view number = line.substr(second + 1);
    auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), time.ns);
    if (problem == std::errc() && end == number.data() + number.size() && time.ns >= 0)
      times.push_back(std::move(time));
  }
  return times;
}

Result<std::vector<OperatorTime>> operator_times(const BoundTask& task, const Machine& machine, int threads,
                                                 bool cold, const std::filesystem::path& work,
                                                 FileCache& cache) {
  BaselineOptions options;
  options.names = {"onednn"};
  options.threads = threads;
  KF_TRY(Baselines found, find_baselines(task, machine, options, work));
  if (found.present.empty()) return std::vector<OperatorTime>();
  const Baseline& onednn = found.present.front();
  std::string key = Hasher()
                        .add("operator times 2")
                        .add(onednn.what)
                        .add(task.key())
                        .add(machine.id())
                        .add(std::to_string(threads))
                        .add(cold ? "cold" : "warm")
                        .hex();
  if (auto known = cache.load(key)) return parse_operator_times(*known);
  std::size_t evict = cold ? evict_bytes_per_core(machine) * static_cast<std::size_t>(threads) : 0;
  KF_TRY(std::string said, ask_onednn(onednn.spec, threads, evict));
  (void)cache.store(key, said);  // a cache that cannot be written only costs time
  return parse_operator_times(said);
}

}  // namespace kforge
