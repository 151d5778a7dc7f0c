#include "generate/reply_edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "base/text.h"
#include "generate/quote.h"

namespace kforge {
namespace {

constexpr std::size_t kMostEditedBytes = 1 << 20;

using Lines = std::vector<std::string_view>;

std::string_view without_tail(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}
std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return without_tail(line);
}

// "<<<<<<< SEARCH": 5 to 9 of the character, then the word (none for "=======").
bool is_marker(std::string_view line, char c, std::string_view word) {
  line = without_tail(line);
  std::size_t length = std::min(line.find_first_not_of(c), line.size());
  if (length < 5 || length > 9) return false;
  line.remove_prefix(length);
  return without_indent(line) == word;
}

// Start positions of `part` in `whole`: Knuth, Morris and Pratt, because both may be made to be slow.
std::vector<std::size_t> find_all(const Lines& whole, const Lines& part, std::size_t most) {
  std::vector<std::size_t> found;
  if (part.empty() || part.size() > whole.size()) return found;
  std::vector<std::size_t> border(part.size() + 1, 0);
  for (std::size_t i = 1, k = 0; i < part.size(); ++i) {
    while (k > 0 && part[i] != part[k]) k = border[k];
    if (part[i] == part[k]) ++k;
    border[i + 1] = k;
  }
  for (std::size_t i = 0, k = 0; i < whole.size() && found.size() < most; ++i) {
    while (k > 0 && (k == part.size() || whole[i] != part[k])) k = border[k];
    if (whole[i] == part[k]) ++k;
    if (k == part.size()) found.push_back(i + 1 - k);
  }
  return found;
}

Lines map_lines(const Lines& lines, std::string_view (*change)(std::string_view)) {
  Lines changed;
  changed.reserve(lines.size());
  for (std::string_view line : lines) changed.push_back(change(line));
  return changed;
}

// Blank lines around the searched text are an accident of writing.
void drop_blank_ends(Lines& lines) {
  while (!lines.empty() && without_indent(lines.front()).empty()) lines.erase(lines.begin());
  while (!lines.empty() && without_indent(lines.back()).empty()) lines.pop_back();
}

std::string_view indent_of(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// The replacement with the indentation the file has: what the first matched line has more, each line gets.
std::string reindented(std::string_view replace, std::string_view in_file, std::string_view in_search) {
  std::string text;
  bool deeper = in_file.size() >= in_search.size();
  std::string_view extra = deeper ? in_file.substr(0, in_file.size() - in_search.size()) : std::string_view();
  std::size_t less = deeper ? 0 : in_search.size() - in_file.size();
  for (std::string_view line : lines_of(replace)) {
    if (without_indent(line).empty()) {
      text += '\n';
      continue;
    }
    line.remove_prefix(std::min(less, indent_of(line).size()));
    text += fmt::format("{}{}\n", extra, line);
  }
  return text;
}

// Lines of the file that look most like the ones searched for, for the message.
std::string most_similar(const Lines& file, const Lines& search) {
  constexpr std::size_t kMostLines = 5'000, kMostSearched = 60;
  std::size_t window = std::min(search.size(), kMostSearched), best = 0, best_score = 0;
  for (std::size_t at = 0; at + window <= std::min(file.size(), kMostLines); ++at) {
    std::size_t score = 0;
    for (std::size_t i = 0; i < window; ++i) {
      std::string_view line = without_indent(search[i]);
      score += !line.empty() && line == without_indent(file[at + i]);
    }
    if (score > best_score) best = at, best_score = score;
  }
  if (best_score == 0) return "";
  std::string text;
  for (std::size_t i = 0; i < window; ++i) text += fmt::format("{}\n", file[best + i]);
  return fmt::format("The most similar place, from line {} on, is:\n{}", best + 1,
                     fenced(shorten(text, 1'500)));
}

std::string quoted_search(const Edit& edit) { return fenced(shorten(edit.search, 600)); }

struct Place {
  std::size_t line, count;
  bool indent_differs;
};

std::expected<Place, std::string> find_place(const Lines& file, const Lines& search, const Edit& edit,
                                             std::size_t number) {
  for (bool ignore_indent : {false, true}) {
    auto change = ignore_indent ? without_indent : without_tail;
    auto found = find_all(map_lines(file, change), map_lines(search, change), 3);
    if (found.size() == 1) return Place{found[0], search.size(), ignore_indent};
    if (found.size() > 1)
      return std::unexpected(
          fmt::format("Edit {} matches more than one place (lines {} and {} among others): add lines around "
                      "it until it is unique.\n{}",
                      number, found[0] + 1, found[1] + 1, quoted_search(edit)));
  }
  return std::unexpected(fmt::format("Edit {} matches nothing in the file. It searched for:\n{}{}", number,
                                     quoted_search(edit), most_similar(file, search)));
}

}  // namespace

bool has_edits(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_marker(text.substr(at, end - at), '<', "SEARCH")) return true;
    at = end + 1;
  }
  return false;
}

std::expected<std::vector<Edit>, std::string> parse_edits(std::string_view text) {
  std::vector<Edit> edits;
  enum class In { kNothing, kSearch, kReplace } in = In::kNothing;
  std::size_t start = 0, search_end = 0, replace_start = 0;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    std::size_t next = std::min(end + 1, text.size());
    if (is_marker(line, '<', "SEARCH")) {
      if (in != In::kNothing)
        return std::unexpected(
            "a SEARCH marker stands inside an edit that has not ended with >>>>>>> REPLACE");
      in = In::kSearch, start = next;
    } else if (in == In::kSearch && is_marker(line, '=', "")) {
      in = In::kReplace, search_end = at, replace_start = next;
    } else if (in == In::kReplace && is_marker(line, '>', "REPLACE")) {
      edits.push_back(
          {text.substr(start, search_end - start), text.substr(replace_start, at - replace_start)});
      in = In::kNothing;
      if (edits.size() > kMostEdits)
        return std::unexpected(fmt::format("there are more than {} edits: send the whole file", kMostEdits));
    }
    if (end >= text.size()) break;
    at = end + 1;
  }
  if (in == In::kSearch) return std::unexpected("an edit has no ======= line after its SEARCH part");
  if (in == In::kReplace) return std::unexpected("an edit does not end with >>>>>>> REPLACE");
  if (edits.empty()) return std::unexpected("there is no edit");
  return edits;
}

std::expected<std::string, std::string> apply_edits(std::string_view file, const std::vector<Edit>& edits) {
  if (file.size() > kMostEditedBytes)
    return std::unexpected("the file is too large for edits: send it whole, and shorter");
  Lines lines = lines_of(file);
  std::deque<std::string> moved;  // replacements whose indentation was changed; `lines` points into them
  for (std::size_t i = 0; i < edits.size(); ++i) {
    Lines search = lines_of(edits[i].search);
    drop_blank_ends(search);
    if (search.empty())
      return std::unexpected(
          fmt::format("Edit {} has an empty SEARCH part: say where the new lines belong", i + 1));
    auto place = find_place(lines, search, edits[i], i + 1);
    if (!place) return std::unexpected(place.error());
    std::string_view text = edits[i].replace;
    if (place->indent_differs)
      text = moved.emplace_back(reindented(text, indent_of(lines[place->line]), indent_of(search.front())));
    Lines replace = lines_of(text);
    auto first = lines.begin() + static_cast<std::ptrdiff_t>(place->line);
    auto at = lines.erase(first, first + static_cast<std::ptrdiff_t>(place->count));
    lines.insert(at, replace.begin(), replace.end());
  }
  std::string text;
  for (std::string_view line : lines) (text += line) += '\n';
  return text;
}

}  // namespace kforge
