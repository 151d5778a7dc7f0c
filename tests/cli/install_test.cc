// `cmake --install` into a prefix of its own: the program finds its data and its helpers there and needs
// neither the source tree nor the build folder.
#include "base/text.h"
#include "cli/kforge_run.h"

namespace kforge {
namespace {

using testing::Contains;
using testing::Not;

TEST(Install, TheInstalledProgramStandsOnItsOwn) {
  TempDir folder = *TempDir::create(0755);
  fs::path prefix = folder.path() / "prefix";
  auto installed = run_command({.argv = {"cmake", "--install", KFORGE_BINARY_DIR, "--prefix", prefix},
                                .timeout = std::chrono::minutes(2)});
  ASSERT_TRUE(installed && installed->ok()) << installed->out << installed->err;
  for (const char* file :
       {"bin/kforge", "libexec/kforge/kforge-runner", "libexec/kforge/kforge-runner-guarded",
        "libexec/kforge/kforge-launch", "libexec/kforge/kforge-call", "libexec/kforge/kforge-onednn",
        "share/kforge/platforms/cpu/platform.toml", "share/man/man1/kforge.1",
        "share/bash-completion/completions/kforge", "share/zsh/site-functions/_kforge",
        "share/fish/vendor_completions.d/kforge.fish", "share/doc/kforge/LICENSE"})
    EXPECT_TRUE(fs::exists(prefix / file)) << file;

  auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), prefix / "bin/kforge");
    auto done = run_command({.argv = words,
                             .env = user_environment(folder.path() / "home"),
                             .cwd = folder.path(),
                             .timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Finished{.exit_code = -1};
  };
  // Its data are the installed ones: what is gone there is gone.
  EXPECT_THAT(lines_of(run({"tasks", "--names"}).out), Contains("core/softmax"));
  fs::remove_all(prefix / "share/kforge/tasks/core/softmax");
  EXPECT_THAT(lines_of(run({"tasks", "--names"}).out), Not(Contains("core/softmax")));

  fs::path example = prefix / "share/kforge/platforms/cpu/example";
  Finished eval = run({"eval", example, "--kernel", example / "kernel.cc", "--shapes", "small", "--check"});
  EXPECT_EQ(eval.exit_code, 0) << eval.out << eval.err;
}

}  // namespace
}  // namespace kforge
