#include "generate/prompt_file.h"

#include <kainjow/mustache.hpp>

#include "base/files.h"

namespace kforge {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::size_t kPromptBytes = 1 << 20;

// A line that is nothing but a section's tag belongs to no text: it goes with its line end, as the mustache
// standard has it (the library leaves an empty line).
std::string without_tag_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size() - 1);
    std::string_view line = text.substr(0, end + 1), tag = line;
    text.remove_prefix(line.size());
    if (tag.ends_with('\n')) tag.remove_suffix(1);
    bool alone = tag.size() > 5 && tag.starts_with("{{") && tag.ends_with("}}") &&
                 std::string_view("#/^").contains(tag[2]) && tag.find("}}") == tag.size() - 2;
    out += alone ? tag : line;
  }
  return out;
}

Result<std::string> prompt_text(std::string_view name) {
  KF_TRY(fs::path root, data_root());
  auto text = read_file(root / "prompts" / (std::string(name) + ".mustache"), kPromptBytes);
  if (!text)
    return fail_with_remedy("the folder prompts/ belongs to KForge; KFORGE_DATA names where it lies",
                            text.error().message);
  return without_tag_lines(*text);
}

// A text that is empty counts as absent, so that {{#name}} can ask for it. Line ends are the template's
// business.
mustache::data value_of(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? mustache::data(mustache::data::type::bool_false) : mustache::data(text);
}

mustache::data object_of(const std::map<std::string, std::string>& texts) {
  mustache::data object(mustache::data::type::object);
  for (const auto& [name, text] : texts) object.set(name, value_of(text));
  return object;
}

// Names that {{> name}} asks for, so that a missing file is an error and not an empty place.
std::vector<std::string> partials_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("{{>"); at != std::string_view::npos; at = text.find("{{>", at + 3)) {
    std::string_view rest = text.substr(at + 3);
    rest = rest.substr(0, rest.find("}}"));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    names.emplace_back(rest.substr(0, rest.find(' ')));
  }
  return names;
}

}  // namespace

Result<std::string> render_prompt(std::string_view name, const PromptData& data) {
  KF_TRY(std::string text, prompt_text(name));
  mustache::data all = object_of(data.texts);
  for (const auto& [list_name, rows] : data.lists) {
    mustache::data list(mustache::data::type::list);
    for (const auto& row : rows) list.push_back(object_of(row));
    all.set(list_name, list);
  }
  for (const std::string& partial : partials_in(text)) {
    KF_TRY(std::string content, prompt_text(partial));
    while (content.ends_with('\n')) content.pop_back();  // the line it stands on has an end of its own
    all.set(partial, mustache::data(mustache::partial([content] { return content; })));
  }
  mustache::mustache prompt(text);
  prompt.set_custom_escape([](const std::string& s) { return s; });
  if (!prompt.is_valid()) return fail("prompts/{}.mustache: {}", name, prompt.error_message());
  std::string rendered = prompt.render(all);
  if (!prompt.is_valid()) return fail("prompts/{}.mustache: {}", name, prompt.error_message());
  return rendered;
}

}  // namespace kforge
