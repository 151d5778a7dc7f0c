#include "report/page_room.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/readable.h"

namespace kforge {

bool PageRoom::take(std::size_t bytes) {
  if (bytes > left_) return false;
  left_ -= bytes;
  return true;
}

Markup PageRoom::text(std::string_view text, std::size_t most) {
  const std::size_t room = std::min(most, left_);
  Markup all = markup_of(whole_characters(text, room));
  std::string_view shown = whole_characters(text, room);
  // Escaping makes text longer, some of it more than the rest: cut by the share that is too much until it
  // fits.
  while (all.text.size() > room) {
    shown = whole_characters(shown, shown.size() * std::max(room, std::size_t{1}) / (all.text.size() + 1));
    all = markup_of(shown);
  }
  left_ -= all.text.size();
  if (shown.size() < text.size())
    all.text += fmt::format("\n[{} of {} left out]\n",
                            readable_bytes(static_cast<double>(text.size() - shown.size())),
                            readable_bytes(static_cast<double>(text.size())));
  return all;
}

std::string short_line(std::string_view text, std::size_t most) {
  return shortened(text.substr(0, text.find('\n')), most);
}

}  // namespace kforge
