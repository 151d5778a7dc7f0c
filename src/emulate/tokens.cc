#include "emulate/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kforge::emulate {
namespace {

using Kind = Token::Kind;

bool word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool word_part(char c) { return word_start(c) || std::isdigit(static_cast<unsigned char>(c)); }

// `# 12 "file" 1 3`
struct Marker {
  int line = 0;
  std::string file;
  bool enters = false, returns = false, system = false;
};

bool read_marker(std::string_view text, Marker& marker) {
  std::size_t at = text.find_first_not_of(" \t", 1);
  if (at == text.npos || !std::isdigit(static_cast<unsigned char>(text[at]))) return false;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
    marker.line = std::min(marker.line, 100'000'000) * 10 + (text[at] - '0');
  const std::size_t open = text.find('"', at), close = text.rfind('"');
  if (open == text.npos || close <= open) return false;
  marker.file = text.substr(open + 1, close - open - 1);
  for (char flag : text.substr(close + 1)) {
    marker.enters |= flag == '1';
    marker.returns |= flag == '2';
    marker.system |= flag == '3';
  }
  return true;
}

class Tokeniser {
 public:
  Tokeniser(std::string_view text, std::string_view own) : text_(text), own_(own) {}

  TokenList run() {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      const std::size_t first = line.find_first_not_of(" \t");
      if (first != line.npos && line[first] == '#')
        directive(line, end);
      else if (!mine_.back())
        foreign(end);
      else
        cut();  // up to the next directive
    }
    return std::move(out_);
  }

 private:
  void add(Kind kind, std::string_view text) {
    out_.tokens.push_back({kind, std::string(text), line_, file_});
    line_ += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  void directive(std::string_view line, std::size_t end) {
    Marker marker;
    at_ = std::min(end + 1, text_.size());
    if (!read_marker(line, marker)) {  // #pragma
      add(mine_.back() ? Kind::kLine : Kind::kForeign, std::string(line) + "\n");
      return;
    }
    if (marker.enters) mine_.push_back(!marker.system || marker.file.starts_with(own_));
    if (marker.returns && mine_.size() > 1) mine_.pop_back();
    if (mine_.size() == 1) mine_.back() = !marker.file.starts_with('<');  // <built-in>, <command line>
    std::string name = marker.file;
    if (name.starts_with(own_)) name.erase(0, own_.size());
    if (mine_.back()) {
      const auto found = std::find(out_.files.begin(), out_.files.end(), name);
      file_ = static_cast<int>(found - out_.files.begin());
      if (found == out_.files.end()) out_.files.push_back(name);
    }
    const char* kind = marker.system && !mine_.back() ? " 3" : "";
    out_.tokens.push_back(
        {Kind::kLine, "# " + std::to_string(marker.line) + " \"" + name + "\"" + kind + "\n", line_, file_});
    line_ = marker.line;
  }

  void foreign(std::size_t end) {
    end = std::min(end + 1, text_.size());
    if (!out_.tokens.empty() && out_.tokens.back().kind == Kind::kForeign)
      out_.tokens.back().text += text_.substr(at_, end - at_);
    else
      add(Kind::kForeign, text_.substr(at_, end - at_));
    at_ = end;
  }

  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void take(Kind kind, std::size_t length) {
    length = std::min(length, text_.size() - at_);
    add(kind, text_.substr(at_, length));
    at_ += length;
  }

  void cut() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (line_start && c == '#') return;
      if (std::isspace(static_cast<unsigned char>(c))) {
        std::size_t length = 0;
        while (std::isspace(static_cast<unsigned char>(peek(length)))) {
          line_start |= peek(length) == '\n';
          ++length;
        }
        take(Kind::kBlank, length);
        continue;
      }
      line_start = false;
      if (const std::size_t prefix = string_prefix(); prefix != kNone)
        take_string(prefix);
      else if (word_start(c))
        take_while(Kind::kWord);
      else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1)))))
        take_number();
      else
        take(Kind::kSign, sign_length());
    }
  }

  static constexpr std::size_t kNone = ~std::size_t{0};
  // How many characters stand before the quote of a string or character; kNone: there is none here.
  std::size_t string_prefix() const {
    std::size_t length = 0;
    while (length < 3 && word_part(peek(length))) ++length;
    const std::string_view word = text_.substr(at_, length);
    constexpr std::array<std::string_view, 10> kPrefixes = {"",  "L",  "u",  "U",  "u8",
                                                            "R", "LR", "uR", "UR", "u8R"};
    if (peek(length) != '"' && peek(length) != '\'') return kNone;
    return std::find(kPrefixes.begin(), kPrefixes.end(), word) != kPrefixes.end() ? length : kNone;
  }

  void take_string(std::size_t prefix) {
    const char quote = peek(prefix);
    if (prefix > 0 && peek(prefix - 1) == 'R' && quote == '"') {
      const std::size_t open = text_.find('(', at_);
      if (open != text_.npos) {
        const std::string end =
            ")" + std::string(text_.substr(at_ + prefix + 1, open - at_ - prefix - 1)) + "\"";
        const std::size_t close = text_.find(end, open);
        return take(Kind::kString, close == text_.npos ? text_.size() : close + end.size() - at_);
      }
    }
    std::size_t length = prefix + 1;
    while (at_ + length < text_.size() && peek(length) != quote && peek(length) != '\n')
      length += peek(length) == '\\' ? 2 : 1;
    take(Kind::kString, length + 1);
  }

  void take_while(Kind kind) {
    std::size_t length = 1;
    while (word_part(peek(length))) ++length;
    take(kind, length);
  }

  void take_number() {
    std::size_t length = 1;
    auto exponent = [&](char c) { return c == 'e' || c == 'E' || c == 'p' || c == 'P'; };
    while (word_part(peek(length)) || peek(length) == '.' || peek(length) == '\'' ||
           ((peek(length) == '+' || peek(length) == '-') && exponent(peek(length - 1))))
      ++length;
    take(Kind::kNumber, length);
  }

  std::size_t sign_length() const {
    for (std::string_view sign : {"<<<", ">>>"})
      if (text_.substr(at_, 3) == sign) return sign == "<<<" ? 3 : 1;
    for (std::string_view sign : {"::", "->", "&&", "||", "==", "!=", "<=", "+=", "-=", "*=", "/="})
      if (text_.substr(at_, 2) == sign) return 2;
    return 1;
  }

  std::string_view text_, own_;
  std::size_t at_ = 0;
  int line_ = 1, file_ = 0;
  std::vector<bool> mine_ = {true};
  TokenList out_;
};

}  // namespace

TokenList tokenise(std::string_view text, std::string_view own) { return Tokeniser(text, own).run(); }

std::size_t TokenList::next(std::size_t at) const {
  while (at < tokens.size() && !tokens[at].is_code()) ++at;
  return at;
}

std::ptrdiff_t TokenList::previous(std::ptrdiff_t at) const {
  while (at >= 0 && !tokens[static_cast<std::size_t>(at)].is_code()) --at;
  return at;
}

std::size_t TokenList::closing(std::size_t open) const {
  const bool angles = tokens[open].is("<");
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != Token::Kind::kSign) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{" || (angles && token.text == "<")) ++depth;
    if (token.text == ")" || token.text == "]" || token.text == "}" || (angles && token.text == ">"))
      if (--depth == 0) return i;
  }
  return tokens.size();
}

std::string TokenList::text() const {
  std::string all;
  for (const Token& token : tokens) all += token.text;
  return all;
}

}  // namespace kforge::emulate
