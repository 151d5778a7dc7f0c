// The agents' prompts are Mustache files in prompts/; this fills one in. Nothing is escaped: prompts are
// text, not HTML.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

// An empty text is false for {{#name}}; a list repeats its section.
struct PromptData {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<std::map<std::string, std::string>>> lists;
};

// `name` is a file in data_root()/prompts without ".mustache"; {{> other}} reads another one. An Error names
// the file and what is wrong with it.
Result<std::string> render_prompt(std::string_view name, const PromptData& data);

}  // namespace kforge
