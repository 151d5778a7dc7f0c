// The pages of `kforge serve` in a real browser.
#include "cli/kforge_run.h"

namespace kforge {
namespace {

TEST(Pages, AreRightInABrowser) {
  const fs::path python = kRoot / "out/browser/bin/python";
  std::error_code error;
  if (!fs::exists(python, error)) GTEST_SKIP() << python << " is missing: scripts/setup.sh platforms";
  TempDir root = *TempDir::create();
  Command command{.argv = {python.string(), "-B", (kRoot / "tests/python/check_pages.py").string(),
                           kProgram.string(), (kRoot / "out/screenshots").string()},
                  .cwd = root.path(),
                  .timeout = std::chrono::minutes(5)};
  command.env = user_environment(shared_home());
  auto done = run_command(command);
  ASSERT_TRUE(done) << done.error().text();
  constexpr int kNoBrowser = 77;
  if (done->exit_code == kNoBrowser) GTEST_SKIP() << done->out;
  EXPECT_EQ(done->exit_code, 0) << done->out << done->err;
}

}  // namespace
}  // namespace kforge
