#include "mcp/writing_sessions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/files.h"

namespace kforge::mcp {
namespace {

using namespace std::chrono_literals;

// Stands for `kforge forge`: the run "asking" has a question and ends with its reply, the run "silent" never
// asks.
constexpr const char* kRun = R"sh(#!/bin/sh
[ "$1" = forge ] || exit 0
for word; do case "$word" in --generator=mailbox:*) box=${word#--generator=mailbox:} ;; esac; done
echo preparing >&2
[ "$2" = asking ] || exec sleep 60
mkdir -p "$box"
echo question >"$box/generator-1-0.prompt.md"
while [ ! -e "$box/generator-1-0.reply.md" ]; do sleep 0.02; done
)sh";

class McpWritingSessions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file_atomic(folder_.path() / "run.sh", kRun, 0700));
    silent_ = *sessions_.start({"forge", "silent"}, "cpu");
  }

  std::future<ToolResult> evaluate(const std::string& session, std::function<void(std::string_view)> say) {
    return std::async(std::launch::async, [this, session, say = std::move(say)] {
      return sessions_.evaluate(session, {}, {.stop = give_up_.get_token(), .say = say});
    });
  }

  // A call of the silent run, which waits until it is told to stop. Returns once it waits.
  std::future<ToolResult> wait_in_silent_run() {
    auto call = evaluate(silent_, [this](std::string_view) { waits_ = true; });
    for (int i = 0; i < 2000 && !waits_; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(waits_);
    return call;
  }

  TempDir folder_ = *TempDir::create();
  OwnProgram program_{folder_.path() / "run.sh", folder_.path()};
  Jobs jobs_{program_, folder_.path() / "jobs"};
  WritingSessions sessions_{program_, jobs_};
  std::string silent_;
  std::stop_source give_up_;
  std::atomic<bool> waits_ = false;
};

TEST_F(McpWritingSessions, ARunThatIsNotReadyHoldsUpNoOther) {
  auto waiting = wait_in_silent_run();
  const std::string asking = *sessions_.start({"forge", "asking"}, "cpu");
  auto answered = evaluate(asking, [](std::string_view) {});
  EXPECT_EQ(answered.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(fs::exists(jobs_.folder(asking).string() + ".assistant/generator-1-0.reply.md"));
  EXPECT_NE(waiting.wait_for(0s), std::future_status::ready);
  give_up_.request_stop();
}

TEST_F(McpWritingSessions, ACallThatWaitsForItsTurnCanBeCancelled) {
  auto waiting = wait_in_silent_run();
  std::stop_source second;
  auto behind = std::async(std::launch::async,
                           [&] { return sessions_.evaluate(silent_, {}, {.stop = second.get_token()}); });
  second.request_stop();
  EXPECT_EQ(behind.wait_for(30s), std::future_status::ready);
  give_up_.request_stop();
}

}  // namespace
}  // namespace kforge::mcp
