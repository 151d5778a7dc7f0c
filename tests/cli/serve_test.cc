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

// kforge serve in the background, until it is interrupted.
class Serve : public testing::Test {
 protected:
  TempDir home_ = *TempDir::create();
  const int port_ = free_port();
  std::stop_source stop_;
  Result<Finished> done_ = fail("not ended");
  std::jthread server_;

  void serve(const std::vector<std::string>& more, const std::map<std::string, std::string>& env = {}) {
    Command command{.argv = {kProgram, "serve", "--port", std::to_string(port_)}, .cwd = kRoot};
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    command.env = user_environment(home_.path());
    for (const auto& [name, value] : env) (*command.env)[name] = value;
    command.stop = stop_.get_token();
    server_ = std::jthread([this, command] { done_ = run_command(command); });
    for (int i = 0; i < 1000 && !serve::RawClient(port_).connected(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // What it printed.
  Finished end() {
    stop_.request_stop();
    server_.join();
    EXPECT_TRUE(done_) << done_.error().text();
    return done_ ? *done_ : Finished{.exit_code = -1};
  }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }
};

TEST_F(Serve, AnswersUntilCtrlC) {
  serve({});
  EXPECT_EQ(serve::call(port_, "GET /results.json").status, 200);
  EXPECT_EQ(serve::call(port_, "POST /jobs").status, 401);
  serve::RawClient idle(port_);
  const auto begin = std::chrono::steady_clock::now();
  const Finished done = end();
  EXPECT_LT(seconds_since(begin), 10.0);
  EXPECT_EQ(done.exit_code, 130);
  EXPECT_THAT(done.out, HasSubstr(address() + "/login?token="));
}

// Programs of these names note what they are given; nothing else is on PATH.
class ServeOpen : public Serve {
 protected:
  TempDir bin_ = *TempDir::create();

  void fake(const std::string& name) {
    const std::string text = "#!/bin/sh\n/bin/cp \"$1\" \"$0.new\"; /bin/mv \"$0.new\" \"$0.page\"\n";
    ASSERT_TRUE(write_file_atomic(bin_.path() / name, text, 0700));
  }
  void serve_open(std::map<std::string, std::string> env, const std::vector<std::string>& more = {}) {
    env["PATH"] = bin_.path();
    std::vector<std::string> words = {"--open"};
    words.insert(words.end(), more.begin(), more.end());
    serve(words, env);
  }
  // What the browser was shown; "": nothing came.
  std::string page_of(const std::string& name) {
    for (int i = 0; i < 500; ++i) {
      if (auto page = read_file(bin_.path() / (name + ".page"))) return *page;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return "";
  }
};

TEST_F(ServeOpen, TheBrowserIsShownAFileThatLeadsToTheLink) {
  fake("xdg-open");
  serve_open({{"BROWSER", ""}});
  const std::string page = page_of("xdg-open");
  const Finished done = end();
  const std::size_t at = done.out.find(address() + "/login?token=");
  ASSERT_NE(at, done.out.npos) << done.out;
  EXPECT_THAT(page, HasSubstr("url=" + done.out.substr(at, done.out.find('\n', at) - at) + "\""));
  EXPECT_FALSE(fs::exists(home_.path() / "open-page.html")) << "it holds the token";
}

TEST_F(ServeOpen, WithoutXdgOpenTheBrowserOfTheEnvironment) {
  fake("my-browser");
  serve_open({{"BROWSER", "my-browser"}}, {"--read-only"});
  const std::string page = page_of("my-browser");
  end();
  EXPECT_THAT(page, HasSubstr("url=" + address() + "/\"")) << "who only looks needs no token";
}

TEST_F(ServeOpen, WithoutAnyItSaysWhatToDo) {
  serve_open({{"BROWSER", "no-such-browser"}});
  EXPECT_EQ(serve::call(port_, "GET /results.json").status, 200) << "it serves all the same";
  EXPECT_THAT(end().err, HasSubstr("open the link above"));
}

TEST_F(Serve, SaysWhatIsInTheWay) {
  Fd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const Finished done =
      kforge_run({"serve", "--port", std::to_string(ntohs(address.sin_port))}, {.home = home_.path()});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--port"));
}

}  // namespace
}  // namespace kforge
