// How a candidate program fails: a value that is stored, shown to people and fed back to agents.
// Each alternative has only the fields that mean something for it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/evidence.h"
#include "base/gate.h"
#include "base/outcome.h"
#include "base/result.h"

namespace kforge {

struct NoProgram {
  std::string reason;  // why no program could be taken from the reply or file
};
struct CompileError {
  std::string log;  // the compiler's own lines, trimmed to what helps
};
struct Crash {
  std::string how;  // "SIGSEGV: wrote 0 bytes past the end of output y"
  std::string stderr_tail;
  // Where, as offsets in the library, innermost first (0: elsewhere); and in words, once somebody has looked
  // it up in the source: "in row (kernel.cc:12), called from kernel (kernel.cc:30)".
  std::vector<std::uint64_t> frames = {};
  std::string where = {};
};
struct Timeout {
  std::string stage;  // "compile", "load", "check call 3", ...
  double limit_seconds = 0;
};
struct WrongShape {
  std::string reason;
};
struct WrongValue {
  Gate gate;           // that saw it
  std::string reason;  // one sentence with the figures
  Evidence evidence = {};
  bool isolated =
      false;  // a few elements of a large result, or a small one that is off by little; all finite
};
struct Rejected {
  Gate gate;
  std::string reason;
  Evidence evidence = {};
};
// It may well be right, but uses what cannot be run on this machine.
struct NotVerifiable {
  std::string reason;  // "not verifiable here: TMA (tensor maps), kernel.cu:40"
};

using Failure =
    std::variant<NoProgram, CompileError, Crash, Timeout, WrongShape, WrongValue, Rejected, NotVerifiable>;

Outcome outcome_of(const Failure& failure);
std::string_view outcome_name(const Failure& failure);  // name_of() it
// The gate that refused it; nothing where none was involved (it does not compile, crashes, takes too long).
std::optional<Gate> gate_of(const Failure& failure);
std::string_view gate_name(const Failure& failure);  // name_of() it, or ""
// One human sentence or, for CompileError, the log.
std::string reason_text(const Failure& failure);
Evidence evidence_of(const Failure& failure);

// A step gives its record, or the candidate's failure, or (outer) an error of the machinery.
template <class T>
using Step = Result<std::expected<T, Failure>>;

// return candidate_failed(Crash{...}); from a function that returns Step<anything>.
struct FailedStep {
  Failure failure;
  template <class T>
  operator std::expected<std::expected<T, Failure>, Error>() && {
    return std::expected<T, Failure>(std::unexpect, std::move(failure));
  }
};
inline FailedStep candidate_failed(Failure failure) { return {std::move(failure)}; }

}  // namespace kforge

// KF_STEP(auto build, build_candidate(...)) inside a function that returns Step<X>: leaves it at the first
// error or failure.
#define KF_STEP(declaration, expression)                                                             \
  auto KF_CONCAT(kf_step_, __LINE__) = (expression);                                                 \
  if (!KF_CONCAT(kf_step_, __LINE__)) return std::unexpected(KF_CONCAT(kf_step_, __LINE__).error()); \
  if (!KF_CONCAT(kf_step_, __LINE__)->has_value())                                                   \
    return ::kforge::candidate_failed(KF_CONCAT(kf_step_, __LINE__)->error());                       \
  declaration = std::move(**KF_CONCAT(kf_step_, __LINE__))
