#include "profile/source_loops.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace kforge {
namespace {

// A program may be made to be long: then its loops are simply not told apart.
constexpr std::size_t kMostBytes = 256 << 10, kMostLoops = 1000;

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; }

// The source with comments, literals and preprocessor lines blanked; every byte keeps its place.
std::string code_of(std::string_view source) {
  std::string code(source);
  auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, code.size()); ++i)
      if (code[i] != '\n') code[i] = ' ';
    return end;
  };
  bool line_begins = true;
  for (std::size_t i = 0; i < source.size();) {
    char letter = source[i];
    if (source.substr(i, 2) == "//" || (letter == '#' && line_begins)) {
      std::size_t end = std::min(source.find('\n', i), source.size());
      while (end < source.size() && source[end - 1] == '\\')
        end = std::min(source.find('\n', end + 1), source.size());
      i = blank(i, end);
    } else if (source.substr(i, 2) == "/*") {
      std::size_t end = source.find("*/", i + 2);
      i = blank(i, end == std::string_view::npos ? source.size() : end + 2);
    } else if (letter == '"' || (letter == '\'' && (i == 0 || !is_word(source[i - 1])))) {
      std::size_t end = i + 1;
      while (end < source.size() && source[end] != letter && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      line_begins = letter == '\n' || (line_begins && (letter == ' ' || letter == '\t'));
      ++i;
    }
  }
  return code;
}

// For each opening bracket the place after its closing one; for an unmatched one the end.
std::vector<std::size_t> partners(std::string_view code) {
  std::vector<std::size_t> after(code.size(), code.size()), open;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '(' || code[i] == '{') open.push_back(i);
    if ((code[i] != ')' && code[i] != '}') || open.empty()) continue;
    after[open.back()] = i + 1;
    open.pop_back();
  }
  return after;
}

class Scanner {
 public:
  explicit Scanner(std::string_view code) : code_(code), after_(partners(code)) {}

  std::string_view word_at(std::size_t i) const {
    std::size_t end = i;
    while (end < code_.size() && is_word(code_[end])) ++end;
    return code_.substr(i, end - i);
  }

  // Behind the statement that begins here. Statements that hold one another are followed in a loop, not by
  // recursion: their depth is the program's choice.
  std::size_t statement_end(std::size_t i) const {
    for (;;) {
      i = skip_blanks(i);
      std::string_view word = i < code_.size() ? word_at(i) : "";
      if (word == "for" || word == "while" || word == "if") {
        i = skip_blanks(i + word.size());
        if (i >= code_.size() || code_[i] != '(') return i;
        i = after_[i];
      } else if (word == "do") {
        i += 2;
      } else {
        break;
      }
    }
    if (i < code_.size() && code_[i] == '{') return after_[i];
    while (i < code_.size() && code_[i] != ';' && code_[i] != '}')
      i = code_[i] == '(' || code_[i] == '{' ? after_[i] : i + 1;
    return std::min(i + 1, code_.size());
  }

  std::size_t skip_blanks(std::size_t i) const {
    return std::min(code_.find_first_not_of(" \t\r\n", i), code_.size());
  }

  // "while (...);" closes a do, or waits: no loop to be vectorised.
  bool is_empty_loop(std::size_t i) const {
    std::size_t open = skip_blanks(i + word_at(i).size());
    if (open >= code_.size() || code_[open] != '(') return word_at(i) != "do";
    std::size_t body = skip_blanks(after_[open]);
    return body >= code_.size() || code_[body] == ';';
  }

 private:
  std::string_view code_;
  std::vector<std::size_t> after_;
};

}  // namespace

SourceLoops::SourceLoops(std::string_view source) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < source.size(); ++i)
    if (source[i] == '\n') line_starts_.push_back(i + 1);
  if (source.size() > kMostBytes) return;
  std::string code = code_of(source);
  Scanner scanner(code);
  int line = 1;
  for (std::size_t i = 0; i < code.size() && spans_.size() < kMostLoops; ++i) {
    if (code[i] == '\n') ++line;
    if (!is_word(code[i]) || (i > 0 && is_word(code[i - 1]))) continue;
    std::string_view word = scanner.word_at(i);
    if (word != "for" && word != "while" && word != "do") continue;
    if (scanner.is_empty_loop(i)) continue;
    spans_.push_back({i, scanner.statement_end(i), {line, true}});
  }
  // In order of their beginnings: a loop holds another exactly if it holds the next one.
  for (std::size_t i = 0; i + 1 < spans_.size(); ++i)
    spans_[i].loop.innermost = spans_[i + 1].begin >= spans_[i].end;
}

const SourceLoop* SourceLoops::around(int line, int column) const {
  if (line < 1 || column < 1 || static_cast<std::size_t>(line) > line_starts_.size()) return nullptr;
  std::size_t place = line_starts_[static_cast<std::size_t>(line) - 1] + static_cast<std::size_t>(column) - 1;
  const SourceLoop* found = nullptr;
  for (const Span& span : spans_)
    if (span.begin <= place && place < span.end) found = &span.loop;  // later ones lie inside
  return found;
}

}  // namespace kforge
