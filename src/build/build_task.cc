#include "build/build.h"
#include "build/command_build.h"
#include "build/device_build.h"
#include "build/emulated_build.h"

namespace kforge {

// The one place that knows how a program of each kind is built. A device platform whose driver is not here is
// built for its emulator, into a native library, where KForge has one for its language.
Step<Build> build_candidate(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                            const Machine& machine, const BuildOptions& options) {
  switch (platform.kind) {
    case PlatformKind::kNative:
      return build_with_header(candidate, platform, make_task_header(task), machine, options);
    case PlatformKind::kDevice:
      return platform.emulates_device() ? build_emulated_program(candidate, platform, task, options)
                                        : build_device_program(candidate, platform, task, options);
    case PlatformKind::kCommand:
      return build_command_program(candidate, platform, task, options);
  }
  return fail("programs of kind {} are not built", name_of(platform.kind));
}

}  // namespace kforge
