#include "base/random_seed.h"

#include <sys/random.h>

#include "base/result.h"

namespace kforge {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  ssize_t got = ::getrandom(&seed, sizeof seed, 0);
  KF_CHECK(got == sizeof seed, "the kernel's random source gave {} bytes", got);
  return seed;
}

}  // namespace kforge
