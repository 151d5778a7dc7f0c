#include "judge/wrong_programs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"

namespace kforge {
namespace {

constexpr const char* kHonest = "honest.h";

// Directives of the example that say how it is compiled hold for what is made from it.
std::string directives_of(const Candidate& example) {
  std::string text;
  for (const Candidate::Directive& directive : example.directives())
    if (directive.key == "flags" || directive.key == "compiler")
      text += fmt::format("// kforge: {} {}\n", directive.key, directive.value);
  return text;
}

// The example under another name, and what a program needs to know to stand in its place.
std::string honest_header(const Candidate& example, const BoundTask& task) {
  std::vector<std::string> parameters, arguments;
  for (const BoundArgument& argument : task.arguments) {
    bool reads_only = argument.role == Role::kInput || argument.role == Role::kParam;
    parameters.push_back(
        fmt::format("{}{}* {}", reads_only ? "const " : "", c_type_of(argument.dtype), argument.c_name));
    arguments.push_back(argument.c_name);
  }
  const BoundArgument& output = task.arguments.back();
  return fmt::format(
      "#pragma once\n#define kernel honest_kernel\n{}\n#undef kernel\n"
      "#define KERNEL_PARAMETERS {}\n#define KERNEL_ARGUMENTS {}\n#define INPUT {}\n#define OUTPUT {}\n"
      "#define OUTPUT_BYTES {}L\n#define OUTPUT_ELEMENT_BYTES {}L\n",
      example.files.front().content, fmt::join(parameters, ", "), fmt::join(arguments, ", "),
      task.arguments.front().c_name, output.c_name, output.bytes(), size_of(output.dtype));
}

Candidate stand_in(const Candidate& example, const BoundTask& task, const std::string& source) {
  Candidate candidate;
  candidate.files.push_back({example.files.front().name, source + directives_of(example)});
  candidate.files.push_back({kHonest, honest_header(example, task)});
  for (std::size_t i = 1; i < example.files.size(); ++i) candidate.files.push_back(example.files[i]);
  candidate.origin = "platforms check";
  return candidate;
}

Result<void> fits(const Candidate& example) {
  if (example.files.front().content.find("kernel_prepared") != std::string::npos)
    return fail("the example defines prepare and kernel_prepared, and these are made from one with kernel");
  return {};
}

Result<WrongProgram> read_wrong_program(const fs::path& file, const Candidate& example,
                                        const BoundTask& task) {
  KF_TRY(std::string source, read_file(file, kLargestWrongProgram));
  WrongProgram program;
  program.name = file.stem().string();
  KF_TRY_VOID(read_comments(file.string(), source, program));
  program.candidate = stand_in(example, task, source);
  return program;
}

}  // namespace

Result<void> read_expectation(std::string_view file, const std::string& text, WrongProgram& program) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string value = word.substr(word.find('=') + 1);
    std::istringstream names(value);
    for (std::string name; std::getline(names, name, '|');) {
      if (auto gate = gate_from_name(name); gate && word.starts_with("gate=")) program.gates.push_back(*gate);
      if (auto outcome = outcome_from_name(name); outcome && word.starts_with("outcome="))
        program.outcomes.push_back(*outcome);
    }
  }
  if (program.outcomes.empty()) return fail("{} has no line 'expect: outcome=...'", file);
  return {};
}

Result<void> read_comments(std::string_view file, const std::string& source, WrongProgram& program,
                           std::string_view comment) {
  std::istringstream lines(source);
  const std::string mark = fmt::format("{} ", comment), expect = mark + "expect: ";
  for (std::string line; std::getline(lines, line);) {
    if (program.what.empty() && line.starts_with(mark)) program.what = line.substr(mark.size());
    if (line.starts_with(expect)) KF_TRY_VOID(read_expectation(file, line.substr(expect.size()), program));
  }
  if (program.outcomes.empty()) return fail("{} says nothing about what must become of it", file);
  return {};
}

bool WrongProgram::expects(Outcome outcome, std::optional<Gate> refused_by) const {
  if (std::ranges::find(outcomes, outcome) == outcomes.end()) return false;
  return gates.empty() || (refused_by && std::ranges::find(gates, *refused_by) != gates.end());
}

std::string WrongProgram::expected_text() const {
  std::vector<std::string_view> names;
  for (Outcome outcome : outcomes) names.push_back(name_of(outcome));
  std::string text = fmt::format("{}", fmt::join(names, " or "));
  std::vector<std::string_view> by;
  for (Gate gate : gates) by.push_back(name_of(gate));
  return by.empty() ? text : fmt::format("{} by gate {}", text, fmt::join(by, " or "));
}

Result<std::vector<WrongProgram>> wrong_programs(const Candidate& example, const BoundTask& task) {
  KF_TRY_VOID(fits(example));
  KF_TRY(fs::path root, data_root());
  const fs::path folder = root / "platforms" / "wrong_native";
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".cc") files.push_back(it->path());
  if (error || files.empty())
    return fail_with_remedy("install KForge again",
                            fmt::format("there are no programs in {}", folder.string()));
  std::ranges::sort(files);
  std::vector<WrongProgram> programs;
  for (const fs::path& file : files) {
    KF_TRY(WrongProgram program, read_wrong_program(file, example, task));
    programs.push_back(std::move(program));
  }
  return programs;
}

Result<Candidate> repeated_example(const Candidate& example, const BoundTask& task, int times) {
  KF_TRY_VOID(fits(example));
  return stand_in(example, task,
                  fmt::format("#include \"{}\"\n\nextern \"C\" void kernel(KERNEL_PARAMETERS) {{\n"
                              "  for (int i = 0; i < {}; ++i) {{\n    honest_kernel(KERNEL_ARGUMENTS);\n"
                              "    asm volatile(\"\" ::: \"memory\");\n  }}\n}}\n",
                              kHonest, times));
}

}  // namespace kforge
