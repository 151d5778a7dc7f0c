#include "judge/task_check.h"

#include "base/random_seed.h"
#include "machine/machine.h"
#include "oracle/expected.h"
#include "store/store.h"
#include "verify/policy.h"

namespace kforge {

Result<TaskCheck> check_task(const Task& task, std::string_view shape_set, std::string_view precision) {
  auto policy = policy_from_name(precision);
  if (!policy) return fail("there is no precision policy '{}'", precision);
  KF_TRY(Machine machine, describe_machine());
  KF_TRY(BoundTask bound, bind_task(task, shape_set));
  JudgeContext context;
  context.task = &bound;
  context.machine = &machine;
  context.policy = *policy;
  context.secret = random_seed();

  TaskCheck check{task.name, std::string(shape_set), {}, 0, "", 0};
  for (InputKind kind : kAllInputKinds) {
    KF_TRY(ExpectedValues expected, context.expected(kind));
    check.kinds_finite += expected->yardstick_finite;
    if (expected.seconds < check.oracle_seconds) continue;
    check.oracle_seconds = expected.seconds;
    check.worst_kind = name_of(kind);
  }
  KF_TRY(check.calibration, calibrate(context));
  return check;
}

}  // namespace kforge
