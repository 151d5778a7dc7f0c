// Completions and manual pages: made from the same table as the help, so every command and option is there.
#include <set>

#include "base/text.h"
#include "cli/kforge_run.h"

namespace kforge {
namespace {

using testing::Contains;
using testing::HasSubstr;

bool has_program(const char* name) {
  auto found = run_command({.argv = {"sh", "-c", std::string("command -v ") + name}});
  return found && found->ok();
}

// What bash would offer after these words, the last of them being typed.
std::set<std::string> offered(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += " '" + word + "'";
  std::string script = kforge_run({"completion", "bash"}).out;
  script += "\nkforge() { \"" + kProgram.string() + "\" \"$@\"; }\n";
  script += "COMP_WORDS=(kforge" + list + "); COMP_CWORD=" + std::to_string(words.size()) + "\n";
  script += "_kforge; printf '%s\\n' \"${COMPREPLY[@]}\"\n";
  auto done = run_command({.argv = {"bash", "--norc"}, .input = script});
  EXPECT_TRUE(done && done->ok()) << done->err;
  EXPECT_EQ(done->err, "");
  std::set<std::string> answer;
  for (std::string_view line : lines_of(done->out)) answer.emplace(line);
  return answer;
}

TEST(Completion, BashOffersCommandsOptionsAndTasks) {
  EXPECT_THAT(offered({""}), Contains("forge"));
  EXPECT_EQ(offered({"ev"}), std::set<std::string>{"eval"});
  EXPECT_THAT(offered({"forge", "--bud"}), Contains("--budget"));
  EXPECT_THAT(offered({"tasks", ""}), Contains("show"));
  EXPECT_THAT(offered({"tasks", "show", "--"}), Contains("--shapes"));
  EXPECT_EQ(offered({"eval", "core/softma"}), std::set<std::string>{"core/softmax"});
  // The value of an option is no command.
  EXPECT_THAT(offered({"forge", "--budget", "30s", "--expl"}), Contains("--explain"));
}

TEST(Completion, ZshAndFishParseAndNameEveryCommand) {
  for (const char* shell : {"zsh", "fish"}) {
    Finished script = kforge_run({"completion", shell});
    ASSERT_EQ(script.exit_code, 0) << script.err;
    for (const char* word : {"forge", "eval", "tasks", "show", "check", "machine", "budget", "explain"})
      EXPECT_THAT(script.out, HasSubstr(word)) << shell;
    if (!has_program(shell)) continue;
    auto parsed = run_command({.argv = {shell, "-n"}, .input = script.out});
    EXPECT_TRUE(parsed && parsed->ok()) << shell << ": " << parsed->err;
  }
  EXPECT_EQ(kforge_run({"completion", "tcsh"}).exit_code, 2);
}

TEST(Man, HasAPageForEveryCommandThatManAccepts) {
  TempDir folder = *TempDir::create();
  Finished written = kforge_run({"man", "--to", folder.path()});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  for (const char* page :
       {"kforge.1", "kforge-forge.1", "kforge-eval.1", "kforge-tasks-show.1", "kforge-man.1"})
    ASSERT_TRUE(fs::exists(folder.path() / page)) << page;
  std::string eval = *read_file(folder.path() / "kforge-eval.1");
  EXPECT_THAT(eval, HasSubstr(".TH KFORGE\\-EVAL 1"));
  EXPECT_THAT(eval, HasSubstr("\\-\\-kernel"));
  EXPECT_EQ(kforge_run({"man", "eval"}).out, eval);
  EXPECT_EQ(kforge_run({"man", "evil"}).exit_code, 2);
  if (!has_program("groff")) return;
  for (const auto& page : fs::directory_iterator(folder.path())) {
    auto done = run_command({.argv = {"groff", "-man", "-ww", "-Tascii", page.path()}});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->err, "") << page.path();
  }
}

TEST(TaskNames, AreListedAlone) {
  Finished names = kforge_run({"tasks", "--names"});
  EXPECT_EQ(names.exit_code, 0);
  EXPECT_THAT(lines_of(names.out), Contains("core/softmax"));
  EXPECT_THAT(names.out, testing::Not(HasSubstr(" ")));
  EXPECT_THAT(lines_of(kforge_run({"tasks", "fusion", "--names"}).out),
              testing::Each(testing::StartsWith("fusion/")));
}

}  // namespace
}  // namespace kforge
