// kforge serve as a user has it: it says where it is, answers, and Ctrl-C ends it at once.
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "cli/kforge_run.h"
#include "serve/raw_http.h"

namespace kforge {
namespace {

using testing::HasSubstr;

int free_port() {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

TEST(Serve, AnswersUntilCtrlC) {
  TempDir home = *TempDir::create();
  const int port = free_port();
  std::stop_source stop;
  Command command{.argv = {kProgram, "serve", "--port", std::to_string(port)}, .cwd = kRoot};
  command.env = user_environment(home.path());
  command.stop = stop.get_token();
  Result<Finished> done = fail("not ended");
  std::jthread server([&] { done = run_command(command); });
  for (int i = 0; i < 1000 && !serve::RawClient(port).connected(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(serve::call(port, "GET /results.json").status, 200);
  EXPECT_EQ(serve::call(port, "POST /jobs").status, 401);
  serve::RawClient idle(port);
  const auto begin = std::chrono::steady_clock::now();
  stop.request_stop();
  server.join();
  EXPECT_LT(seconds_since(begin), 10.0);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->exit_code, 130);
  EXPECT_THAT(done->out, HasSubstr("http://127.0.0.1:" + std::to_string(port) + "/login?token="));
}

TEST(Serve, SaysWhatIsInTheWay) {
  TempDir home = *TempDir::create();
  Fd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const Finished done =
      kforge_run({"serve", "--port", std::to_string(ntohs(address.sin_port))}, {.home = home.path()});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--port"));
}

}  // namespace
}  // namespace kforge
