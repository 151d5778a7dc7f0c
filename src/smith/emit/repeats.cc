#include "smith/emit/repeats.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

namespace kforge::smith {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Calls `word` for words and `other` for what lies between them; numbers, 1e-05f as well, are no words.
template <class Word, class Other>
void split(std::string_view text, Word word, Other other) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    if (end == at)
      other(text.substr(at++, 1));
    else if (std::isdigit(static_cast<unsigned char>(text[at])))
      other(text.substr(at, end - at)), at = end;
    else
      word(text.substr(at, end - at)), at = end;
  }
}

}  // namespace

void visit_words(std::string_view text, const std::function<void(std::string_view)>& fn) {
  split(text, fn, [](std::string_view) {});
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  visit_words(text, [&](std::string_view word) { words.emplace(word); });
  return words;
}

std::string_view numbered_stem(std::string_view word) {
  std::string_view stem = word;
  while (!stem.empty() && std::isdigit(static_cast<unsigned char>(stem.back()))) stem.remove_suffix(1);
  return stem.size() == word.size() || !stem.ends_with('_') ? std::string_view()
                                                            : stem.substr(0, stem.size() - 1);
}

Skeleton skeleton_of(std::string_view text, const std::function<bool(std::string_view)>& is_name) {
  Skeleton skeleton;
  std::map<std::string, std::size_t, std::less<>> numbers;
  split(
      text,
      [&](std::string_view word) {
        if (!is_name(word)) {
          skeleton.shape += word;
          return;
        }
        const auto [known, is_new] = numbers.try_emplace(std::string(word), numbers.size());
        if (is_new) skeleton.names.emplace_back(word);
        skeleton.shape += fmt::format("\x01{}\x01", known->second);  // no text has this character
      },
      [&](std::string_view other) { skeleton.shape += other; });
  return skeleton;
}

}  // namespace kforge::smith
