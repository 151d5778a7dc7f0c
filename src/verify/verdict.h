// What verification found out about one program: every gate with its evidence, and the failure if there is
// one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "execute/program_process.h"
#include "machine/machine.h"
#include "oracle/expected_cache.h"
#include "task/inputs.h"
#include "verify/gate.h"
#include "verify/policy.h"

namespace kforge {

struct Verdict {
  std::vector<GateResult> gates;   // in the order judged
  std::optional<Failure> failure;  // the first; nothing is judged after it
  // On the inputs, own, normal or heavy-tailed, where it was largest beside its bound; or where it failed.
  std::optional<ErrorFigures> error;
  bool kernelbench_judged = false;  // KernelBench's criterion, on the task's own inputs
  bool kernelbench_allclose = true;
  double kernelbench_max_abs = 0;
  std::vector<std::string> flags;  // "bitwise_repeatable", "algebraic", "vacuous", ...
  double check_call_ns = 0;        // the quickest check call: an estimate for what follows
  Usage usage;
  double oracle_seconds = 0;  // spent computing expected values
  double call_seconds = 0;    // spent in check calls

  void pass(Gate gate, std::string summary, Evidence evidence = {});
  void skip(Gate gate, std::string summary);
  void flag(Gate gate, std::string summary, Evidence evidence = {});
  // Records the failed gate (taken from the failure, or "run") and the failure itself.
  void fail(Failure why);
  void add(const GateFinding& finding);
  bool failed() const { return failure.has_value(); }
};

// What every judging step needs to know.
struct JudgeContext {
  const BoundTask* task = nullptr;
  const Machine* machine = nullptr;
  PrecisionPolicy policy{};
  int threads = 1;
  std::uint64_t secret = 0;                   // check inputs are derived from it
  bool fresh_secret = false;                  // drawn for this judging alone
  ExpectedCache* expected_cache = nullptr;    // null: nothing is kept
  std::map<std::string, double> given_peaks;  // of the platform, in place of measured ones
  std::chrono::milliseconds load_limit{20'000};
  std::chrono::milliseconds call_limit{60'000};
  bool deterministic = false;  // bitwise equality of repeats is required
  bool finite_math = false;  // NaN and infinities are not promised: by the program's flags, or by the device
  std::string relaxed;   // what the device's driver does not promise and is not asked, in words; "": nothing
  std::string no_floor;  // why nothing is known of the device's bandwidth; "": it is known
  std::function<void(double fraction, std::string_view detail)> progress;
  std::stop_token stop;  // ends what is computed here, as ProgramSpec::stop does what the program computes

  // The seed of the check inputs of one kind.
  std::uint64_t check_seed(InputKind kind) const;
  // What the outputs must be on them.
  Result<ExpectedValues> expected(InputKind kind) const;
};

// A well mixed seed from two numbers.
std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b);

}  // namespace kforge
