// The compiler's remarks about loops it could not vectorise (g++ -fopt-info-vec-optimized-missed, clang
// -Rpass-missed), as a handful of lines. The compiler says much more than that: it tries each loop with every
// vector length, complains of the loops around it and of the standard library's, and of single statements.
// Kept are loops of the program's own files, each reason once, those at the hot loop and the innermost first.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "generate/quote.h"
#include "profile/parsers.h"
#include "profile/source_loops.h"

namespace kforge {
namespace {

constexpr std::size_t kShownRemarks = 6, kMostRemarks = 10'000;
constexpr int kNear = 12;  // lines from the hot loop that still belong to it

enum class Kind : std::uint8_t { kLoopMissed, kReason, kCall, kVectorised, kOther };

struct Remark {
  std::string file, text;
  int line = 0, column = 0;
  Kind kind = Kind::kOther;
};

// A loop and one reason why it was not vectorised.
struct Missed {
  std::string file, text;
  int line = 0;
  bool innermost = true, hot = false;
};

// "statement clobbers memory: _44 = f (_4);" right after a loop means that call.
std::string call_in(std::string_view text) {
  text = text.substr(text.find(": ") + 2);
  if (std::size_t equals = text.find(" = "); equals != std::string_view::npos) text = text.substr(equals + 3);
  return fmt::format("not vectorized: it calls {}", single_line(text.substr(0, text.find(" (")), 80));
}

// Said of the last of several tries, whatever stood in the way of the others.
bool is_weak(std::string_view reason) { return reason.starts_with("not vectorized: no vectype"); }

// What ties a reason to this compilation ("_45 = *_44;") says nothing to a reader.
std::string reason_of(std::string_view text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    std::size_t name = i + 1 + (text[i + 1] == '*' ? 1 : 0);
    bool temporary = text[i] == ' ' && name + 1 < text.size() && text[name] == '_' &&
                     std::isdigit(static_cast<unsigned char>(text[name + 1]));
    if (!temporary) continue;
    text = text.substr(0, i);
    while (text.ends_with(':') || text.ends_with(' ')) text.remove_suffix(1);
    break;
  }
  return single_line(text, 160);
}

Kind kind_of(std::string_view text) {
  if (text.starts_with("loop vectorized") || text.starts_with("vectorized loop")) return Kind::kVectorised;
  if (text.starts_with("couldn't vectorize loop")) return Kind::kLoopMissed;
  if (text.starts_with("statement clobbers memory: ")) return Kind::kCall;
  // Remarks on straight-line code come with the same words.
  for (const char* other :
       {"not vectorized: no grouped", "not vectorized: not enough data-refs",
        "not vectorized: failed to find SLP", "not vectorized: vectorization is not profitable"})
    if (text.starts_with(other)) return Kind::kOther;
  bool reason = text.starts_with("not vectorized:") || text.starts_with("loop not vectorized");
  return reason ? Kind::kReason : Kind::kOther;
}

// "../src/kernel.cc:12:3: missed: not vectorized: ..." or "kernel.cc:12:3: remark: loop not vectorized: ..."
std::optional<Remark> remark_in(std::string_view line) {
  for (std::string_view word : {": missed: ", ": remark: ", ": optimized: "}) {
    std::size_t mark = line.find(word);
    if (mark == std::string_view::npos) continue;
    std::string_view place = line.substr(0, mark);
    std::size_t column = place.rfind(':');
    if (column == std::string_view::npos || column == 0) return std::nullopt;
    std::size_t number = place.rfind(':', column - 1);
    if (number == std::string_view::npos) return std::nullopt;
    Remark remark;
    auto [end, error] = std::from_chars(place.data() + number + 1, place.data() + column, remark.line);
    if (error != std::errc() || end != place.data() + column) return std::nullopt;
    std::from_chars(place.data() + column + 1, place.data() + place.size(), remark.column);
    remark.file = place.substr(0, number);
    std::string_view text = line.substr(mark + word.size());
    remark.kind = kind_of(text);
    remark.text = remark.kind == Kind::kCall ? call_in(text) : reason_of(text);
    return remark;
  }
  return std::nullopt;
}

std::string line_of(const SourceFile& source, int number) {
  std::string_view text = source.content;
  for (int i = 1; i < number && !text.empty(); ++i)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return single_line(text.substr(0, text.find('\n')), 100);
}

class RemarkReader {
 public:
  explicit RemarkReader(const Findings& findings) : findings_(findings) {}

  void read(std::string_view text) {
    std::optional<Remark> loop;  // whose reason comes next
    for (std::size_t count = 0; !text.empty() && count < kMostRemarks;) {
      std::size_t end = std::min(text.find('\n'), text.size());
      auto remark = remark_in(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!remark) continue;
      ++count;
      if (remark->kind == Kind::kLoopMissed)
        loop = std::move(remark);
      else if (remark->kind == Kind::kVectorised)
        note_vectorised(*remark);
      else if (remark->kind == Kind::kReason) {
        // g++ names the loop first, clang in the same line; a reason without a loop is about other code.
        if (loop || remark->text.starts_with("loop not")) add(loop ? *loop : *remark, remark->text);
        loop.reset();
      } else if (remark->kind == Kind::kCall && loop) {
        add(*loop, remark->text);
        loop.reset();
      }
    }
    std::erase_if(missed_, [&](const Missed& m) { return vectorised_.contains({m.file, m.line}); });
    std::set<std::pair<std::string, int>> explained;
    for (const Missed& m : missed_)
      if (!is_weak(m.text)) explained.emplace(m.file, m.line);
    std::erase_if(missed_, [&](const Missed& m) {
      return is_weak(m.text) && explained.contains({m.file, m.line});
    });
    std::ranges::stable_sort(missed_, [](const Missed& a, const Missed& b) {
      return std::tuple(!a.hot, !a.innermost, a.file, a.line) <
             std::tuple(!b.hot, !b.innermost, b.file, b.line);
    });
  }

  const std::vector<Missed>& missed() const { return missed_; }

  std::string text_of(const Missed& missed) const {
    return fmt::format("{}:{}: {}   `{}`\n", missed.file, missed.line, missed.text,
                       line_of(*source_of(missed.file), missed.line));
  }

 private:
  // By the path's end, but never a header of the system with the same name.
  const SourceFile* source_of(std::string_view path) const {
    if (!findings_.input || !findings_.input->candidate || path.starts_with("/usr/")) return nullptr;
    for (const SourceFile& source : findings_.input->candidate->files)
      if (path == source.name || path.ends_with("/" + source.name)) return &source;
    return nullptr;
  }

  const SourceLoop* loop_at(const SourceFile& source, const Remark& remark) {
    auto known = loops_.find(source.name);
    if (known == loops_.end()) known = loops_.emplace(source.name, SourceLoops(source.content)).first;
    return known->second.around(remark.line, remark.column);
  }

  void note_vectorised(const Remark& remark) {
    const SourceFile* source = source_of(remark.file);
    if (!source) return;
    const SourceLoop* loop = loop_at(*source, remark);
    vectorised_.emplace(source->name, loop ? loop->line : remark.line);
  }

  void add(const Remark& place, const std::string& reason) {
    const SourceFile* source = source_of(place.file);
    if (!source) return;
    const SourceLoop* loop = loop_at(*source, place);
    Missed missed{source->name, reason, loop ? loop->line : place.line};
    // The compiler gives a nest the place of a loop inside.
    bool about_a_nest = reason.find("loop nest") != std::string::npos ||
                        reason.find("nested loops") != std::string::npos ||
                        reason.find("inner loop") != std::string::npos;
    missed.innermost = (!loop || loop->innermost) && !about_a_nest;
    missed.hot = missed.innermost && is_hot(missed);
    if (seen_.insert(fmt::format("{}:{}:{}", missed.file, missed.line, reason)).second)
      missed_.push_back(missed);
  }

  bool is_hot(const Missed& missed) const {
    std::string name = missed.file.substr(missed.file.rfind('/') + 1);
    auto lines = findings_.hot_lines.find(name);
    if (lines == findings_.hot_lines.end()) return false;
    return std::ranges::any_of(lines->second,
                               [&](int line) { return std::abs(line - missed.line) <= kNear; });
  }

  const Findings& findings_;
  std::map<std::string, SourceLoops> loops_;
  std::set<std::pair<std::string, int>> vectorised_;
  std::set<std::string> seen_;
  std::vector<Missed> missed_;
};

}  // namespace

bool parse_remarks(const Said& said, Findings& findings) {
  RemarkReader reader(findings);
  reader.read(said.out.empty() ? std::string_view(said.err) : std::string_view(said.out));
  std::set<std::pair<std::string, int>> places, shown_places;
  for (const Missed& missed : reader.missed()) places.emplace(missed.file, missed.line);
  findings.fact("missed_loops", static_cast<double>(places.size()), "", said.profiler);
  if (reader.missed().empty()) return true;
  // With the hot loop known, what is said of other loops only distracts; with inner ones, what is said of
  // outer.
  const Missed& first = reader.missed().front();
  std::string shown;
  std::size_t count = 0;
  for (const Missed& missed : reader.missed()) {
    if (missed.hot != first.hot || missed.innermost != first.innermost || count == kShownRemarks) break;
    ++count;
    shown_places.emplace(missed.file, missed.line);
    shown += reader.text_of(missed);
  }
  if (std::size_t rest = places.size() - shown_places.size(); rest > 0)
    shown += fmt::format("({} more loop{} not vectorised)\n", rest, rest == 1 ? " was" : "s were");
  findings.profile.texts.push_back({first.hot ? "loops the compiler did not vectorise, near the hot loop"
                                              : "loops the compiler did not vectorise",
                                    shown, said.profiler});
  return true;
}

}  // namespace kforge
