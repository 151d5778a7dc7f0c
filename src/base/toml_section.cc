#include "base/toml_section.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/nearest.h"

namespace kforge {
namespace {
const toml::table kEmpty;

// toml++ 3.3 takes for granted that a name follows the bracket of a table header (an assertion in debug
// builds, undefined behaviour in others), so this is looked at first. Returns the line of the first bad
// header, or 0.
int line_of_bad_header(std::string_view text) {
  int line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view row = text.substr(start, end - start);
    start = end + 1;
    row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size()));
    if (!row.starts_with('[')) continue;
    row.remove_prefix(row.starts_with("[[") ? 2 : 1);
    row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size()));
    auto first = static_cast<unsigned char>(row.empty() ? '\0' : row[0]);
    if (!std::isalnum(first) && !std::strchr("_-\"'", first == 0 ? ' ' : first) && first != ']') return line;
  }
  return 0;
}
}  // namespace

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  if (int line = line_of_bad_header(text)) return fail("{}:{}: a name must follow the bracket", file, line);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return fail("{}:{}: {}", file, error.source().begin.line, error.description());
  }
}

void TomlMistakes::add(const toml::source_region& where, std::string what) {
  if (first_) return;
  std::string line = where.begin.line > 0 ? fmt::format(":{}", where.begin.line) : "";
  first_ = Error{fmt::format("{}{}: {}", file_, line, what), remedy_};
}

std::string TomlSection::full(std::string_view key) const {
  return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

void TomlSection::mistake(std::string_view key, std::string what) {
  const toml::node* node = table_->get(key);
  mistakes_->add(node ? node->source() : table_->source(), std::move(what));
}

const toml::node* TomlSection::get(std::string_view key, bool required) {
  asked_.emplace_back(key);
  const toml::node* node = table_->get(key);
  if (!node && required) mistakes_->add(table_->source(), fmt::format("'{}' is missing", full(key)));
  return node;
}

std::string TomlSection::text(std::string_view key, bool required) {
  const toml::node* node = get(key, required);
  if (!node) return "";
  if (auto value = node->value_exact<std::string>()) return *value;
  mistake(key, fmt::format("'{}' must be a string", full(key)));
  return "";
}

std::string TomlSection::one_of(std::string_view key, const std::vector<std::string>& words,
                                std::string otherwise) {
  bool required = otherwise.empty();
  std::string value = text(key, required);
  if (value.empty()) return otherwise;
  if (std::ranges::find(words, value) != words.end()) return value;
  std::string choices;
  for (const std::string& word : words) choices += (choices.empty() ? "" : ", ") + word;
  mistake(key, fmt::format("'{}' cannot be '{}'{}: one of {}", full(key), value, did_you_mean(value, words),
                           choices));
  return otherwise;
}

std::vector<std::string> TomlSection::texts(std::string_view key) {
  std::vector<std::string> values;
  const toml::node* node = get(key);
  if (!node) return values;
  const toml::array* array = node->as_array();
  if (!array) {
    mistake(key, fmt::format("'{}' must be a list of strings", full(key)));
    return values;
  }
  for (const toml::node& element : *array) {
    if (auto value = element.value_exact<std::string>()) {
      values.push_back(*value);
    } else {
      mistakes_->add(element.source(), fmt::format("'{}' must be a list of strings", full(key)));
    }
  }
  return values;
}

double TomlSection::number(std::string_view key, double otherwise, double lowest, double highest) {
  const toml::node* node = get(key);
  if (!node) return otherwise;
  auto value = node->value<double>();
  if (value && *value >= lowest && *value <= highest) return *value;
  mistake(key, fmt::format("'{}' must be a number between {} and {}", full(key), lowest, highest));
  return otherwise;
}

bool TomlSection::flag(std::string_view key, bool otherwise) {
  const toml::node* node = get(key);
  if (!node) return otherwise;
  if (auto value = node->value_exact<bool>()) return *value;
  mistake(key, fmt::format("'{}' must be true or false", full(key)));
  return otherwise;
}

std::vector<std::string> TomlSection::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, node] : *table_) names.emplace_back(key.str());
  return names;
}

std::map<std::string, std::string> TomlSection::text_map(std::string_view key) {
  std::map<std::string, std::string> values;
  const toml::node* node = get(key);
  if (!node) return values;
  if (!node->is_table()) mistake(key, fmt::format("'{}' must be a table of strings", full(key)));
  if (const toml::table* table = node->as_table()) {
    for (const auto& [name, element] : *table) {
      auto value = element.value_exact<std::string>();
      if (!value)
        mistakes_->add(element.source(), fmt::format("'{}.{}' must be a string", full(key), name.str()));
      values[std::string(name.str())] = value.value_or("");
    }
  }
  return values;
}

std::map<std::string, double> TomlSection::number_map(std::string_view key) {
  std::map<std::string, double> values;
  const toml::node* node = get(key);
  if (!node) return values;
  if (!node->is_table()) mistake(key, fmt::format("'{}' must be a table of numbers", full(key)));
  if (const toml::table* table = node->as_table()) {
    for (const auto& [name, element] : *table) {
      auto value = element.value<double>();
      if (!value)
        mistakes_->add(element.source(), fmt::format("'{}.{}' must be a number", full(key), name.str()));
      values[std::string(name.str())] = value.value_or(0);
    }
  }
  return values;
}

TomlSection TomlSection::section(std::string_view key) {
  const toml::node* node = get(key);
  if (node && !node->is_table())
    mistake(key, fmt::format("'{}' must be a table: [{}]", full(key), full(key)));
  const toml::table* table = node ? node->as_table() : nullptr;
  return {table ? *table : kEmpty, full(key), *mistakes_};
}

std::vector<TomlSection> TomlSection::sections(std::string_view key) {
  std::vector<TomlSection> result;
  const toml::node* node = get(key);
  if (!node) return result;
  const toml::array* array = node->as_array();
  if (!array) mistake(key, fmt::format("'{}' must be a list of tables: [[{}]]", full(key), full(key)));
  if (array) {
    for (const toml::node& element : *array) {
      if (const toml::table* table = element.as_table())
        result.emplace_back(*table, full(key), *mistakes_);
      else
        mistakes_->add(element.source(),
                       fmt::format("'{}' must be a list of tables: [[{}]]", full(key), full(key)));
    }
  }
  return result;
}

void TomlSection::finish() {
  for (const auto& [key, node] : *table_) {
    if (std::ranges::find(asked_, key.str()) != asked_.end()) continue;
    mistakes_->add(key.source(),
                   fmt::format("unknown key '{}'{}", full(key.str()), did_you_mean(key.str(), asked_)));
  }
}

}  // namespace kforge
