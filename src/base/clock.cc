#include "base/clock.h"

#include <algorithm>
#include <ctime>

namespace kforge {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string minute_of(std::string_view utc) {
  std::string text(utc.substr(0, 16));
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string utc_now() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace kforge
