#include "generate/prompt_file.h"

#include <kainjow/mustache.hpp>

#include "base/files.h"

namespace kforge {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::size_t kPromptBytes = 1 << 20;

Result<std::string> prompt_text(std::string_view name) {
  KF_TRY(fs::path root, data_root());
  auto text = read_file(root / "prompts" / (std::string(name) + ".mustache"), kPromptBytes);
  if (!text)
    return fail_with_remedy("the folder prompts/ belongs to KForge; KFORGE_DATA names where it lies",
                            text.error().message);
  return text;
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

// "{{#name}}" -> "name", for a line that holds nothing else.
std::string_view lone_tag(std::string_view line, std::string_view opening) {
  if (!line.starts_with(opening) || !line.ends_with("}}")) return "";
  line.remove_prefix(opening.size());
  line.remove_suffix(2);
  return line.find('}') == std::string_view::npos ? line : "";
}

// Names within a list's section are those of its rows: where there are lists, a name that is not known may be
// one.
bool is_empty(const PromptData& data, const std::string& name) {
  auto text = data.texts.find(name);
  if (text == data.texts.end()) return data.lists.empty();
  return text->second.find_first_not_of('\n') == std::string::npos;
}

// Sections whose text is empty are cut out with the lines of their tags; the library would leave an empty
// line for each.
std::string without_empty_sections(std::string_view text, const PromptData& data) {
  std::string out, skipping;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    bool ended = end < text.size();
    text.remove_prefix(end + ended);
    if (!skipping.empty()) {
      if (lone_tag(line, "{{/") == skipping) skipping.clear();
      continue;
    }
    std::string section(lone_tag(line, "{{#"));
    if (!section.empty() && is_empty(data, section)) {
      skipping = section;
      continue;
    }
    out += line;
    if (ended) out += '\n';
  }
  return out;
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
  text = without_empty_sections(text, data);
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
