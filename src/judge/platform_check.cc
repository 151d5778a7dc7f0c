#include "judge/platform_check.h"

#include <algorithm>

#include "base/clock.h"
#include "judge/race.h"
#include "judge/report_of.h"
#include "judge/workspace.h"
#include "judge/wrong_command_programs.h"
#include "judge/wrong_device_programs.h"
#include "judge/wrong_programs.h"

namespace kforge {
namespace {

using State = CheckRow::State;

// A clock that sees twice the work as less than this much more, or more than that, is not one to rank
// programs by.
constexpr double kLeastDouble = 1.4, kMostDouble = 2.6;
// The example against itself: an interval that leaves this out says that one of two equal programs is faster.
// One in twenty does by chance; a second race decides.
constexpr double kEqual = 1;
// For a program that is to run into it; others take milliseconds, and waiting for a processor does not count.
constexpr double kCallSeconds = 4;

class Checking {
 public:
  Checking(PlatformCheck& check, const PlatformCheckOptions& options, Progress& progress)
      : check_(check), options_(options), progress_(progress) {}

  Result<void> run() {
    KF_TRY(auto workspace, open("small", 0));
    KF_TRY(auto read, read_candidate(example_path(), check_.platform));
    if (!read) return fail("the example of platform {}: {}", check_.platform.name, reason_text(read.error()));
    check_.device = workspace->setup().device;
    check_.sandbox = name_of(workspace->setup().tier);
    check_.machine_text = workspace->setup().machine.cpu_model;
    KF_TRY_VOID(judge_example(*workspace, *read));
    if (!check_.rows.back().found.empty() && check_.rows.back().state == State::kFailed) return {};
    KF_TRY_VOID(judge_wrong_programs(*read));
    return workspace->setup().timed() ? judge_clock(*read) : judge_model(*read);
  }

 private:
  Result<std::vector<WrongProgram>> programs_that_fail(const Candidate& example,
                                                       const BoundTask& task) const {
    if (check_.platform.kind == PlatformKind::kCommand) return wrong_command_programs(check_.platform);
    const bool device = check_.platform.kind == PlatformKind::kDevice;
    return device ? wrong_device_programs(example, task) : wrong_programs(example, task);
  }
  Result<Candidate> twice_the_work(const Candidate& example, const BoundTask& task) const {
    if (check_.platform.kind == PlatformKind::kCommand) return twice_command_example(check_.platform);
    const bool device = check_.platform.kind == PlatformKind::kDevice;
    return device ? repeated_device_example(example, 2) : repeated_example(example, task, 2);
  }
  fs::path example_path() const { return check_.platform.folder / "example"; }

  Result<std::unique_ptr<Workspace>> open(const std::string& shape_set, double call_limit_seconds) {
    JudgeOptions options;
    options.task = example_path().string();
    options.platform = check_.platform.folder.string();
    options.shape_set = shape_set;
    options.baselines = {"none"};
    options.sandbox = options_.sandbox;
    options.call_limit_seconds = call_limit_seconds;
    options.store = false;
    return Workspace::open(options, silent_);  // the stages of one judging among fifteen tell nobody anything
  }

  Result<EvalReport> judged(Workspace& workspace, const Candidate& candidate, const JudgeRequest& request) {
    KF_TRY(Judgement judgement, judge(workspace, candidate, request));
    return report_of(workspace.setup(), candidate, request, judgement);
  }

  void add(std::string part, std::string name, std::string what, State state, std::string found) {
    check_.rows.push_back({std::move(part), std::move(name), std::move(what), state, std::move(found)});
  }

  Result<void> judge_example(Workspace& workspace, const Candidate& example) {
    progress_.stage("the example through every gate");
    KF_TRY(EvalReport report, judged(workspace, example, {.check_only = !workspace.setup().timed()}));
    check_.gates = report.gates;
    std::string found =
        report.passed() ? fmt::format("{} gates passed", std::ranges::count(report.gates, GateState::kPassed,
                                                                            &GateResult::state))
                        : fmt::format("{}: {}", name_of(report.outcome), report.reason);
    add("example", "example", "the worked example computes its task, on every kind of input",
        report.passed() ? State::kPassed : State::kFailed, found);
    return {};
  }

  Result<void> judge_wrong_programs(const Candidate& example) {
    KF_TRY(auto workspace, open("small", kCallSeconds));
    auto programs = programs_that_fail(example, workspace->setup().bound(0));
    if (!programs) {
      add("wrong program", "all", "programs that must fail", State::kSkipped, programs.error().message);
      return {};
    }
    for (const WrongProgram& program : *programs) {
      progress_.stage(fmt::format("a program that must fail: {}", program.name));
      KF_TRY(EvalReport report, judged(*workspace, program.candidate, {.check_only = true}));
      std::string found(name_of(report.outcome));
      if (report.gate) found += fmt::format(" by gate {}", name_of(*report.gate));
      bool right = program.expects(report.outcome, report.gate);
      if (!right)
        found += fmt::format(", not {}{}{}", program.expected_text(), report.reason.empty() ? "" : ": ",
                             report.reason);
      add("wrong program", program.name, program.what, right ? State::kPassed : State::kFailed, found);
    }
    return {};
  }

  // Two programs that differ only in how often they do the work, timed side by side, and one beside itself.
  Result<void> judge_clock(const Candidate& example) {
    KF_TRY(auto workspace, open("bench", 0));
    KF_TRY_VOID(race(*workspace, example, example, "equal", "the example beside itself: neither is faster",
                     kEqual, kEqual));
    auto twice = twice_the_work(example, workspace->setup().bound(0));
    if (!twice) {
      add("clock", "twice", "twice the work takes twice the time", State::kSkipped, twice.error().message);
      return {};
    }
    return race(*workspace, *twice, example, "twice", "twice the work takes about twice the time",
                kLeastDouble, kMostDouble);
  }

  // How much longer `program` takes than `other`: passed when that is between the two figures. Neighbours may
  // spoil one race; a second one decides.
  Result<void> race(Workspace& workspace, const Candidate& program, const Candidate& other,
                    const std::string& name, const std::string& what, double least, double most) {
    progress_.stage("the clock: " + what);
    CheckRow row{"clock", name, what, State::kFailed, ""};
    for (int attempt = 0; attempt < 2 && row.state == State::kFailed; ++attempt) {
      auto faster = race_once(workspace, program, other);
      if (!faster) {
        row.found = faster.error().message;
        continue;
      }
      const double lo = 1 / faster->hi, hi = 1 / faster->lo;
      row.state = lo <= most && hi >= least ? State::kPassed : State::kFailed;
      row.found =
          fmt::format("{:.3f} times as long (95 % interval {:.3f} to {:.3f})", 1 / faster->value, lo, hi);
    }
    check_.rows.push_back(std::move(row));
    return {};
  }

  Result<void> judge_model(const Candidate& example) {
    add("clock", "clock", "twice the work takes about twice the time", State::kSkipped,
        check_.device.emulated ? "emulated here: nothing that is timed means anything"
                               : "the platform ranks programs by a model");
    KF_TRY(auto workspace, open("small", 0));
    if (!workspace->setup().modelled()) {
      add("model", "model", "twice the work is modelled about twice as long", State::kSkipped,
          "there is no [model]");
      return {};
    }
    auto twice = twice_the_work(example, workspace->setup().bound(0));
    if (!twice) {
      add("model", "twice", "twice the work is modelled about twice as long", State::kSkipped,
          twice.error().message);
      return {};
    }
    progress_.stage("the model: twice the work");
    KF_TRY(EvalReport one, judged(*workspace, example, {}));
    KF_TRY(EvalReport two, judged(*workspace, *twice, {}));
    bool known = one.modelled && two.modelled;
    double ratio = known ? two.modelled->ns / one.modelled->ns : 0;
    std::string why = one.notes.empty() ? two.reason : one.notes.back();
    add("model", "twice", "twice the work is modelled about twice as long",
        ratio >= kLeastDouble && ratio <= kMostDouble ? State::kPassed : State::kFailed,
        known ? fmt::format("{:.3f} times as long, by {}", ratio, one.modelled->model) : "no figure: " + why);
    return {};
  }

  PlatformCheck& check_;
  const PlatformCheckOptions& options_;
  Progress& progress_;
  SilentProgress silent_;
};

}  // namespace

std::string_view name_of(CheckRow::State state) {
  switch (state) {
    case State::kPassed:
      return "passed";
    case State::kFailed:
      return "failed";
    case State::kSkipped:
      return "skipped";
  }
  return "unknown";
}

bool PlatformCheck::passed() const {
  return !rows.empty() &&
         std::ranges::none_of(rows, [](const CheckRow& row) { return row.state == State::kFailed; });
}

Result<PlatformCheck> check_platform(const PlatformCheckOptions& options, Progress& progress) {
  PlatformCheck check;
  KF_TRY(check.platform, load_platform(options.platform));
  check.created_at = utc_now();
  check.kforge_version = KFORGE_VERSION;
  check.readiness = probe_platform(check.platform);
  if (!check.readiness.usable()) return check;
  if (!fs::exists(check.platform.folder / "example" / "task.toml"))
    return fail_with_remedy(
        "write example/task.toml, example/graph.onnx.txt and a kernel: docs/adding_a_platform.md",
        fmt::format("platform {} has no example", check.platform.name));
  KF_TRY_VOID(Checking(check, options, progress).run());
  progress.finish();
  return check;
}

}  // namespace kforge
