// A profile as agents read it.
#include <fmt/core.h>

#include <algorithm>

#include "generate/quote.h"
#include "profile/profile_candidate.h"

namespace kforge {

namespace {

// Of these, none is the ordinary case.
bool says_nothing_when_zero(std::string_view name) {
  for (std::string_view ordinary :
       {"samples_libm", "samples_libc", "samples_system", "hot_loop_spills", "hot_loop_gathers",
        "hot_loop_inserts", "hot_loop_divisions", "hot_loop_calls"})
    if (name == ordinary) return true;
  return false;
}

}  // namespace

const Fact* find_fact(const Profile& profile, std::string_view name) {
  const Fact* found = nullptr;
  for (const Fact& fact : profile.facts)
    if (fact.name == name) found = &fact;
  return found;
}

bool shared_processors(const Profile& profile) {
  auto value = [&](std::string_view name, double otherwise) {
    const Fact* fact = find_fact(profile, name);
    return fact ? fact->value : otherwise;
  };
  double threads = value("threads", value("threads_seen", 1));
  return threads >= 2 && value("threads_seen", 0) >= threads && value("thread_balance", 0) >= 0.7 &&
         value("thread_use", 1) < 0.6;
}

std::string profile_summary(const Profile& profile, std::size_t limit_bytes) {
  std::string text;
  if (shared_processors(profile))
    text +=
        "The machine was busy: the threads shared the work evenly but got only part of the processors' time. "
        "Figures about threads, waiting and the share of the roofline are those of a disturbed run.\n\n";
  for (const Fact& fact : profile.facts) {
    if (fact.value == 0 && says_nothing_when_zero(fact.name)) continue;
    std::string line = fmt::format("- {}: {:.4g}{}{} ({})\n", single_line(fact.name, 60), fact.value,
                                   fact.unit.empty() || fact.unit == "%" ? "" : " ", fact.unit,
                                   single_line(fact.source, 40));
    if (text.size() + line.size() > limit_bytes / 2) break;
    text += line;
  }
  for (const ProfileText& part : profile.texts) {
    if (part.title == kHotLoopTitle) continue;  // a block of its own
    std::size_t room = limit_bytes > text.size() + 200 ? limit_bytes - text.size() - 200 : 0;
    if (room < 200) break;
    text += fmt::format("\n{} ({}):\n{}", single_line(part.title, 100), single_line(part.source, 40),
                        fenced(shorten(clean_text(part.text), std::min<std::size_t>(room, 4'000))));
  }
  return text;
}

std::string hot_loop_of(const Profile& profile, std::size_t limit_bytes) {
  for (const ProfileText& part : profile.texts)
    if (part.title == kHotLoopTitle) return fenced(shorten(clean_text(part.text), limit_bytes));
  return "";
}

}  // namespace kforge
