#include "generate/feedback.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/gate.h"
#include "base/overloaded.h"
#include "base/text.h"
#include "generate/quote.h"

namespace kforge {
namespace {

// The file and line that "kernel.cc:12:5: error: ..." points at.
struct Pointed {
  const SourceFile* file = nullptr;
  int line = 0;
};

Pointed pointed_at(std::string_view message, const Candidate& program) {
  for (const SourceFile& file : program.files) {
    std::size_t at = message.find(file.name + ":");
    if (at == std::string_view::npos) continue;
    std::string_view rest = message.substr(at + file.name.size() + 1);
    int line = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (error == std::errc() && line > 0) return {&file, line};
  }
  return {};
}

std::string numbered(const SourceFile& file, int line, int around) {
  std::vector<std::string_view> lines = lines_of(file.content);
  int count = static_cast<int>(lines.size());
  if (line > count) return "";
  std::string text;
  for (int i = std::max(1, line - around); i <= std::min(count, line + around); ++i)
    text += fmt::format("{}{:>5} | {}\n", i == line ? ">" : " ", i,
                        lines[static_cast<std::size_t>(i - 1)].substr(0, 200));
  return text;
}

// The source around the first few places the messages name, each place once.
std::string source_lines(const std::vector<std::string_view>& messages, const Candidate* program) {
  if (!program) return "";
  constexpr int kPlaces = 4, kAround = 2;
  std::set<std::pair<std::string, int>> shown;
  std::string text;
  for (std::string_view message : messages) {
    if (static_cast<int>(shown.size()) >= kPlaces) break;
    Pointed at = pointed_at(message, *program);
    if (!at.file || !shown.emplace(at.file->name, at.line).second) continue;
    std::string lines = numbered(*at.file, at.line, kAround);
    if (!lines.empty()) text += fmt::format("{} around line {}:\n{}", at.file->name, at.line, lines);
  }
  return text;
}

std::string compile_feedback(const Attempt& attempt, std::size_t limit) {
  std::string log = clean_text(attempt.judgement->reason);
  std::string text = fmt::format("It does not compile. The compiler's messages, the first one first:\n{}",
                                 fenced(shorten(log, limit * 2 / 3)));
  std::vector<std::string_view> errors = lines_of(log);
  std::erase_if(errors, [](std::string_view line) { return line.find("error") == line.npos; });
  std::string lines = source_lines(errors, attempt.program());
  if (!lines.empty()) text += fmt::format("The lines they point at:\n{}", fenced(shorten(lines, limit / 3)));
  return text + "Correct the first error first; later ones often follow from it.\n";
}

// The signal and what it means, then the lines its frames are in: "... (kernel.cc:12), called from ...".
std::string crash_feedback(const Attempt& attempt, std::size_t limit) {
  std::string reason = clean_text(attempt.judgement->reason);
  std::string text = fmt::format("It crashed:\n{}", fenced(shorten(reason, limit / 2)));
  std::string_view rest = std::string_view(reason).substr(0, reason.find('\n'));  // not what it printed
  std::vector<std::string_view> frames;
  for (std::size_t bracket; (bracket = rest.find('(')) != rest.npos; rest.remove_prefix(bracket + 1))
    frames.push_back(rest.substr(bracket + 1, rest.find(')', bracket) - bracket - 1));
  std::string lines = source_lines(frames, attempt.program());
  if (!lines.empty()) text += fmt::format("There:\n{}", fenced(shorten(lines, limit / 2)));
  return text;
}

std::string number_text(double value) { return fmt::format("{:.9g}", value); }

std::string index_text(const std::vector<std::int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

// How many, which pattern, where first, the worst, and in which part of the output.
std::string compared_text(const ComparedOutput& compared) {
  constexpr std::size_t kShown = 5;
  const std::string output = single_line(compared.output, 300);
  std::string text;
  if (!compared.inputs.empty()) text += fmt::format("- inputs: {}\n", single_line(compared.inputs, 300));
  text += fmt::format("- wrong elements: {} of {}{}\n", compared.wrong, compared.elements,
                      output.empty() ? "" : " of " + output);
  if (compared.wrong_nonfinite > 0)
    text += fmt::format("- of these, NaN or infinity in the wrong place: {}\n", compared.wrong_nonfinite);
  if (!compared.pattern.empty()) text += fmt::format("- pattern: {}\n", single_line(compared.pattern, 300));
  if (!compared.first_wrong.empty())
    text += fmt::format("- first wrong element: {}{}\n", output, index_text(compared.first_wrong));
  if (!compared.worst.empty()) text += "- worst elements:\n";
  for (std::size_t i = 0; i < std::min(compared.worst.size(), kShown); ++i) {
    const ComparedElement& worst = compared.worst[i];
    text += fmt::format("    {}{} = {}, must be {}, off by {}, allowed {}\n", output, index_text(worst.index),
                        number_text(worst.got), number_text(worst.want), number_text(worst.error),
                        number_text(worst.bound));
  }
  std::vector<std::string> regions;
  for (double region : compared.error_by_region) regions.push_back(fmt::format("{:.1e}", region));
  if (!regions.empty())
    text += fmt::format("- largest error by {}ths of the output, first to last, relative to its rms: {}\n",
                        regions.size(), fmt::join(regions, " "));
  return text;
}

std::string figure_text(const Figure& figure) {
  return std::visit(
      Overloaded{
          [](std::int64_t value) { return std::to_string(value); },
          [](double value) { return number_text(value); }, [](const std::string& value) { return value; },
          [](const std::vector<std::string>& values) { return fmt::format("{}", fmt::join(values, ", ")); }},
      figure);
}

std::string figures_text(const Figures& figures, std::size_t limit) {
  std::string text;
  for (const auto& [name, figure] : figures.named)
    text += fmt::format("{}: {}\n", name, single_line(figure_text(figure), limit));
  return text;
}

std::string evidence_text(const Evidence& evidence, std::size_t limit) {
  std::string text = evidence_lines(evidence, limit);
  if (!std::holds_alternative<Figures>(evidence)) return text;
  return fmt::format("Evidence:\n{}", fenced(shorten(text, limit)));
}

std::string gate_feedback(const AttemptJudgement& judged, std::string_view opening, std::size_t limit) {
  std::string text = fmt::format("{} {}\n", opening, single_line(judged.reason, limit / 2));
  if (judged.gate) text += fmt::format("Gate: {}. {}\n", name_of(*judged.gate), row_of(*judged.gate).asks);
  return text + evidence_text(judged.evidence, limit / 2);
}

// How the program was taken from the reply, where that may be the cause.
std::string reply_remarks(const Attempt& attempt) {
  std::string text;
  if (attempt.generation)
    for (const std::string& remark : attempt.generation->remarks)
      text += fmt::format("- {}\n", single_line(remark, 300));
  return text.empty() ? "" : "About the reply it was taken from:\n" + text;
}

std::string reasons(const Attempt& attempt, std::size_t limit_bytes) {
  const AttemptJudgement& judged = *attempt.judgement;
  // Parts are cut to what is left after the words around them, never the whole: a cut fence would swallow
  // what follows.
  std::size_t room = std::max<std::size_t>(limit_bytes, 1'000) - 600;
  switch (judged.outcome) {
    case Outcome::kNoProgram:
      return fmt::format("No program could be taken from the reply:\n{}",
                         fenced(shorten(clean_text(judged.reason), room)));
    case Outcome::kCompileError:
      return compile_feedback(attempt, room);
    case Outcome::kCrash:
      return crash_feedback(attempt, room);
    case Outcome::kTimeout:
      return fmt::format(
          "It took too long: {}\nLook for an endless loop or a deadlock between threads first, then for work "
          "that is far larger than needed.\n",
          single_line(judged.reason, room));
    case Outcome::kWrongShape:
    case Outcome::kWrongValue:
      return gate_feedback(judged, "It compiles and runs, but its values are wrong.", room);
    default:
      return gate_feedback(judged, "It was rejected.", room);
  }
}

}  // namespace

std::string evidence_lines(const Evidence& evidence, std::size_t limit) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](const ComparedOutput& compared) { return compared_text(compared); },
                               [&](const Figures& figures) { return figures_text(figures, limit); }},
                    evidence);
}

std::string failure_feedback(const Attempt& attempt, std::size_t limit_bytes) {
  if (!attempt.judgement || !attempt.failed()) return "";
  return reasons(attempt, limit_bytes) + reply_remarks(attempt);
}

}  // namespace kforge
