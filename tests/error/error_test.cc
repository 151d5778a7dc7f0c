// One tiny input per user mistake, and the message it gets: every file in cases/ is one test.
//
//   # what the mistake is
//   args: eval $example --kernel kernel.cc     ($example: the cpu platform's worked example; $dir: the folder
//   below) env: NAME=VALUE                            (any number) file: kernel.cc (any number; the text up
//   to "end:" is written there first)
//   ...
//   end:
//   exit: 2
//   says: part of what must be printed         (any number)
//
// Runs in a fresh folder with a fresh home.
#include <sstream>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

const fs::path kCases = kRoot / "tests/error/cases";

struct Case {
  std::vector<std::string> args;
  std::map<std::string, std::string> env, files;
  std::vector<std::string> says;
  int exit_code = -1;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

Case read_case(const fs::path& file, const fs::path& folder) {
  Case found;
  std::istringstream lines(*read_file(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    std::size_t colon = line.find(':');
    std::string key = line.substr(0, colon);
    std::string value = line.size() > colon + 2 ? line.substr(colon + 2) : "";
    value = replaced(replaced(value, "$dir", folder), "$example", (kRoot / "platforms/cpu/example").string());
    if (key == "args") {
      std::istringstream words(value);
      for (std::string word; words >> word;) found.args.push_back(word);
    } else if (key == "env") {
      found.env[value.substr(0, value.find('='))] = value.substr(value.find('=') + 1);
    } else if (key == "file") {
      for (std::string text; std::getline(lines, text) && text != "end:";) found.files[value] += text + "\n";
      found.files[value];  // an empty file is one too
    } else if (key == "exit") {
      found.exit_code = std::stoi(value);
    } else if (key == "says") {
      found.says.push_back(value);
    } else {
      ADD_FAILURE() << file << ": unknown line: " << line;
    }
  }
  return found;
}

class UserMistake : public testing::TestWithParam<std::string> {};

TEST_P(UserMistake, GetsAClearMessage) {
  TempDir folder = *TempDir::create(), home = *TempDir::create();
  Case input = read_case(kCases / (GetParam() + ".txt"), folder.path());
  ASSERT_FALSE(input.says.empty()) << "a case that expects no message tests nothing";
  for (const auto& [name, content] : input.files) {
    fs::create_directories((folder.path() / name).parent_path());
    ASSERT_TRUE(write_file_atomic(folder.path() / name, content));
  }
  Finished done = kforge_run(input.args, {.home = home.path(), .cwd = folder.path(), .env = input.env});
  std::string printed = done.out + done.err;
  EXPECT_EQ(done.exit_code, input.exit_code) << printed;
  EXPECT_EQ(done.signal, 0);
  for (const std::string& text : input.says) EXPECT_THAT(printed, testing::HasSubstr(text));
  EXPECT_THAT(printed, testing::Not(testing::HasSubstr("internal error")));
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases)) names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, UserMistake, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kforge
