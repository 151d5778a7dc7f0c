// The way to the service, and what is told when it fails: names, proxies, connections that end too soon or
// never begin. Each failure has its own remedy, and the key goes to nobody but the service.
#include <atomic>
#include <chrono>
#include <thread>

#include "e2e/model_setting.h"
#include "e2e/raw_server.h"
#include "llm/http.h"

namespace kforge {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kReply =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    R"({"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]})";

// A port that was somebody's and is nobody's now.
std::string deserted() {
  return RawServer([](int) { return ""; }).host_and_port();
}

class Network : public ModelTest {
 protected:
  Network() {
    for (const char* name :
         {"https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"})
      environment_.set(name, "");
  }
  Error error_of(const std::string& spec) {
    auto reply = ask(spec);
    EXPECT_FALSE(reply) << spec;
    return reply ? Error{} : reply.error();
  }
};

TEST_F(Network, ANameThatIsNoneIsToldWithTheAddress) {
  // A label of more than 63 letters is no name, so nobody has to be asked.
  Error error = error_of("https://" + std::string(70, 'a') + ".example/v1#m");
  EXPECT_THAT(error.message, HasSubstr("cannot reach"));
  EXPECT_THAT(error.message, HasSubstr("resolve"));
  EXPECT_THAT(error.remedy, HasSubstr("address right"));
}

TEST_F(Network, AConnectionClosedWithoutAWordIsTriedAgain) {
  RawServer server([](int connection) { return connection < 2 ? "" : kReply; });
  auto reply = ask("http://" + server.host_and_port() + "/v1#m");
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "hello");
  EXPECT_EQ(reply->tries, 3);
  EXPECT_THAT(server.requests(), SizeIs(3));
}

TEST_F(Network, AServiceThatAlwaysClosesIsGivenUp) {
  RawServer server([](int) { return ""; });
  Error error = error_of("http://" + server.host_and_port() + "/v1#m");
  EXPECT_THAT(error.message, HasSubstr("cannot reach"));
  EXPECT_THAT(server.requests(), SizeIs(3)) << "one try and two more";
}

TEST_F(Network, AnAnswerThatEndsInItsHeadIsOneToAskForAgain) {
  RawServer server([](int) { return "HTTP/1.1 200 OK\r\nContent-Ty"; });
  auto reply = ask("http://" + server.host_and_port() + "/v1#m");
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(remedy_of(reply->end), Remedy::kAskAgain) << name_of(reply->end) << ": " << reply->detail;
  EXPECT_EQ(reply->text, "");
}

TEST_F(Network, AnotherProtocolIsNoService) {
  RawServer server([](int) { return "SSH-2.0-OpenSSH_9.2\r\n"; });
  Error error = error_of("http://" + server.host_and_port() + "/v1#m");
  EXPECT_THAT(error.message, HasSubstr("cannot reach"));
  EXPECT_THAT(error.remedy, HasSubstr("address right"));
}

TEST_F(Network, HeadersWithoutEndAreGarbage) {
  std::string flood = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  for (int i = 0; i < 6000; ++i) flood += "X-" + std::to_string(i) + ": " + std::string(64, 'x') + "\r\n";
  RawServer server([&](int) { return flood; });
  auto reply = ask("http://" + server.host_and_port() + "/v1#m");
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->end, ReplyEnd::kGarbage) << reply->detail;
  EXPECT_THAT(reply->detail, HasSubstr("more than any reply needs"));
}

TEST_F(Network, AProxyThatRefusesIsNamedAndSeesNoKey) {
  for (const char* status : {"403 Forbidden", "407 Proxy Authentication Required", "502 Bad Gateway"}) {
    RawServer proxy([&](int) {
      return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    });
    environment_.set("https_proxy", "http://" + proxy.host_and_port());
    Error error = error_of("https://models.example/v1#m");
    EXPECT_THAT(error.message, HasSubstr("cannot reach")) << status;
    EXPECT_THAT(error.remedy, HasSubstr("https_proxy")) << status << ": " << error.text();
    ASSERT_FALSE(proxy.requests().empty());
    EXPECT_THAT(proxy.requests(), Each(StartsWith("CONNECT models.example:443")));
    EXPECT_THAT(proxy.requests(), Each(Not(HasSubstr(kTestKey))));
  }
}

TEST_F(Network, AProxyThatIsNotThereIsNamedWithoutItsPassword) {
  for (const std::string& where : {deserted(), std::string(70, 'p') + ".example:3128"}) {
    environment_.set("https_proxy", "http://user:pass-word-77@" + where);
    Error error = error_of("https://models.example/v1#m");
    EXPECT_THAT(error.remedy, HasSubstr("https_proxy")) << error.text();
    EXPECT_THAT(error.text(), Not(HasSubstr("pass-word-77")));
  }
  environment_.set("https_proxy", "");
  environment_.set("ALL_PROXY", "http://" + deserted());
  EXPECT_THAT(error_of("https://models.example/v1#m").remedy, HasSubstr("ALL_PROXY"));
}

TEST_F(Network, AProxyIsNotForServicesOfThisMachine) {
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy"})
    environment_.set(name, "http://" + deserted());
  ModelServer server;
  server.script("m", {say("hello")});
  auto reply = ask(server.openai("m"));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "hello");
}

TEST_F(Network, WhoCannotConnectIsGivenUpAfterTheLimit) {
  FullQueue queue;
  if (!queue.full()) GTEST_SKIP() << "connections are never refused a place here";
  HttpClient client;
  HttpRequest request{.url = "http://" + queue.host_and_port() + "/v1/chat/completions", .body = "{}"};
  HttpAnswer answer = client.perform(request, {.connect_seconds = 0.3},
                                     [](const HttpAnswer&, std::string_view) { return true; }, {});
  EXPECT_EQ(answer.end, HttpEnd::kNoHost) << answer.detail;
  EXPECT_EQ(answer.status, 0);
}

TEST_F(Network, AStopEndsConnectingToo) {
  FullQueue queue;
  if (!queue.full()) GTEST_SKIP() << "connections are never refused a place here";
  auto model = open("http://" + queue.host_and_port() + "/v1#m");
  std::stop_source stop;
  ReplyWatch watch;
  watch.stop = stop.get_token();
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  auto reply = model->ask(request(), watch);
  later.join();
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->end, ReplyEnd::kCancelled) << "a time-out of connecting would be an error";
}

TEST_F(Network, AHandshakeThatNeverComesIsGivenUp) {
  HttpClient client;
  RawServer silent([](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    return "";
  });
  HttpRequest request{.url = "https://" + silent.host_and_port() + "/v1/chat/completions", .body = "{}"};
  HttpAnswer answer = client.perform(request, {.connect_seconds = 0.3},
                                     [](const HttpAnswer&, std::string_view) { return true; }, {});
  EXPECT_EQ(answer.end, HttpEnd::kNoHost) << answer.detail;
}

}  // namespace
}  // namespace kforge
