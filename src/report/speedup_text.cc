#include "report/speedup_text.h"

#include <fmt/core.h>

namespace kforge {

std::string caution(const Speedup& s) {
  switch (shown_by(s)) {
    case Shown::kFaster:
      return "";
    case Shown::kSlower:
      return fmt::format("it is slower than {}", s.against);
    case Shown::kNoDifference:
      return "the interval holds 1: no difference was shown";
  }
  return "";
}

std::string interval_text(const Speedup& s) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", s.value, s.lo, s.hi);
}

std::string headline_of(const Speedup& s) {
  std::string text = fmt::format("{} over {}", interval_text(s), s.against);
  std::string words = caution(s);
  return words.empty() ? text : text + "; " + words;
}

}  // namespace kforge
