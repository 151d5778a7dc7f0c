#include "base/environment.h"

#include <unistd.h>

#include <string_view>

namespace kforge {

std::map<std::string, std::string> whole_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    if (auto equals = text.find('='); equals != text.npos)
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

}  // namespace kforge
