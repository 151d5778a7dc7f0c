#include "machine/topology.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "base/files.h"

namespace kforge {
namespace {

constexpr int kMostCpus = 1 << 16;

std::string first_word(const fs::path& path) {
  auto text = read_file(path, 1 << 16);
  if (!text) return "";
  std::istringstream words(*text);
  std::string word;
  words >> word;
  return word;
}

std::optional<double> number(const std::string& word) {
  std::istringstream stream(word);
  double value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

// cgroup v2: "200000 100000" or "max 100000". v1: two files, quota -1 for none.
double quota_of(const fs::path& group) {
  if (auto text = read_file(group / "cpu.max", 4096)) {
    std::istringstream words(*text);
    std::string quota;
    double period = 0;
    words >> quota >> period;
    auto limit = number(quota);
    return limit && *limit > 0 && period > 0 ? *limit / period : 0;
  }
  auto quota = number(first_word(group / "cpu.cfs_quota_us"));
  auto period = number(first_word(group / "cpu.cfs_period_us"));
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

// The tightest quota from `group` up to `root`. A path that does not exist inside a container (the host's
// name of the group) leaves the root itself.
double tightest(const fs::path& root, fs::path group) {
  double best = 0;
  for (int depth = 0; depth < 64; ++depth) {
    double quota = quota_of(root / group.relative_path());
    if (quota > 0) best = best > 0 ? std::min(best, quota) : quota;
    if (!group.has_relative_path()) break;
    group = group.parent_path();
  }
  return best;
}

std::size_t size_with_suffix(const std::string& text) {
  std::istringstream stream(text);
  std::size_t value = 0;
  char suffix = 0;
  stream >> value >> suffix;
  return suffix == 'K' ? value << 10 : suffix == 'M' ? value << 20 : value;
}

// Where sysfs has no caches (some virtual machines), the C library asks cpuid.
std::vector<CacheLevel> caches_of_sysconf() {
  std::vector<CacheLevel> caches;
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  for (int i = 0; i < 3; ++i)
    if (long bytes = ::sysconf(names[i]); bytes > 0)
      caches.push_back({i + 1, static_cast<std::size_t>(bytes), 1});
  return caches;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream range(part);
    int from = -1, to = -1;
    char dash = 0;
    if (!(range >> from) || from < 0) continue;
    if (!(range >> dash >> to) || dash != '-') to = from;
    for (int cpu = from; cpu <= std::min(to, kMostCpus); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpuinfo_field(std::string_view cpuinfo, std::string_view key) {
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

double cgroup_cpu_limit(std::string_view self, const fs::path& mount) {
  double best = 0;
  std::istringstream lines{std::string(self)};
  // Lines are "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1).
  for (std::string line; std::getline(lines, line);) {
    std::size_t first = line.find(':'),
                second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    bool v1_cpu = (',' + controllers + ',').find(",cpu,") != std::string::npos;
    if (!controllers.empty() && !v1_cpu) continue;
    fs::path root = v1_cpu ? mount / (fs::exists(mount / controllers) ? controllers : "cpu") : mount;
    double limit = tightest(root, line.substr(second + 1));
    if (limit > 0) best = best > 0 ? std::min(best, limit) : limit;
  }
  return best;
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  auto self = read_file("/proc/self/cgroup", 1 << 16);
  double limit = cgroup_cpu_limit(self ? *self : "", "/sys/fs/cgroup");
  if (limit > 0) {
    auto whole = std::max<std::size_t>(1, static_cast<std::size_t>(std::floor(limit + 0.01)));
    cpus.resize(std::min(cpus.size(), whole));
  }
  return cpus;
}

std::vector<CacheLevel> read_caches(const fs::path& cpu_folder) {
  std::map<int, CacheLevel> by_level;
  for (int index = 0; index < 16; ++index) {
    fs::path folder = cpu_folder / "cache" / fmt::format("index{}", index);
    auto level = number(first_word(folder / "level"));
    std::size_t bytes = size_with_suffix(first_word(folder / "size"));
    if (!level || *level < 1 || *level > 8 || bytes == 0 || first_word(folder / "type") == "Instruction")
      continue;
    auto sharers = parse_cpu_list(first_word(folder / "shared_cpu_list"));
    int number_of_level = static_cast<int>(*level);
    by_level[number_of_level] = {number_of_level, bytes, std::max(1, static_cast<int>(sharers.size()))};
  }
  std::vector<CacheLevel> caches;
  for (const auto& [level, cache] : by_level) caches.push_back(cache);
  return caches.empty() ? caches_of_sysconf() : caches;
}

}  // namespace kforge
