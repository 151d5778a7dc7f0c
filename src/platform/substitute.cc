#include "platform/substitute.h"

#include <functional>

namespace kforge {
namespace {

// Calls text(piece) and variable(name) for the parts of an argument in order.
Result<void> split(std::string_view argument, const std::function<void(std::string_view)>& text,
                   const std::function<Result<void>(std::string_view)>& variable) {
  while (!argument.empty()) {
    std::size_t dollar = argument.find('$');
    if (dollar != 0) text(argument.substr(0, dollar));
    if (dollar == std::string_view::npos) return {};
    argument.remove_prefix(dollar);
    if (argument.starts_with("$$")) {
      text("$");
      argument.remove_prefix(2);
    } else if (argument.starts_with("${")) {
      std::size_t end = argument.find('}');
      if (end == std::string_view::npos) return fail("'{}' has no closing brace", argument);
      KF_TRY_VOID(variable(argument.substr(2, end - 2)));
      argument.remove_prefix(end + 1);
    } else {
      return fail("'{}': a dollar sign is written $$", argument);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> substitute(const std::vector<std::string>& argv,
                                            const Substitutions& values) {
  std::vector<std::string> result;
  for (const std::string& argument : argv) {
    if (argument.starts_with("${") && argument.find('}') == argument.size() - 1) {
      auto value = values.find(std::string_view(argument).substr(2, argument.size() - 3));
      if (value == values.end()) return fail("nothing is known by the name {}", argument);
      result.insert(result.end(), value->second.begin(), value->second.end());
      continue;
    }
    std::string built;
    KF_TRY_VOID(split(
        argument, [&](std::string_view text) { built += text; },
        [&](std::string_view name) -> Result<void> {
          auto value = values.find(name);
          if (value == values.end()) return fail("nothing is known by the name ${{{}}}", name);
          if (value->second.size() != 1)
            return fail("${{{}}} is a list of {} and can only stand alone", name, value->second.size());
          built += value->second[0];
          return {};
        }));
    result.push_back(std::move(built));
  }
  return result;
}

Result<std::vector<std::string>> variables_in(std::string_view argument) {
  std::vector<std::string> names;
  KF_TRY_VOID(split(
      argument, [](std::string_view) {},
      [&](std::string_view name) -> Result<void> {
        names.emplace_back(name);
        return {};
      }));
  return names;
}

}  // namespace kforge
