#include "judge/next_steps.h"

#include "base/text.h"

namespace kforge {
namespace {

std::vector<std::string> after_failure(const EvalReport& report) {
  switch (report.outcome) {
    case Outcome::kCompileError:
      return {"mend the first error above and run the same command again"};
    case Outcome::kNoProgram:
      return {"give --kernel a C++ file that defines kernel(); `kforge tasks show " +
              shell_quoted(report.task_path.empty() ? report.task : report.task_path) +
              "` prints its prototype"};
    case Outcome::kTimeout:
      return {"raise the limit with --timeout SECONDS if the kernel is only slow"};
    case Outcome::kCrash:
      return {
          "build it with -fsanitize=address outside KForge, or compare index arithmetic with the shapes in "
          "task.h"};
    case Outcome::kWrongValue:
      if (report.precision == "fp32" && report.error && report.gate == Gate::kAccuracy)
        return {"`--explain` shows every gate with its evidence",
                "if the arithmetic is meant to be coarser, judge it under --precision high or bf16"};
      return {"`--explain` shows every gate with its evidence"};
    case Outcome::kRejected:
      return {"docs/gates.md says what each gate asks, docs/security.md what it protects against"};
    case Outcome::kNotVerifiable:
      return {"judge it where the hardware is, or do without what is named above"};
    default:
      return {};
  }
}

}  // namespace

std::vector<std::string> next_steps(const EvalReport& report) {
  if (!report.passed()) return after_failure(report);
  // Where nothing can be timed, a model may still rank programs.
  const bool never_timed = report.device.emulated;
  if (report.check_only)
    return {never_timed ? "run without --check for the figure of the platform's model, where it has one"
                        : "run without --check to time it"};
  if (report.device.emulated)
    return {"emulated here: `kforge platforms check` on the hardware itself is the next word on it"};
  if (!report.speedup) return {"no baseline was present: `scripts/setup.sh platforms` installs more of them"};
  std::vector<std::string> steps;
  const bool busy = report.load && report.load->busy();
  if (busy) steps.emplace_back("measure it again when the machine is quieter");
  if (!busy && report.roofline && report.roofline->fraction < 0.5)
    steps.push_back(fmt::format("it runs at {:.0f} % of the {} roofline: there is room",
                                100 * report.roofline->fraction, report.roofline->bound));
  steps.emplace_back("`kforge recheck last` measures it once more");
  return steps;
}

}  // namespace kforge
