#include "mcp/letters.h"

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/text.h"

namespace kforge::mcp {
namespace {

constexpr std::string_view kRole = "generator-", kPrompt = ".prompt.md", kReply = ".reply.md";

// "generator-3-0.prompt.md"; nothing for any other file.
std::optional<Question> question_of(const std::string& name) {
  if (!name.starts_with(kRole) || !name.ends_with(kPrompt)) return std::nullopt;
  Question question;
  question.stem = name.substr(0, name.size() - kPrompt.size());
  const char *at = name.data() + kRole.size(), *end = name.data() + question.stem.size();
  const auto attempt = std::from_chars(at, end, question.attempt);
  if (attempt.ec != std::errc() || attempt.ptr == end || *attempt.ptr != '-') return std::nullopt;
  if (std::from_chars(attempt.ptr + 1, end, question.ordinal).ec != std::errc()) return std::nullopt;
  return question;
}

// Longer than any run of backticks inside.
std::string fence_for(std::string_view text) {
  std::size_t longest = 3, run = 0;
  for (const char letter : text) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return text;
}

}  // namespace

std::optional<Question> Letters::open() const {
  std::optional<Question> newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const auto question = question_of(entry.path().filename().string());
    if (!question) continue;
    if (!newest ||
        std::pair(question->attempt, question->ordinal) > std::pair(newest->attempt, newest->ordinal))
      newest = question;
  }
  if (newest && std::filesystem::exists(folder_ / (newest->stem + std::string(kReply)), error))
    return std::nullopt;
  return newest;
}

std::string Letters::text_of(const Question& question) const {
  constexpr std::string_view kLast = "\n---- user ----\n";
  const auto text = read_file(folder_ / (question.stem + std::string(kPrompt)));
  if (!text) return text.error().text();
  const auto at = text->rfind(kLast);
  return std::string(trimmed(at == std::string::npos ? *text : text->substr(at + kLast.size())));
}

Result<void> Letters::answer(const Question& question, const std::string& reply) const {
  if (open() != question) return fail("attempt {} has a reply already", question.attempt);
  return write_file_atomic(folder_ / (question.stem + std::string(kReply)), reply);
}

std::string reply_with(const std::vector<SourceFile>& files, const std::string& change,
                       std::optional<bool> followed_advice) {
  std::string text = fmt::format("CHANGE: {}\n", change.empty() ? "not said" : one_line(change));
  if (followed_advice) text += fmt::format("FOLLOWED: {}\n", *followed_advice ? "yes" : "no");
  for (const SourceFile& file : files) {
    const std::string fence = fence_for(file.content);
    text += fmt::format("\n{0}text path={1}\n{2}{3}{0}\n", fence, file.name, file.content,
                        file.content.ends_with('\n') ? "" : "\n");
  }
  return text;
}

}  // namespace kforge::mcp
