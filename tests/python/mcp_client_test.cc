// `kforge mcp` with the official clients of the protocol, both major versions.
#include "cli/kforge_run.h"

namespace kforge {
namespace {

class McpClient : public testing::TestWithParam<const char*> {};

TEST_P(McpClient, CallsEveryToolAndIsUnderstood) {
  const fs::path python = kRoot / "out" / GetParam() / "bin/python";
  std::error_code error;
  if (!fs::exists(python, error)) GTEST_SKIP() << python << " is missing: scripts/setup.sh platforms";
  TempDir root = *TempDir::create();
  Command command{.argv = {python.string(), "-B", (kRoot / "tests/python/check_mcp.py").string(),
                           kProgram.string(), root.path().string()},
                  .cwd = root.path(),
                  .timeout = std::chrono::minutes(5)};
  command.env = user_environment(shared_home());
  auto done = run_command(command);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->exit_code, 0) << done->out << done->err;
  EXPECT_THAT(done->out, testing::HasSubstr("mcp ok"));
}

INSTANTIATE_TEST_SUITE_P(Versions, McpClient, testing::Values("mcp1", "mcp2"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace kforge
