// What a person meets first: help, version, the way a command line is refused.
#include <algorithm>
#include <chrono>
#include <regex>
#include <set>
#include <sstream>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

using testing::HasSubstr;

const std::vector<std::vector<std::string>> kCommands = {
    {"forge"},          {"runs"},    {"eval"},       {"tasks"},     {"tasks", "show"},
    {"tasks", "check"}, {"results"}, {"completion"}, {"man"},       {"analyse"},
    {"show"},           {"recheck"}, {"models"},     {"platforms"}, {"platforms", "check"},
    {"machine"},        {"version"}, {"compare"},    {"doctor"},    {"clean"},
    {"help"},           {"export"},  {"suite"},      {"report"}};

std::string help_of(std::vector<std::string> command) {
  command.push_back("--help");
  Finished done = kforge_run(command);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return done.out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Long options and one-letter ones, without --help, which every command has.
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> options;
  std::regex pattern(R"((^|[\s,`|(])(--[a-z][a-z-]*|-[a-z])(?=[\s,=`|)]|$))");
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    options.insert((*match)[2]);
  options.erase("--help");
  options.erase("-h");
  return options;
}

// The first column of the option tables under a command's heading in docs/cli.md.
std::set<std::string> documented_options(const std::string& command) {
  std::istringstream lines(*read_file(kRoot / "docs/cli.md"));
  std::string first_columns;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = line == "## kforge " + command || line == "### kforge " + command;
    if (inside && line.starts_with("| `-")) first_columns += line.substr(0, line.find(" | ", 2)) + "\n";
  }
  return options_in(first_columns);
}

TEST(Help, FitsAScreenAndNamesTheCommands) {
  std::string help = help_of({});
  for (const auto& command : kCommands) EXPECT_THAT(help, HasSubstr(command.front()));
  for (const auto& command : kCommands) {
    std::string text = help_of(command);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 58) << joined(command);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(Help, PrintsDefaults) {
  std::string help = help_of({"eval"});
  EXPECT_TRUE(std::regex_search(help, std::regex("--precision.*fp32"))) << help;
  EXPECT_TRUE(std::regex_search(help, std::regex("--shapes.*bench"))) << help;
  EXPECT_TRUE(std::regex_search(help, std::regex("--seconds.*4"))) << help;
}

TEST(Help, EveryOptionIsDocumentedAndEveryDocumentedOneExists) {
  for (const auto& command : kCommands) {
    std::string help = help_of(command);
    std::string options_part = help.substr(std::min(help.find("ptions:"), help.size()));
    std::istringstream lines(options_part);
    std::string first_columns;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("  -")) first_columns += line.substr(0, 30) + "\n";
    EXPECT_EQ(options_in(first_columns), documented_options(joined(command)))
        << "kforge " << joined(command) << " --help and docs/cli.md differ";
  }
}

TEST(Help, WithoutACommandPrintsHelpAndFails) {
  Finished done = kforge_run({});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.out, HasSubstr("kforge eval TASK"));
}

TEST(Help, IsACommandToo) {
  EXPECT_EQ(kforge_run({"help"}).out, help_of({}));
  EXPECT_EQ(kforge_run({"help", "tasks", "show"}).out, help_of({"tasks", "show"}));
  Finished wrong = kforge_run({"help", "froge"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'forge'?"));
}

// A narrow terminal gets narrow lines, and no word is broken: what is left of each line is in the wide text.
TEST(Help, FollowsTheWidthOfTheTerminal) {
  for (const auto& command : kCommands) {
    std::vector<std::string> words = command;
    words.push_back("--help");
    std::istringstream lines(kforge_run(words, {.env = {{"COLUMNS", "40"}}}).out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.size() <= 40 || line.find(' ', line.find_first_not_of(' ')) == std::string::npos ||
                  line.find("  ") != std::string::npos)
          << line;
  }
}

TEST(Version, IsPrinted) {
  EXPECT_THAT(kforge_run({"version"}).out, testing::MatchesRegex("kforge [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(kforge_run({"--version"}).out, kforge_run({"version"}).out);
  EXPECT_THAT(kforge_run({"version", "--json"}).out, HasSubstr("\"version\""));
}

}  // namespace
}  // namespace kforge
