#include "build/compiler_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace kforge {
namespace {

constexpr std::size_t kLongestLine = 220;
constexpr std::size_t kLinesPerMessage = 7;
constexpr std::size_t kNotesPerError = 2;

enum class Kind { kError, kWarning, kNote, kContext };

// One message with the lines that belong to it (source line, caret) and its notes.
struct Message {
  Kind kind;
  std::string text;               // first line
  std::vector<std::string> more;  // following lines
  std::vector<Message> notes;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "kernel.cc:12:3: error: ..." and the linker's ways of saying it.
Kind kind_of(std::string_view line) {
  for (std::string_view mark : {" error: ", " fatal error: ", "Error: "})
    if (contains(line, mark)) return Kind::kError;
  if (line.starts_with("error: ") || line.starts_with("fatal error: ")) return Kind::kError;
  for (std::string_view mark :
       {"undefined reference to", "multiple definition of", "ld: cannot find", "internal compiler error"})
    if (contains(line, mark)) return Kind::kError;
  if (contains(line, " warning: ") || contains(line, "Warning: ")) return Kind::kWarning;
  if (contains(line, " note: ")) return Kind::kNote;
  return Kind::kContext;
}

// The lines that say how the compiler got there, and summaries that say nothing.
bool is_noise(std::string_view line) {
  for (std::string_view start : {"In file included from", "                 from", "compilation terminated",
                                 "collect2: ", "In member function"})
    if (line.starts_with(start)) return true;
  for (std::string_view part : {"required from ", "required by substitution", "In instantiation of",
                                "In function '", "At global scope:", "In substitution of", "in function `",
                                "recursively required", "Assembler messages:", "skipping ", "ld returned "})
    if (contains(line, part)) return true;
  return false;
}

// Source lines and carets start with blanks and a bar: "   12 |   foo();" and "      |   ^~~".
bool is_excerpt(std::string_view line) {
  std::size_t bar = line.find('|');
  return bar != std::string_view::npos && bar < 12 &&
         line.substr(0, bar).find_first_not_of(" 0123456789+") == std::string_view::npos;
}

// For terminals and readers of UTF-8, and no longer than a line should be.
std::string readable_line(std::string_view line) {
  bool long_line = line.size() > kLongestLine;
  return printable(line.substr(0, kLongestLine)) + (long_line ? " ..." : "");
}

std::string without(std::string text, const std::vector<std::string>& hidden) {
  for (const std::string& part : hidden)
    for (std::size_t at = 0; !part.empty() && (at = text.find(part, at)) != std::string::npos;)
      text.erase(at, part.size());
  return text;
}

// gfortran says where in a line of its own, then shows the source, then says what:
//   kernel.f90:12:8:
//      12 |   y = z
//   Error: Symbol 'z' at (1) has no IMPLICIT type
bool is_place(std::string_view line) {
  if (!line.ends_with(':')) return false;
  line.remove_suffix(1);
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos || colon + 1 == line.size()) return false;
    if (line.substr(colon + 1).find_first_not_of("0123456789-") != std::string_view::npos) return false;
    line = line.substr(0, colon);
  }
  return !line.empty();
}

// "kernel.f90:12:8: error: Symbol ...", as other compilers say it.
std::string joined(const std::string& place, const std::string& line) {
  for (const auto& [mark, word] :
       {std::pair{"Error: ", "error"}, {"Fatal Error: ", "fatal error"}, {"Warning: ", "warning"}})
    if (line.starts_with(mark))
      return fmt::format("{} {}: {}", place, word, line.substr(std::string_view(mark).size()));
  return line;
}

std::vector<Message> parse(std::string_view raw, const std::vector<std::string>& hidden) {
  std::vector<Message> messages;
  Message* current = nullptr;
  std::string place_before;  // of the message to come, with the source shown below it
  std::vector<std::string> shown;
  while (!raw.empty()) {
    std::size_t end = std::min(raw.find('\n'), raw.size());
    std::string line = readable_line(without(std::string(raw.substr(0, end)), hidden));
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (line.empty()) continue;
    if (is_place(line)) {
      place_before = std::move(line);
      shown.clear();
      current = nullptr;
      continue;
    }
    Kind kind = is_excerpt(line) ? Kind::kContext : kind_of(line);
    if (kind == Kind::kContext) {
      if (is_noise(line))
        current = is_excerpt(line) ? current : nullptr;
      else if (current && current->more.size() < kLinesPerMessage)
        current->more.push_back(std::move(line));
      else if (!place_before.empty() && shown.size() < kLinesPerMessage)
        shown.push_back(std::move(line));
      continue;
    }
    // A note belongs to the message before it.
    auto& place = kind == Kind::kNote && !messages.empty() ? messages.back().notes : messages;
    if (!place_before.empty()) line = joined(std::exchange(place_before, {}), line);
    place.push_back({kind, std::move(line), std::exchange(shown, {}), {}});
    current = &place.back();
  }
  return messages;
}

// The message without its place: the same complaint about fifty lines is one complaint.
std::string complaint(const std::string& text) {
  std::size_t mark = text.find(": error: ");
  if (mark == std::string::npos) mark = text.find(": warning: ");
  return mark == std::string::npos ? text : text.substr(mark);
}

void append(std::string& out, const Message& message) {
  out += message.text + "\n";
  for (const std::string& line : message.more) out += line + "\n";
}

}  // namespace

std::string trim_compiler_log(std::string_view raw, const std::vector<std::string>& hidden,
                              std::size_t limit) {
  std::vector<Message> messages = parse(raw, hidden);
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.kind < b.kind; });
  std::string out;
  std::set<std::string> said;
  std::size_t left_errors = 0, left_warnings = 0, repeated = 0;
  for (const Message& message : messages) {
    if (!said.insert(complaint(message.text)).second) {
      ++repeated;
      continue;
    }
    std::string piece;
    append(piece, message);
    std::size_t notes = 0;
    for (const Message& note : message.notes) {
      // Every overload that did not fit is a note; those inside the system's headers help nobody.
      bool of_system = contains(note.text, "/usr/") || contains(note.text, "template argument deduction");
      if (!of_system && notes++ < kNotesPerError) append(piece, note);
    }
    if (out.size() + piece.size() > limit && !out.empty()) {
      ++(message.kind == Kind::kError ? left_errors : left_warnings);
      continue;
    }
    out += piece.substr(0, limit);
  }
  if (left_errors + left_warnings + repeated > 0)
    out += fmt::format("({} more errors, {} more warnings, {} repetitions left out)\n", left_errors,
                       left_warnings, repeated);
  // Nothing that looks like a message: the compiler's last words are better than none.
  if (out.empty() && !raw.empty())
    out = printable(
        without(std::string(raw.substr(raw.size() - std::min<std::size_t>(raw.size(), 200))), hidden));
  return out;
}

}  // namespace kforge
