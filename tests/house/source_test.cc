// How the sources look: formatted, free of clang-tidy's findings, without traces of the machine they were
// written on.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "base/subprocess.h"
#include "house/root.h"

namespace kforge {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> files_with(const std::vector<std::string>& extensions,
                                    const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(kRoot / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.is_regular_file() && std::find(extensions.begin(), extensions.end(),
                                               entry.path().extension().string()) != extensions.end())
        files.push_back(fs::relative(entry.path(), kRoot).string());
  }
  return files;
}

TEST(Source, IsFormatted) {
  Command command{.argv = {"clang-format", "--dry-run", "--Werror"}, .cwd = kRoot, .timeout = 120s};
  for (std::string& file : files_with({".h", ".cc"}, {"src", "tests", "bench"}))
    if (!file.starts_with("tests/golden/")) command.argv.push_back(std::move(file));  // those are output
  auto done = run_command(command);
  if (!done) GTEST_SKIP() << "clang-format is not installed: " << done.error().message;
  EXPECT_TRUE(done->ok()) << done->err.substr(0, 4000) << "\nrun clang-format -i on these files";
}

TEST(Source, IsTidy) {
  Command command{.argv = {kRoot / "scripts/tidy.sh", "--budget", "20"}, .cwd = kRoot, .timeout = 300s};
  auto done = run_command(command);
  ASSERT_TRUE(done) << done.error().text();
  if (done->exit_code == 3) GTEST_SKIP() << done->err;
  EXPECT_TRUE(done->ok()) << done->out << done->err;
}

TEST(Source, IsWrittenInSmallFiles) {
  for (const std::string& file : files_with({".h", ".cc"}, {"src"})) {
    std::string content = *read_file(kRoot / file);
    EXPECT_LE(std::count(content.begin(), content.end(), '\n'), 700) << file << ": two ideas?";
  }
}

TEST(Source, HeadersAreGuarded) {
  for (const std::string& file : files_with({".h"}, {"src"})) {
    std::string content = *read_file(kRoot / file);
    EXPECT_TRUE(content.find("#pragma once") != std::string::npos ||
                content.find("#ifndef") != std::string::npos)
        << file;
  }
}

// What `scripts/setup.sh programs` does not install: a file that needs it asks for it first, so that the
// first build of a new machine has all it needs.
bool is_extra_header(const std::string& name) {
  return name.starts_with("CL/") || name.starts_with("vulkan/");
}

// Whether `file` (below src/) needs a header of an extra package where it has not asked for it.
bool needs_extra_header(const std::string& file, std::set<std::string>& seen) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s+([<"])([^>"]+)[>"])re");
  std::istringstream lines(*read_file(kRoot / "src" / file));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("#if __has_include(") != std::string::npos) return false;
    std::smatch found;
    if (!std::regex_search(line, found, kInclude)) continue;
    const std::string name = found[2];
    if (found[1] == "<"
            ? is_extra_header(name)
            : fs::exists(kRoot / "src" / name) && seen.insert(name).second && needs_extra_header(name, seen))
      return true;
  }
  return false;
}

TEST(Source, BuildsWithoutTheHeadersOfExtraPackages) {
  int asked = 0;
  for (const std::string& file : files_with({".cc"}, {"src"})) {
    std::set<std::string> seen;
    EXPECT_FALSE(needs_extra_header(fs::relative(file, "src").string(), seen))
        << file
        << " needs a header that only `scripts/setup.sh platforms` installs: put it below #if __has_include";
    asked += read_file(kRoot / file)->find("#if __has_include(") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(asked, 4);
}

// Text files end with a newline and have no trailing blanks, as .editorconfig says.
TEST(Source, KeepsTheEditorConfig) {
  for (const std::string& file : files_with({".h", ".cc", ".sh", ".toml", ".sql", ".py", ".txt"},
                                            {"src", "scripts", "cmake", "platforms", "python"})) {
    std::string content = *read_file(kRoot / file);
    EXPECT_TRUE(content.empty() || content.ends_with('\n')) << file;
    EXPECT_EQ(content.find(" \n"), std::string::npos) << file << " has trailing blanks";
    EXPECT_EQ(content.find('\r'), std::string::npos) << file << " has carriage returns";
  }
}

}  // namespace
}  // namespace kforge
