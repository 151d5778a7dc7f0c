#include "report/highlight.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/cpp_keywords.h"
#include "base/text.h"

namespace kforge {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// What other languages add to C++.
bool is_other_keyword(std::string_view word) {
  static constexpr std::array kWords = {
      "__device__", "__global__", "__kernel",    "__local", "__restrict__", "__shared__", "as",
      "def",        "device",     "dimension",   "do",      "elif",         "end",        "from",
      "function",   "global",     "implicit",    "import",  "in",           "integer",    "intent",
      "kernel",     "lambda",     "layout",      "local",   "none",         "real",       "restrict",
      "subroutine", "then",       "threadgroup", "uniform", "with",         "yield"};
  return std::ranges::find(kWords, word) != kWords.end();
}

class Tokens {
 public:
  Tokens(std::string_view source, std::string_view comment) : rest_(source), comment_(comment) {}

  // The next piece, never empty; its class is "" for plain text.
  std::string_view next(std::string_view& kind) {
    kind = "";
    const bool line_begin = std::exchange(line_begin_, false);
    const char c = rest_[0];
    if (c == '\n') {
      line_begin_ = true;
      return take(1);
    }
    if (c == ' ' || c == '\t') {
      line_begin_ = line_begin;
      return take(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    }
    if (!comment_.empty() && rest_.starts_with(comment_)) return as(kind, "comment", to_line_end());
    if (comment_ == "//" && rest_.starts_with("/*")) return as(kind, "comment", until("*/", 2));
    if (comment_ == "//" && line_begin && c == '#') return as(kind, "directive", to_line_end());
    if (comment_ == "//" && rest_.starts_with("R\"")) return as(kind, "string", raw_string());
    if (comment_ == "#" && (rest_.starts_with("\"\"\"") || rest_.starts_with("'''")))
      return as(kind, "string", until(rest_.substr(0, 3), 3));
    if (c == '"' || c == '\'') return as(kind, "string", quoted(c));
    if (is_digit(c) || (c == '.' && rest_.size() > 1 && is_digit(rest_[1])))
      return as(kind, "literal", number());
    if (is_word(c)) {
      std::string_view word = take(word_length());
      if (is_cpp_keyword(word) || is_other_keyword(word)) kind = "keyword";
      return word;
    }
    return take(std::max<std::size_t>(first_code_point(rest_).bytes, 1));
  }

  bool done() const { return rest_.empty(); }

 private:
  std::string_view take(std::size_t count) {
    std::string_view piece = rest_.substr(0, count);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  std::string_view as(std::string_view& kind, std::string_view name, std::size_t count) {
    kind = name;
    return take(count);
  }
  std::size_t to_line_end() const { return std::min(rest_.find('\n'), rest_.size()); }
  std::size_t until(std::string_view end, std::size_t from) const {
    std::size_t found = rest_.find(end, from);
    return found == rest_.npos ? rest_.size() : found + end.size();
  }
  std::size_t raw_string() const {
    const std::size_t open = rest_.find('(');
    if (open == rest_.npos || open > 18) return 2;
    return until(")" + std::string(rest_.substr(2, open - 2)) + "\"", open);
  }
  // Up to the closing quote; one that is not closed ends with its line.
  std::size_t quoted(char quote) const {
    for (std::size_t at = 1; at < rest_.size(); ++at) {
      if (rest_[at] == '\n') return at;
      if (rest_[at] == quote) return at + 1;
      if (rest_[at] == '\\') ++at;
    }
    return rest_.size();
  }
  std::size_t number() const {
    std::size_t at = 1;
    while (at < rest_.size()) {
      const char c = rest_[at], before = rest_[at - 1];
      const bool sign =
          (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && at + 1 < rest_.size() && is_word(rest_[at + 1]);
      if (!is_word(c) && c != '.' && !sign && !separator) break;
      ++at;
    }
    return at;
  }
  std::size_t word_length() const {
    return static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_word) - rest_.begin());
  }

  std::string_view rest_, comment_;
  bool line_begin_ = true;
};

// Lines, each closed before the next begins, whatever pieces reach over their ends.
class LineWriter {
 public:
  explicit LineWriter(std::size_t most) : most_(most) {}

  bool full() const { return out_.text.size() > most_; }
  void add(std::string_view piece, std::string_view kind) {
    while (!piece.empty() && !full()) {
      const std::size_t end = piece.find('\n');
      span(piece.substr(0, end), kind);
      if (end == piece.npos) return;
      end_line();
      piece.remove_prefix(end + 1);
    }
  }
  Markup finish(std::size_t lines) {
    if (in_line_) end_line();
    if (ended_ < lines)
      out_.text +=
          fmt::format("<span class=\"l skip\">[{} of {} lines left out]</span>\n", lines - ended_, lines);
    return std::move(out_);
  }

 private:
  void begin_line() {
    if (!in_line_) out_.text += "<span class=\"l\">";
    in_line_ = true;
  }
  void end_line() {
    begin_line();
    out_.text += "</span>\n";
    in_line_ = false;
    ++ended_;
  }
  void span(std::string_view text, std::string_view kind) {
    if (text.empty()) return;
    begin_line();
    // A line may be longer than all that is allowed.
    const std::size_t room = most_ > out_.text.size() ? most_ - out_.text.size() : 1;
    std::string safe = escaped(whole_characters(text, room));
    out_.text += kind.empty() ? safe : fmt::format("<span class=\"{}\">{}</span>", kind, safe);
  }

  std::size_t most_, ended_ = 0;
  bool in_line_ = false;
  Markup out_;
};

}  // namespace

Markup highlighted(std::string_view source, std::string_view comment, std::size_t most) {
  Tokens tokens(source, comment);
  LineWriter writer(most);
  while (!tokens.done() && !writer.full()) {
    std::string_view kind;
    std::string_view piece = tokens.next(kind);
    writer.add(piece, kind);
  }
  return writer.finish(lines_of(source).size());
}

Markup diff_markup(const std::vector<DiffLine>& lines, std::size_t most) {
  Markup out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const DiffLine& line = lines[i];
    if (out.text.size() > most) {
      out.text += fmt::format("<span class=\"l skip\">[{} more lines left out]</span>\n", lines.size() - i);
      break;
    }
    if (line.kind == DiffLine::Kind::kSkipped) {
      out.text += fmt::format("<span class=\"l skip\">  ... {} line{} the same</span>\n", line.skipped,
                              line.skipped == 1 ? "" : "s");
      continue;
    }
    const bool added = line.kind == DiffLine::Kind::kAdded, removed = line.kind == DiffLine::Kind::kRemoved;
    out.text += fmt::format("<span class=\"l{}\">{} {}</span>\n",
                            added     ? " added"
                            : removed ? " removed"
                                      : "",
                            added     ? "+"
                            : removed ? "-"
                                      : " ",
                            escaped(whole_characters(line.text, most)));
  }
  return out;
}

}  // namespace kforge
