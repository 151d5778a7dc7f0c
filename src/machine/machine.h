// The machine: what it can execute (found by trying), its caches, and what it reaches when measured.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct CacheLevel {
  int level = 0;
  std::size_t bytes = 0;  // of one instance
  int shared_by = 1;      // logical cpus
};

struct Bandwidth {
  std::string level;      // "L1", "L2", "L3", "memory"
  std::size_t bytes = 0;  // capacity of this level over the cores measured (with half of it); 0 for memory
  double read_gb_s = 0;   // all allowed threads together
  double copy_gb_s = 0;   // read + written, streaming stores where they help
};

struct Peaks {
  double fp32_gflops = 0;  // all allowed threads, fused multiply-add on the widest vectors
  double fp64_gflops = 0;
  double amx_bf16_gflops = 0;  // on random data; 0 without AMX
  std::vector<Bandwidth> bandwidths;
  std::string measured_at;  // ISO time
  int threads = 0;
  bool disturbed = false;  // others had the processors: some figures may be far too low
};

struct Machine {
  std::string cpu_model;
  std::string kernel;  // uname
  std::set<std::string>
      features;           // "avx2", "fma", "avx512f", "avx512_bf16", "amx": each executed in a child first
  std::vector<int> cpus;  // allowed by affinity and cgroup
  std::vector<CacheLevel> caches;
  std::size_t page_bytes = 4096;
  bool virtualised = false;

  int threads() const { return static_cast<int>(cpus.size()); }
  std::size_t last_level_bytes() const;
  std::string id() const;  // short hash that names this machine in results
};

// Cheap (a few ms); the feature trials are cached under kforge_home() by cpu model, its flags and kernel.
Result<Machine> describe_machine();
// Measured once per machine and thread count (about 2 s), cached under kforge_home(), measured again when
// older than a week or when `refresh` (somebody was faster than they allow: the higher figures are kept).
Result<Peaks> machine_peaks(const Machine& machine, int threads, bool refresh = false);
// Figures that somebody gives in place of measured ones: fp32_gflops, fp64_gflops, amx_bf16_gflops,
// memory_gb_s. Other names are passed over.
void give_peaks(const std::map<std::string, double>& given, Peaks& peaks);
// Bytes that all instances of a cache level ("L2") hold together for the allowed cpus; 0 for a level there is
// not.
double cache_capacity(const Machine& machine, std::string_view level);

}  // namespace kforge
