// Which instruction sets really execute here. What cpuid says is not enough: hypervisors hide leaves of
// features that work and announce ones that trap, and AMX needs the kernel's permission. So each is run once,
// in a child whose death by SIGILL means "absent", and must give the right numbers.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kforge {

struct FeatureTrial {
  const char* name;  // as in /proc/cpuinfo where it has the feature; "amx" is tile + bf16
  bool (*run)();     // true when the numbers are right; may die
};
const std::vector<FeatureTrial>& feature_trials();

// In a forked child: true only if it ends in good order and says so within two seconds.
bool survives(bool (*trial)());

std::set<std::string> find_features();

}  // namespace kforge
