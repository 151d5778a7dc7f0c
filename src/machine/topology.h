// What the system says about its processors: which ones we may use, and their caches.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace kforge {

// The cpus of the affinity mask, cut to the number a cgroup's quota is worth (whole cpus, at least one).
std::vector<int> allowed_cpus();

// Cpus a cgroup's time quota amounts to, the tightest on the way up to the root; 0 when there is none. Knows
// both cgroup versions. `self` is the text of /proc/self/cgroup, `mount` the folder where cgroups are
// mounted.
double cgroup_cpu_limit(std::string_view self, const std::filesystem::path& mount);

// Data and unified caches of one cpu, level by level. `cpu_folder` is /sys/devices/system/cpu/cpuN.
std::vector<CacheLevel> read_caches(const std::filesystem::path& cpu_folder);

// "0-3,8" -> 0 1 2 3 8; parts that make no sense are passed over.
std::vector<int> parse_cpu_list(std::string_view text);

// Value of the first "key : value" line of /proc/cpuinfo's text, or "".
std::string cpuinfo_field(std::string_view cpuinfo, std::string_view key);

}  // namespace kforge
