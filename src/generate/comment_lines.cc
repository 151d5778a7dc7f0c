#include "generate/comment_lines.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/text.h"

namespace kforge {
namespace {

class CommentScanner {
 public:
  explicit CommentScanner(std::string_view source) : source_(source) {}

  std::vector<CommentLine> run() {
    while (at_ < source_.size()) step();
    return std::move(found_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }

  // Goes to `end`, counting lines.
  void go(std::size_t end) {
    for (; at_ < std::min(end, source_.size()); ++at_)
      if (source_[at_] == '\n') ++line_, line_is_empty_ = true;
  }

  // Gives the end of the line.
  std::size_t note_comment(std::size_t mark) {
    std::size_t end = std::min(source_.find('\n', at_), source_.size());
    if (line_is_empty_) found_.push_back({line_, source_.substr(at_ + mark, end - at_ - mark)});
    return end;
  }

  // A literal that ends on its own line.
  void quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n')
      end += source_[end] == '\\' ? 2 : 1;
    go(end < source_.size() && source_[end] == '\n' ? end : end + 1);
  }

  // R"name( ... )name"
  void raw_string() {
    std::size_t open = source_.find('(', at_);
    if (open == source_.npos) return go(source_.size());
    std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    std::size_t end = source_.find(close, open);
    go(end == source_.npos ? source_.size() : end + close.size());
  }

  bool after_word() const {
    return at_ > 0 && (std::isalnum(static_cast<unsigned char>(source_[at_ - 1])) || source_[at_ - 1] == '_');
  }

  void step() {
    char c = source_[at_];
    if (rest().starts_with("//")) return go(note_comment(2));
    // In C a directive of the preprocessor, behind which anything may begin.
    if (c == '#') note_comment(1);
    if (rest().starts_with("/*")) {
      std::size_t end = source_.find("*/", at_ + 2);
      go(end == source_.npos ? source_.size() : end + 2);
      line_is_empty_ = false;
      return;
    }
    if (!std::isspace(static_cast<unsigned char>(c))) {
      bool raw = rest().starts_with("R\"");
      line_is_empty_ = false;
      if (raw) return raw_string();
      if (c == '"') return quoted('"');
      if (c == '\'' && !after_word()) return quoted('\'');  // else it separates digits
    }
    go(at_ + 1);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_is_empty_ = true;  // so far
  std::vector<CommentLine> found_;
};

}  // namespace

std::vector<CommentLine> comment_lines(std::string_view source, std::string_view mark) {
  if (mark == "//") return CommentScanner(source).run();
  std::vector<CommentLine> found;
  int line = 1;
  for (std::size_t at = 0; at < source.size(); ++line) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view text = trimmed(source.substr(at, end - at));
    if (text.starts_with(mark)) found.push_back({line, text.substr(mark.size())});
    at = end + 1;
  }
  return found;
}

}  // namespace kforge
