// The notes of a platform as this machine's programs need them.
#include <algorithm>

#include "generate/prompt_facts.h"

namespace kforge {
namespace {

constexpr std::string_view kOpening = "(machines with ";

// "## AMX (machines with amx)" -> "amx"; "" for a heading that speaks of every machine.
std::string_view feature_of_heading(std::string_view heading) {
  std::size_t at = heading.rfind(kOpening);
  if (at == std::string_view::npos || !heading.ends_with(')')) return "";
  heading.remove_prefix(at + kOpening.size());
  heading.remove_suffix(1);
  return heading;
}

// "- (machines with avx512f) Text" -> "avx512f", and the line becomes "- Text".
std::string take_feature_of_point(std::string& line) {
  static constexpr std::string_view kPoint = "- (machines with ";
  std::size_t end = line.find(") ");
  if (!line.starts_with(kPoint) || end == std::string::npos) return "";
  std::string feature = line.substr(kPoint.size(), end - kPoint.size());
  line.erase(2, end);
  return feature;
}

}  // namespace

std::string notes_for(std::string_view notes, const Machine* machine) {
  auto lacks = [&](std::string_view feature) {
    return machine && !feature.empty() && !machine->features.contains(std::string(feature));
  };
  std::string shown;
  bool skipped_section = false, skipped_point = false;
  // Its title: the prompt has a heading of its own.
  if (notes.starts_with("# "))
    notes.remove_prefix(std::min(notes.find_first_not_of('\n', notes.find('\n')), notes.size()));
  while (!notes.empty()) {
    std::size_t end = std::min(notes.find('\n'), notes.size() - 1);
    std::string line(notes.substr(0, end + 1));
    notes.remove_prefix(line.size());
    std::string_view heading =
        line.ends_with('\n') ? std::string_view(line).substr(0, line.size() - 1) : line;
    if (heading.starts_with("## ")) skipped_section = lacks(feature_of_heading(heading));
    // A point goes on with lines that are indented.
    if (!line.starts_with("  ")) skipped_point = lacks(take_feature_of_point(line));
    if (!skipped_section && !skipped_point) shown += line;
  }
  return shown;
}

}  // namespace kforge
