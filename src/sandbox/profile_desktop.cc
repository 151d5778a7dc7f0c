// Profile `desktop`: a profiler with a window, opened on a virtual screen to be photographed. The program and
// the screen talk through sockets, so these are allowed, and only where a network namespace of their own
// makes them lead nowhere else: in the bubblewrap tier.
#include "sandbox/filter.h"

namespace kforge {

Result<Fd> desktop_filter(SandboxTier tier) {
  if (tier == SandboxTier::kLandlock)
    return fail_with_remedy("install bubblewrap and allow user namespaces",
                            "windows of profilers need the bubblewrap sandbox: without a network namespace "
                            "their sockets would reach out");
  Filter filter(Filter::Default::kAllow);
  refuse_kernel_surface_but_sockets(filter);
  return filter.export_sealed();
}

}  // namespace kforge
