#include "machine/prompt_wakeups.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace kforge {
namespace {

// The kernel's struct sched_attr: its own header cannot be included beside the C library's.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  // under the ordinary policy: the slice wished for
  std::uint64_t deadline_ns, period_ns;
  std::uint32_t clamp_min, clamp_max;
};

}  // namespace

void ask_for_prompt_wakeups() {
  SchedulingAttributes wish{};
  // A thread under another policy than the ordinary one is left alone.
  if (::syscall(SYS_sched_getattr, 0, &wish, sizeof wish, 0) != 0 || wish.policy != SCHED_OTHER) return;
  wish.runtime_ns = 100'000;  // the shortest there are
  wish.flags = 0;
  ::syscall(SYS_sched_setattr, 0, &wish, 0);  // a kernel that refuses loses us nothing
}

}  // namespace kforge
