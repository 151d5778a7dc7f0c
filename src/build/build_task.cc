#include "build/build.h"

namespace kforge {

Step<Build> build_candidate(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                            const Machine& machine, const BuildOptions& options) {
  return build_with_header(candidate, platform, make_task_header(task), machine, options);
}

}  // namespace kforge
