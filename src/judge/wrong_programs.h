// Programs that must fail on a native platform, made from its example: platforms/wrong_native/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/outcome.h"
#include "base/result.h"
#include "generate/candidate.h"
#include "task/task.h"

namespace kforge {

inline constexpr std::size_t kLargestWrongProgram = 1 << 20;  // of a file

struct WrongProgram {
  std::string name;               // the file's stem: "past_the_end"
  std::string what;               // its first line, for people
  std::vector<Outcome> outcomes;  // any of these is right
  std::vector<Gate> gates;        // and any of these; empty: whichever
  Candidate candidate;

  bool expects(Outcome outcome, std::optional<Gate> refused_by) const;
  std::string expected_text() const;  // "wrong_value or rejected"
};

// "outcome=rejected|crash gate=symbols|memory"
Result<void> read_expectation(std::string_view file, const std::string& text, WrongProgram& program);
// What a program is and what must become of it, from its lines "// ..." and "// expect: ..."; `comment` is
// what begins them.
Result<void> read_comments(std::string_view file, const std::string& source, WrongProgram& program,
                           std::string_view comment = "//");

// Each with the example under the name honest_kernel; an Error for an example they cannot be made from (it
// defines prepare and kernel_prepared in place of kernel).
Result<std::vector<WrongProgram>> wrong_programs(const Candidate& example, const BoundTask& task);

// A program that does the example's work `times` times in each call: what a clock must see.
Result<Candidate> repeated_example(const Candidate& example, const BoundTask& task, int times);

}  // namespace kforge
