// The verdict on one kernel as it is stored: judge/report_of.h derives it from a Judgement, report/ shows it,
// `show` and `recheck` read it back. Fields that mean nothing for an outcome stay empty; they never hold a
// magic number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/gate.h"
#include "base/interval.h"
#include "base/machine_load.h"
#include "base/outcome.h"
#include "base/result.h"
#include "baseline/library_release.h"
#include "verify/gate.h"
#include "verify/statistics.h"

namespace kforge {

struct BaselineResult {
  std::string name;  // "onednn", "torch", the NAME of --baseline NAME=FILE
  std::string what;  // "oneDNN 2.6.3, operator by operator, 2 threads"
  Interval time_ns;
  std::optional<Speedup> speedup;  // of the kernel over this baseline
  std::vector<Gate> failed_gates;  // a baseline goes through the gates too: what it fails is printed
  LibraryRelease release = {};     // empty for somebody's kernel
};

struct AbsentBaselineNote {
  std::string name, reason, remedy;
};

struct Roofline {
  std::string bound;    // "compute", "memory", "L2", ...
  double fraction = 0;  // achieved / attainable
};

struct BuildFigures {
  double seconds = 0;  // of the compiler, also when the artefact came from the cache
  bool from_cache = false;
  std::string march;  // flag set
  std::vector<std::string> command;
  std::string log;  // warnings, trimmed
};

// Work done once per set of params by prepare(), outside the timed calls.
struct SetupFigures {
  double ns = 0;
  std::uint64_t bytes = 0;
};

struct Achieved {
  double gflops = 0, gbytes_s = 0;
};

// What the program ran on.
struct DeviceFigures {
  std::string name;    // "Intel Xeon ...", "aarch64 emulated"
  std::string driver;  // what runs programs on it, with its version; "" for the processor itself
  bool emulated = false;
};

// KernelBench's own criterion, shown beside ours for tasks that come from there.
struct KernelBenchCriterion {
  bool passed = false;
  double max_abs = 0, tolerance = 0;
  std::string what;  // "allclose(atol=1e-4, rtol=1e-4), 5 random inputs"
};

// What the platform's cost model says of a program that cannot be timed: it ranks, and is never a time or a
// speedup.
struct Modelled {
  double ns = 0;
  std::string model;  // name and version
};

// A figure that a model went by.
struct ModelInput {
  std::string name;
  double value = 0;
  std::string unit, of;  // of: the kernel
  bool operator==(const ModelInput&) const = default;
};

// One shape of a weighted list; a plain shape set has exactly one.
struct ShapeResult {
  std::map<std::string, std::int64_t> dims;
  double weight = 1;
  std::optional<Interval> time_ns;
  std::optional<Speedup> speedup;
  std::optional<double> modelled_ns;
  std::vector<ModelInput> modelled_from;
};

// Stored after the fact: a seed never leaves the trusted side while a candidate runs.
struct SeedRecord {
  std::string purpose;  // "check", "timed", "hidden shape"
  std::uint64_t seed = 0;
};

// Raw paired samples, for `recheck` and for people who trust nothing else. Not printed; kept in the store.
struct SampleSeries {
  std::string contender;            // "candidate", "onednn"
  std::vector<double> ns_per_call;  // round by round, in the order taken
};

struct EvalReport {
  static constexpr std::string_view kSchema = "kforge.eval/1";

  // What was judged.
  std::string result_id;   // given by the store; empty before
  std::string created_at;  // ISO 8601, UTC
  std::string task;        // "core/softmax"
  std::string task_path;   // of a task given by its path; empty for one of the suites
  std::string task_hash;
  std::string platform = "cpu";  // its name, or the folder's absolute path
  std::string platform_hash;     // of the folder's files
  DeviceFigures device;
  std::string shape_set;         // "bench"
  std::vector<std::string> set;  // --set: sizes in place of the shape set's
  std::vector<ShapeResult> cases;
  std::string kernel_path;         // as the user gave it
  std::string kernel_hash;         // of the candidate's files
  std::string precision = "fp32";  // policy
  std::string arithmetic;          // what the candidate declares; empty: nothing declared
  std::string cache = "cold";
  int threads = 0;
  bool general = false;  // claims any shape (and was judged so)
  bool libraries_allowed = false;
  bool check_only = false;  // --check: value gates only, nothing timed
  // What was asked for beyond that, so that `recheck` can ask for the same.
  std::vector<std::string> asked_baselines;  // --baseline; empty: every one present
  bool deterministic = false;                // --deterministic
  std::string asked_march;                   // --march; empty: the best that runs here
  double asked_timeout = 0;                  // --timeout; 0: from the size of the task

  // Verdict.
  Outcome outcome = Outcome::kPassed;
  std::optional<Gate> gate;        // that refused it
  std::string reason;              // one sentence; for compile_error the compiler's lines
  Evidence evidence;               // of the refusal
  std::vector<GateResult> gates;   // in the order judged
  std::vector<std::string> flags;  // "algebraic", "bitwise_reproducible", ...
  std::optional<ErrorFigures> error;
  std::optional<KernelBenchCriterion> kernelbench;

  // Time. Empty when not passed or with --check.
  std::optional<Interval> time_ns;
  std::string time_absent_reason;    // why time_ns is empty, where it is not obvious
  std::optional<Modelled> modelled;  // on a platform whose objective is a model; time_ns is then empty
  std::vector<BaselineResult> baselines;
  std::vector<AbsentBaselineNote> absent_baselines;
  std::optional<Speedup> speedup;   // against the fastest baseline present
  double spread = 0;                // (q3 - q1) / median of the kernel's samples
  int rounds = 0;                   // samples per program
  std::optional<MachineLoad> load;  // while it was timed; of the worst shape case
  std::string clock;                // "parent wall time, batches of 1 ms or more"

  // Profile.
  std::optional<Roofline> roofline;
  std::optional<Achieved> achieved;
  std::optional<SetupFigures> setup;    // nothing when the kernel has no prepare()
  std::uint64_t peak_memory_bytes = 0;  // 0: not known
  int kernel_threads = 0;               // that took part in its calls; 0: not known
  double thread_use = 0;                // cpu seconds / (wall seconds * threads); 0: not known
  double flops = 0, bytes = 0;          // of the task, from the graph

  // How it was done.
  std::optional<BuildFigures> build;
  std::string sandbox;       // "bubblewrap", "landlock", "none"
  std::string machine;       // id()
  std::string machine_text;  // "Intel Xeon ..., 2 threads"
  std::string kforge_version;
  std::vector<std::string> notes;   // remarks of the task and of the run
  std::vector<std::string> advice;  // what to do next, one line each
  std::vector<SeedRecord> seeds;
  std::map<std::string, double>
      seconds;                        // where the evaluation's own time went: "total", "build", "oracle", ...
  std::vector<SampleSeries> samples;  // only in the stored document

  bool passed() const { return outcome == Outcome::kPassed; }
  // A program that does nothing would pass too: the task shows nothing.
  bool vacuous() const { return std::ranges::find(flags, "vacuous") != flags.end(); }
  std::string_view gate_name() const { return gate ? name_of(*gate) : ""; }
};

// The whole document, one JSON object; docs/cli.md lists its fields. `with_samples` adds the raw series (the
// store).
std::string to_json(const EvalReport& report, bool with_samples = false);
// Reads what to_json wrote; unknown fields are ignored, a missing or wrong one is an Error that names it.
Result<EvalReport> eval_report_from_json(std::string_view text);

}  // namespace kforge
