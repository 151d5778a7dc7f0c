// The notes of a platform as this machine's programs need them.
#include <algorithm>

#include "generate/prompt_facts.h"

namespace kforge {
namespace {

// "## AMX (machines with amx)" -> "amx"; "" for a heading that speaks of every machine.
std::string_view feature_of(std::string_view heading) {
  constexpr std::string_view kOpening = "(machines with ";
  std::size_t at = heading.rfind(kOpening);
  if (at == std::string_view::npos || !heading.ends_with(')')) return "";
  heading.remove_prefix(at + kOpening.size());
  heading.remove_suffix(1);
  return heading;
}

}  // namespace

std::string notes_for(std::string_view notes, const Machine* machine) {
  std::string shown;
  bool skipping = false;
  while (!notes.empty()) {
    std::size_t end = std::min(notes.find('\n'), notes.size() - 1);
    std::string_view line = notes.substr(0, end + 1);
    notes.remove_prefix(line.size());
    std::string_view heading = line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
    if (heading.starts_with("## ")) {
      std::string_view feature = feature_of(heading);
      skipping = machine && !feature.empty() && !machine->features.contains(std::string(feature));
    }
    if (!skipping) shown += line;
  }
  return shown;
}

}  // namespace kforge
