#include "report/absent_baselines.h"

#include "base/readable.h"

namespace kforge {

std::vector<std::string> absent_lines(const std::vector<AbsentBaselineNote>& absent, bool explain) {
  std::vector<std::string> lines;
  std::string names;
  for (const AbsentBaselineNote& note : absent) {
    if (explain || note.remedy.empty())
      lines.push_back(fmt::format("no {}: {}{}", note.name, printable(note.reason),
                                  note.remedy.empty() ? "" : "; " + printable(note.remedy)));
    else
      names += (names.empty() ? "" : ", ") + note.name;
  }
  if (!names.empty()) lines.push_back(fmt::format("no {} (scripts/setup.sh platforms)", names));
  return lines;
}

}  // namespace kforge
