#include "base/secrets.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <set>

namespace kforge {
namespace {

// Shorter values ("none", "dummy") guard nothing, and taking them out would spoil texts.
constexpr std::size_t kShortestSecret = 8;
constexpr std::string_view kMask = "[key]";

// Never destroyed: texts may be cleaned after main().
struct Known {
  std::mutex mutex;
  std::set<std::string> values;
};
Known& known() {
  static auto* all = new Known;
  return *all;
}

bool is_key_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '-' ||
         letter == '*' || letter == '.';
}

// Masks the run of key letters after each `mark`, where the mark begins a word and the run is long enough.
void mask_after(std::string& text, std::string_view mark, bool keep_mark, std::size_t least) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1]))) continue;
    std::size_t begin = at + (keep_mark ? mark.size() : 0), end = at + mark.size();
    while (end < text.size() && is_key_letter(text[end])) ++end;
    if (end - begin < least) continue;
    text.replace(begin, end - begin, kMask);
  }
}

}  // namespace

Secret::Secret(std::string value) : value_(std::move(value)) {
  if (value_.size() < kShortestSecret) return;
  std::lock_guard lock(known().mutex);
  known().values.insert(value_);
}

std::string without_known_secrets(std::string text) {
  std::lock_guard lock(known().mutex);
  for (const std::string& value : known().values)
    for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + kMask.size()))
      text.replace(at, value.size(), kMask);
  return text;
}

std::string without_secrets(std::string text) {
  text = without_known_secrets(std::move(text));
  mask_after(text, "sk-", false, 8);
  mask_after(text, "AIza", false, 8);
  mask_after(text, "Bearer ", true, 8);
  return text;
}

bool is_secret_variable(std::string_view name, std::string_view value) {
  for (std::string_view ending : {"_KEY", "_TOKEN", "SECRET", "PASSWORD", "_CREDENTIALS", "_CUSTOM_HEADERS"})
    if (name.ends_with(ending)) return true;
  if (name.find("API_KEY") != std::string_view::npos) return true;
  std::lock_guard lock(known().mutex);
  return std::ranges::any_of(known().values, [value](const std::string& secret) {
    return value.find(secret) != std::string_view::npos;
  });
}

std::vector<std::string> environment_for_children() {
  std::vector<std::string> kept;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    if (!is_secret_variable(text.substr(0, equals), text.substr(equals + 1))) kept.emplace_back(text);
  }
  return kept;
}

}  // namespace kforge
