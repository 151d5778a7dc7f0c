// A program of the store by what people call it: a result, a run (its best), one attempt of a run, or the
// program itself by the hash of its files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generate/attempt.h"
#include "store/runs.h"
#include "store/store.h"

namespace kforge {

struct NamedProgram {
  std::string name;                  // the full one: an id, "RUN:NUMBER", or a hash
  std::string result;                // id of the result that speaks of it; empty: none was stored
  std::optional<StoredRun> run;      // it is of, where a run was named
  std::optional<Attempt> attempt;    // of that run, where the result is not the run's own
  std::optional<EvalReport> report;  // of that result
  StoredCandidate program;

  // What is known, from the result or else from the attempt; empty: nothing.
  std::string task() const;
  std::string outcome() const;
  std::string gate() const;
  std::string kernel() const;  // the file it was read from, or where it came from
};

// `which`: a result or run by id or by a prefix that fits only one, "last" for the newest result,
// "RUN:NUMBER" for an attempt, 64 letters for a hash. A run whose best is not confirmed yet stands for its
// best attempt so far. An Error: there is none, or it has no program.
Result<NamedProgram> named_program(Store& store, RunRecords& records, const std::string& which);

// The two forms that are not ids.
bool is_attempt_name(std::string_view text);
bool is_program_hash(std::string_view text);

}  // namespace kforge
