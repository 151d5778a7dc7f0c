// Profile `compile`: a compiler on hostile source. It starts other programs and writes in its folder; the
// mount table (or Landlock) decides what it sees, this filter keeps it away from the kernel's far corners.
#include "sandbox/filter.h"

namespace kforge {

Result<Fd> compile_filter(SandboxTier tier) {
  Filter filter(Filter::Default::kAllow);
  refuse_kernel_surface(filter);
  filter.refuse({"personality", "seccomp", "socketpair"}, EPERM);
  if (tier == SandboxTier::kLandlock) refuse_signals_to_others(filter);
  return filter.export_sealed();
}

}  // namespace kforge
