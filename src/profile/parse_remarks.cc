// The compiler's remarks about loops it could not vectorise (g++ -fopt-info-vec-missed, clang -Rpass-missed),
// those at the hot loop first, with the source line each is about.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "generate/quote.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kShown = 12;
constexpr int kNear = 12;  // lines from the hot loop that still belong to it

struct Remark {
  std::string file, text;
  int line = 0;
  bool hot = false;
};

// "../src/kernel.cc:12:3: missed: not vectorized: ..." or "kernel.cc:12:3: remark: loop not vectorized: ..."
std::optional<Remark> remark_in(std::string_view line) {
  std::size_t mark = line.find(": missed: "), length = 10;
  if (mark == std::string_view::npos) mark = line.find(": remark: ");
  if (mark == std::string_view::npos) return std::nullopt;
  std::string_view place = line.substr(0, mark);
  std::size_t column = place.rfind(':');
  if (column == std::string_view::npos) return std::nullopt;
  std::size_t number = place.rfind(':', column - 1);
  if (number == std::string_view::npos || column == 0) return std::nullopt;
  Remark remark;
  auto [end, error] = std::from_chars(place.data() + number + 1, place.data() + column, remark.line);
  if (error != std::errc() || end != place.data() + column) return std::nullopt;
  std::string_view path = place.substr(0, number);
  std::size_t slash = path.rfind('/');
  remark.file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  remark.text = single_line(line.substr(mark + length), 160);
  return remark;
}

// The general sentence that comes with every reason, and remarks on single statements, say nothing.
bool says_nothing(std::string_view text) {
  return text.starts_with("couldn't vectorize loop") || text.starts_with("not vectorized: no vectype") ||
         text.starts_with("not vectorized: no grouped") || text.starts_with("statement clobbers") ||
         text.starts_with("vectorized loop") || text.starts_with("not consecutive access") ||
         text.starts_with("not vectorized: not enough data-refs");
}

const SourceFile* source_of(const Findings& findings, std::string_view file) {
  if (!findings.input || !findings.input->candidate) return nullptr;
  for (const SourceFile& source : findings.input->candidate->files)
    if (source.name == file || source.name.ends_with("/" + std::string(file))) return &source;
  return nullptr;
}

std::string line_of(const SourceFile& source, int number) {
  std::string_view text = source.content;
  for (int i = 1; i < number && !text.empty(); ++i)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return single_line(text.substr(0, text.find('\n')), 100);
}

bool is_hot(const Findings& findings, const Remark& remark) {
  auto lines = findings.hot_lines.find(remark.file);
  if (lines == findings.hot_lines.end()) return false;
  return std::ranges::any_of(lines->second, [&](int line) { return std::abs(line - remark.line) <= kNear; });
}

}  // namespace

bool parse_remarks(const Said& said, Findings& findings) {
  std::vector<Remark> remarks;
  std::set<std::pair<std::string, int>> places;
  std::set<std::string> seen;
  std::string_view text = said.out.empty() ? std::string_view(said.err) : std::string_view(said.out);
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    auto remark = remark_in(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!remark || says_nothing(remark->text) || !source_of(findings, remark->file)) continue;
    if (remarks.size() >= 10'000 ||
        !seen.insert(fmt::format("{}:{}:{}", remark->file, remark->line, remark->text)).second)
      continue;
    remark->hot = is_hot(findings, *remark);
    places.emplace(remark->file, remark->line);
    remarks.push_back(std::move(*remark));
  }
  findings.fact("missed_loops", static_cast<double>(places.size()), "", said.profiler);
  if (remarks.empty()) return true;
  // With the hot loop known, what is said of other loops only distracts.
  bool any_hot = std::ranges::any_of(remarks, &Remark::hot);
  std::string shown;
  std::size_t count = 0;
  for (const Remark& remark : remarks) {
    if ((any_hot && !remark.hot) || count == kShown) continue;
    ++count;
    shown += fmt::format("{}:{}: {}   `{}`\n", remark.file, remark.line, remark.text,
                         line_of(*source_of(findings, remark.file), remark.line));
  }
  findings.profile.texts.push_back({any_hot ? "loops the compiler did not vectorise, near the hot loop"
                                            : "loops the compiler did not vectorise",
                                    shown, said.profiler});
  return true;
}

}  // namespace kforge
