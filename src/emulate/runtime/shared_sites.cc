// Places for static shared variables. Each launch gives them anew, as its kernel reaches them, so one
// kernel's variables do not count against another's.
#include <pthread.h>

#include "checks.h"
#include "worker.h"

namespace kfe {
namespace {

constexpr uint32_t kMostSites = 512;
constexpr uint32_t kGap = 64;  // between variables: an overrun must not hit the next one

struct Sites {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  KfeSite* site[kMostSites];
  uint32_t count, used, declared;
} sites __attribute__((section("kfe_state")));

}  // namespace

uint32_t arena_used() { return __atomic_load_n(&sites.used, __ATOMIC_ACQUIRE); }

uint32_t shared_declared() { return sites.declared; }

void forget_sites() {
  for (uint32_t i = 0; i < sites.count; ++i) sites.site[i]->offset = 0;
  sites.count = sites.declared = 0;
  sites.used = kGap;
}

const KfeSite* site_at(uint32_t offset) {
  for (uint32_t i = 0; i < sites.count; ++i)
    if (offset + kGap >= sites.site[i]->offset &&
        offset < sites.site[i]->offset + sites.site[i]->bytes + kGap)
      if (offset >= sites.site[i]->offset && offset < sites.site[i]->offset + sites.site[i]->bytes)
        return sites.site[i];
  return nullptr;
}

// The variable that ends or begins nearest to a place in a gap.
const KfeSite* site_before(uint32_t offset) {
  const KfeSite* best = nullptr;
  for (uint32_t i = 0; i < sites.count; ++i)
    if (sites.site[i]->offset <= offset && (!best || sites.site[i]->offset > best->offset))
      best = sites.site[i];
  return best;
}

}  // namespace kfe

extern "C" kfe_u32 kfe_place(KfeSite* site) {
  using namespace kfe;
  pthread_mutex_lock(&sites.mutex);
  kfe_u32 offset = __atomic_load_n(&site->offset, __ATOMIC_RELAXED);
  const char* refused = nullptr;
  if (!offset) {
    const uint32_t alignment = site->alignment < 16 ? 16 : site->alignment;
    offset = (sites.used + alignment - 1) / alignment * alignment;
    if (sites.declared + uint64_t{site->bytes} > kStaticLimit)
      refused = "more than 48 KB of static shared memory";
    else if (sites.count == kMostSites || offset + uint64_t{site->bytes} + kGap > kArenaBytes)
      refused = "too many shared variables in one kernel";
    if (!refused) {
      sites.site[sites.count++] = site;
      sites.declared += site->bytes;
      __atomic_store_n(&sites.used, offset + site->bytes + kGap, __ATOMIC_RELEASE);
      __atomic_store_n(&site->offset, offset, __ATOMIC_RELEASE);
    }
  }
  pthread_mutex_unlock(&sites.mutex);
  if (refused) {
    checks::limit(refused);
    this_worker->stop_launch();
  }
  return offset;
}
