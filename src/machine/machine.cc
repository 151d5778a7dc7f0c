#include "machine/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "machine/features.h"
#include "machine/records.h"
#include "machine/topology.h"

namespace kforge {
namespace {

// The trials take a few forks; their answer changes only with the processor, what the hypervisor shows of it,
// or the kernel, and all three are in the name of the record.
Result<std::set<std::string>> cached_features(const std::string& cpu_model, const std::string& cpu_flags,
                                              const std::string& kernel) {
  KF_TRY(fs::path home, kforge_home());
  std::string trials;
  for (const FeatureTrial& trial : feature_trials()) trials += std::string(trial.name) + " ";
  std::string key = Hasher().add(cpu_model).add(cpu_flags).add(kernel).add(trials).hex().substr(0, 16);
  fs::path record = home / "machine" / fmt::format("features-{}.json", key);
  if (auto known = read_features_record(record)) return *known;
  std::set<std::string> found = find_features();
  write_features_record(record, found);
  return found;
}

}  // namespace

std::size_t Machine::last_level_bytes() const {
  std::size_t bytes = 0;
  for (const CacheLevel& cache : caches) bytes = std::max(bytes, cache.bytes);
  return bytes;
}

std::string Machine::id() const {
  Hasher hasher;
  hasher.add(cpu_model).add(fmt::format("{} {}", threads(), virtualised));
  for (const std::string& feature : features) hasher.add(feature);
  for (const CacheLevel& cache : caches)
    hasher.add(fmt::format("{} {} {}", cache.level, cache.bytes, cache.shared_by));
  return hasher.hex().substr(0, 12);
}

Result<Machine> describe_machine() {
  Machine machine;
  utsname system{};
  ::uname(&system);
  machine.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  auto cpuinfo = read_file("/proc/cpuinfo", 64 << 20);
  std::string info = cpuinfo ? *cpuinfo : "";
  machine.cpu_model = cpuinfo_field(info, "model name");
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown cpu";
  std::string flags = cpuinfo_field(info, "flags");
  machine.virtualised = (" " + flags + " ").find(" hypervisor ") != std::string::npos;
  machine.cpus = allowed_cpus();
  machine.caches = read_caches(fmt::format("/sys/devices/system/cpu/cpu{}", machine.cpus[0]));
  machine.page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  KF_TRY(machine.features, cached_features(machine.cpu_model, flags, machine.kernel));
  return machine;
}

double cache_capacity(const Machine& machine, std::string_view level) {
  for (const CacheLevel& cache : machine.caches) {
    if (level != fmt::format("L{}", cache.level)) continue;
    int sharers = std::max(cache.shared_by, 1), instances = (machine.threads() + sharers - 1) / sharers;
    return static_cast<double>(cache.bytes) * std::max(instances, 1);
  }
  return 0;
}

}  // namespace kforge
