// Profile `driver`: trusted device drivers, emulators and platform commands that run a candidate's code. They
// make code at run time, start threads and processes, and talk to devices; so only the surface common to all
// is closed.
#include "sandbox/filter.h"

namespace kforge {

Result<Fd> driver_filter(SandboxTier tier) {
  Filter filter(Filter::Default::kAllow);
  refuse_kernel_surface(filter);
  if (tier == SandboxTier::kLandlock) refuse_signals_to_others(filter);
  return filter.export_sealed();
}

}  // namespace kforge
