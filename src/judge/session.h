// A judging session: task, platform, machine, store and baselines opened once, then any number of candidates
// judged by the same gates. `kforge eval` is a session of one; `kforge forge` keeps one open for a whole run.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "build/build.h"
#include "generate/candidate.h"
#include "judge/stopwatch.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "profile/profile.h"
#include "report/eval_report.h"
#include "report/progress.h"
#include "run/native.h"
#include "store/store.h"
#include "task/task.h"
#include "verify/timed_gates.h"
#include "verify/verdict.h"

namespace kforge {

struct SessionOptions {
  std::string task;                    // name or path
  std::string platform = "cpu";        // --on
  std::string precision = "fp32";      // --precision
  std::string shape_set = "bench";     // --shapes
  bool cold = true;                    // --cache cold|warm
  int threads = 0;                     // --threads; 0: all allowed
  std::vector<std::string> baselines;  // --baseline: names, NAME=FILE, or "none"; empty: every one present
  std::filesystem::path python;        // --python
  bool deterministic = false;          // --deterministic
  bool allow_libraries = false;        // --allow-libraries
  std::string march;                   // --march: flag set by name; empty: the best that runs here
  std::optional<SandboxTier> sandbox;  // --sandbox; nothing: the strongest that works
  double call_limit_seconds = 0;       // --timeout for one call; 0: from the size of the task
  bool use_build_cache = true;         // --no-build-cache
  bool store = true;                   // --no-store: nothing is written
};

// How far a candidate is judged, and against whom it is timed.
struct JudgeRequest {
  std::string kernel_path;                   // as the user gave it; only written into the report
  bool check_only = false;                   // value gates only
  std::vector<const Candidate*> incumbents;  // timed beside the baselines; each was verified before
  bool fastest_baseline_only = false;        // the others once it is known which one is the fastest
  bool fresh_inputs = false;                 // check inputs from a seed drawn now (confirmation)
  int rounds = 0;                            // exactly this many; 0: until the interval is narrow
  double seconds = 4;                        // time for rounds, after the least number of them
  double hopeless = 0.2;  // stop early once surely slower than this times the quickest rival
};

// One shape case of one candidate, judged.
struct CaseOutcome {
  Verdict verdict;
  std::optional<Build> build;
  std::optional<TimedFindings> times;  // baselines only
  std::vector<RivalTimes> incumbents;  // by JudgeRequest::incumbents
  std::optional<RooflinePosition> roofline;
  std::optional<double> modelled_ns;  // on a platform whose objective is a model
};

struct Judgement {
  EvalReport report;
  std::vector<CaseOutcome> cases;  // in order; the last one failed, or all passed
  // How many times faster than each incumbent, over all cases; empty unless passed and timed.
  std::vector<Speedup> over_incumbents;
};

class JudgingSession {
 public:
  // An Error is the user's (no such task) or the machinery's (no sandbox).
  static Result<std::unique_ptr<JudgingSession>> open(const SessionOptions& options, Progress& progress);
  ~JudgingSession();

  // A program that could not be read is judged too: its failure is the verdict.
  Result<Judgement> judge(const std::expected<Candidate, Failure>& program, const JudgeRequest& request);
  // Writes the verdict with its evidence to the store and the id into the report. Nothing without a store.
  Result<void> save(const std::expected<Candidate, Failure>& program, Judgement& judgement);

  // What the session stands on.
  const SessionOptions& options() const { return options_; }
  const Task& task() const { return task_; }
  const Platform& platform() const { return platform_; }
  const Machine& machine() const { return machine_; }  // its cpus are the threads allowed
  Result<const Peaks*> peaks();                        // measured when first asked for
  // Where a time of a case stands. Faster than the peaks allow: they were taken in a busy moment and are
  // measured again, once (rewritten algebra may really be faster).
  Result<RooflinePosition> roofline(const BoundTask& task, double ns);
  SandboxTier tier() const { return tier_; }
  int threads() const { return threads_; }
  std::size_t case_count() const { return cases_.size(); }
  const BoundTask& bound(std::size_t index) const { return *cases_[index].task; }
  Store* store() { return store_ ? &*store_ : nullptr; }
  Progress& progress() { return *progress_; }
  const PrecisionPolicy& policy() const { return policy_; }

  // The steps of judge(), for whoever races programs in another order.
  Step<Build> build(const Candidate& candidate, const BoundTask& task);
  // The compiler line and flag set of a program without directives.
  Step<Build> planned_build();
  Result<NativeProgram> stage(std::string name, const Build& build, const BoundTask& task) const;
  Result<JudgeContext> context(const BoundTask& task, bool fresh_inputs = false);
  std::optional<Failure> symbol_gate(const Build& build) const;
  // Finds where in the source a crash happened, so that who mends it need not guess.
  void locate(Failure& failure, const Candidate& candidate, const Build& build, const BoundTask& task) const;
  // From now on programs end at once when this is requested, and the step under way is an Error. The default
  // token never is.
  void obey(std::stop_token stop) { stop_ = std::move(stop); }
  // Whether programs are ranked by the platform's cost model instead of the clock.
  bool modelled() const { return platform_.model.has_value(); }
  Result<double> model(const Candidate& candidate, const Build& build, const BoundTask& task) const;
  // Found, checked and kept when first asked for.
  Result<const std::vector<Rival>*> baselines(std::size_t index, const JudgeContext& context);
  // Which baseline is the fastest, when it was measured elsewhere: for JudgeRequest::fastest_baseline_only.
  void set_fastest(std::size_t index, std::string name) { cases_[index].fastest = std::move(name); }
  // How samples are taken on this machine, for this task.
  TimingOptions timing(const JudgeContext& context) const;

 private:
  struct ShapeState {
    std::unique_ptr<BoundTask> task;
    std::optional<std::vector<Rival>> rivals;
    std::vector<AbsentBaselineNote> absent;
    std::vector<std::string> notes;
    std::string fastest;       // name of the baseline that was the fastest so far
    std::uint64_t secret = 0;  // of a session without a store
  };

  JudgingSession(const SessionOptions& options, Progress& progress)
      : options_(options), progress_(&progress) {}
  Result<void> open_all();
  void begin_report(const JudgeRequest& request, EvalReport& report) const;
  Result<CaseOutcome> judge_case(std::size_t index, const Candidate& candidate, const JudgeRequest& request,
                                 EvalReport& report);
  Result<void> judge_calibration(const JudgeContext& context, Verdict& verdict);
  Result<void> judge_generality(const Candidate& candidate, EvalReport& report, Verdict& verdict);
  Result<void> time(std::size_t index, const JudgeContext& context, const ContenderSpec& program,
                    const JudgeRequest& request, EvalReport& report, CaseOutcome& outcome);
  Result<std::vector<Rival>> gather_rivals(ShapeState& shape, const JudgeContext& context);
  Result<Rival> user_rival(const std::string& name, const std::string& file, const BoundTask& task,
                           const JudgeContext& context);
  Result<NativeProgram> waiting_program(const BoundTask& task, bool values_only) const;
  ContenderSpec limited(ContenderSpec spec, const BoundTask& task) const;
  BuildOptions build_options() const {
    return {tier_, options_.march, options_.use_build_cache, options_.allow_libraries};
  }
  std::chrono::milliseconds call_limit(const BoundTask& task) const;
  void finish_report(Judgement& judgement);

  const SessionOptions options_;
  Progress* progress_;
  std::stop_token stop_;
  Stopwatch stopwatch_;  // of the judgement under way; the first one's includes opening
  std::optional<Store> store_;
  std::optional<FileCache> oracle_cache_;
  std::optional<Truths> truths_;
  Task task_;
  Platform platform_;
  Machine machine_;
  std::optional<Peaks> peaks_;
  bool peaks_doubted_ = false;
  PrecisionPolicy policy_{};
  SandboxTier tier_ = SandboxTier::kBubblewrap;
  int threads_ = 1;
  std::vector<ShapeState> cases_;
  TempDir work_;                              // graph files of the baselines
  std::vector<NativeProgram> user_programs_;  // staged files of --baseline NAME=FILE
  std::unique_ptr<Contender> echo_;           // kept from one judging to the next: TimedOptions::echo
};

}  // namespace kforge
