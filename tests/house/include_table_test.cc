// The include tables of docs/layout.md against every #include under src/: of the folders, and of the folders
// inside the smith.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "house/root.h"

namespace kforge {
namespace {

// Folder name to row number, from the lines "| 3 | platform, ... |"; of an inner table, "| smith 3 | loops
// |".
std::map<std::string, int> read_table(const std::string& of = "") {
  std::map<std::string, int> rows;
  std::istringstream lines(*read_file(kRoot / "docs/layout.md"));
  std::regex row_pattern("\\| " + of + R"((\d+) \| ([a-z_, ]+) \|)"), word_pattern("[a-z_]+");
  for (std::string line; std::getline(lines, line);) {
    std::smatch row;
    if (!std::regex_match(line, row, row_pattern)) continue;
    std::string folders = row[2];
    for (std::sregex_iterator word(folders.begin(), folders.end(), word_pattern), end; word != end; ++word)
      rows[word->str()] = std::stoi(row[1]);
  }
  return rows;
}

struct Include {
  fs::path file;
  std::string from, to;
};

std::vector<Include> read_includes() {
  std::vector<Include> all;
  std::regex pattern(R"re(^\s*#\s*include\s+"([a-z_0-9]+)/)re");
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    fs::path relative = fs::relative(entry.path(), kRoot / "src");
    if (relative.begin() == --relative.end()) continue;         // main.cc
    if (relative.stem().string().ends_with("_test")) continue;  // tests may use whatever they need
    std::istringstream lines(*read_file(entry.path()));
    for (std::string line; std::getline(lines, line);)
      if (std::smatch found; std::regex_search(line, found, pattern))
        all.push_back({relative, relative.begin()->string(), found[1]});
  }
  return all;
}

TEST(IncludeTable, HasEveryFolder) {
  auto table = read_table();
  ASSERT_GE(table.size(), 10u) << "the table of docs/layout.md was not found";
  for (const auto& entry : fs::directory_iterator(kRoot / "src"))
    if (entry.is_directory()) {
      EXPECT_TRUE(table.contains(entry.path().filename())) << entry.path() << " is not in docs/layout.md";
    }
  for (const auto& [folder, row] : table)
    EXPECT_TRUE(fs::is_directory(kRoot / "src" / folder)) << folder << " does not exist";
}

TEST(IncludeTable, IsKept) {
  auto table = read_table();
  auto includes = read_includes();
  ASSERT_GE(includes.size(), 50u);
  for (const Include& include : includes) {
    if (include.from == include.to || !table.contains(include.to)) continue;
    EXPECT_GT(table[include.from], table[include.to])
        << "src/" << include.file.string() << " may not include " << include.to << "/";
  }
}

// Inside the smith: folders by rows of their own; its headers at the top (smith.h, pipeline.h) are included
// from nowhere below.
TEST(IncludeTable, IsKeptInsideTheSmith) {
  auto table = read_table("smith ");
  for (const auto& entry : fs::directory_iterator(kRoot / "src/smith"))
    if (entry.is_directory()) {
      EXPECT_TRUE(table.contains(entry.path().filename())) << entry.path() << " is not in docs/layout.md";
    }
  std::regex pattern(R"re(^\s*#\s*include\s+"smith/([a-z_0-9]+)(/|\.h))re");
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src/smith")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    const fs::path relative = fs::relative(entry.path(), kRoot / "src/smith");
    if (relative.begin() == --relative.end() || relative.stem().string().ends_with("_test")) continue;
    const std::string from = relative.begin()->string();
    std::istringstream lines(*read_file(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, pattern) || match[1] == from) continue;
      ++found;
      EXPECT_EQ(match[2], "/") << "src/smith/" << relative.string() << " may not include smith/" << match[1]
                               << ".h";
      EXPECT_GT(table[from], table[match[1]])
          << "src/smith/" << relative.string() << " may not include smith/" << match[1] << "/";
    }
  }
  EXPECT_GE(found, 40);
}

}  // namespace
}  // namespace kforge
