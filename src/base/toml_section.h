// One table of a TOML file, read key by key; what was never asked for is reported as an unknown key, with its
// line and the key that was probably meant. Includes the heavy toml++ header: for .cc files that read a
// format of their own.
#pragma once

#include <toml++/toml.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

// Parses the text of `file`; a syntax error is an Error with its line.
Result<toml::table> parse_toml(std::string_view text, const std::string& file);

// The first mistake found in a file; later ones are dropped.
class TomlMistakes {
 public:
  // `remedy` says where the format is described.
  TomlMistakes(std::string file, std::string remedy) : file_(std::move(file)), remedy_(std::move(remedy)) {}
  void add(const toml::source_region& where, std::string what);
  const std::optional<Error>& first() const { return first_; }

 private:
  std::string file_, remedy_;
  std::optional<Error> first_;
};

class TomlSection {
 public:
  // `name` as people write it: "build", "build.march"; "" is the file itself.
  TomlSection(const toml::table& table, std::string name, TomlMistakes& mistakes)
      : table_(&table), name_(std::move(name)), mistakes_(&mistakes) {}

  std::string text(std::string_view key, bool required = false);
  std::string one_of(std::string_view key, const std::vector<std::string>& words, std::string otherwise);
  std::vector<std::string> texts(std::string_view key);
  double number(std::string_view key, double otherwise, double lowest, double highest);
  bool flag(std::string_view key, bool otherwise);
  bool has(std::string_view key) const { return table_->contains(key); }
  std::vector<std::string> keys() const;
  std::map<std::string, std::string> text_map(std::string_view key);
  std::map<std::string, double> number_map(std::string_view key);
  // An empty section when absent.
  TomlSection section(std::string_view key);
  // [[key]] tables, none when absent.
  std::vector<TomlSection> sections(std::string_view key);
  // Says where a key stands, for mistakes found later.
  void mistake(std::string_view key, std::string what);
  // REQUIRED at the end: every key not asked for is a mistake.
  void finish();

 private:
  const toml::node* get(std::string_view key, bool required = false);
  std::string full(std::string_view key) const;

  const toml::table* table_;
  std::string name_;
  TomlMistakes* mistakes_;
  std::vector<std::string> asked_;
};

}  // namespace kforge
