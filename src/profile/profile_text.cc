// A profile as agents read it.
#include <fmt/core.h>

#include <algorithm>

#include "generate/quote.h"
#include "profile/profile_candidate.h"

namespace kforge {

const Fact* find_fact(const Profile& profile, std::string_view name) {
  const Fact* found = nullptr;
  for (const Fact& fact : profile.facts)
    if (fact.name == name) found = &fact;
  return found;
}

std::string profile_summary(const Profile& profile, std::size_t limit_bytes) {
  std::string text;
  for (const Fact& fact : profile.facts) {
    std::string line = fmt::format("- {}: {:.4g}{}{} ({})\n", single_line(fact.name, 60), fact.value,
                                   fact.unit.empty() || fact.unit == "%" ? "" : " ", fact.unit,
                                   single_line(fact.source, 40));
    if (text.size() + line.size() > limit_bytes / 2) break;
    text += line;
  }
  for (const ProfileText& part : profile.texts) {
    if (part.title == "hot loop") continue;  // a block of its own
    std::size_t room = limit_bytes > text.size() + 200 ? limit_bytes - text.size() - 200 : 0;
    if (room < 200) break;
    text += fmt::format("\n{} ({}):\n{}", single_line(part.title, 100), single_line(part.source, 40),
                        fenced(shorten(clean_text(part.text), std::min<std::size_t>(room, 4'000))));
  }
  return text;
}

std::string hot_loop_of(const Profile& profile, std::size_t limit_bytes) {
  for (const ProfileText& part : profile.texts)
    if (part.title == "hot loop") return fenced(shorten(clean_text(part.text), limit_bytes));
  return "";
}

}  // namespace kforge
