// The server over real connections: routing, limits, hostile clients, the end.
#include "serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/clock.h"
#include "serve/raw_http.h"

namespace kforge::serve {
namespace {

using testing::HasSubstr;

class ServerTest : public testing::Test {
 protected:
  void serve(Limits limits = {}, bool read_only = false) {
    auto bound = Server::bind({.read_only = read_only, .token = "secret", .limits = limits});
    ASSERT_TRUE(bound) << bound.error().text();
    server_ = std::move(*bound);
    server_->mount({"GET", "/hello/*", Access::kRead, [](const Asked& asked) {
                      return Answer{.body =
                                        (asked.json ? "json " : "page ") + asked.parts[0] + asked.asked("x")};
                    }});
    server_->mount({"POST", "/change", Access::kChange, [this](const Asked& asked) {
                      ++changed_;
                      return Answer{.body = "done " + asked.field("name")};
                    }});
    server_->mount({"GET", "/stream", Access::kRead, [](const Asked&) {
                      return Answer{.type = "text/event-stream",
                                    .stream = [](Sink& sink, const std::stop_token& stop) {
                                      sink.write("data: first\n\n");
                                      while (sink.open() && !stop.stop_requested())
                                        std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                    }};
                    }});
    server_->start();
  }
  RawAnswer get(const std::string& path, const std::string& head = "", const std::string& host = "") {
    return call(server_->port(), "GET " + path, head, "", host);
  }

  std::unique_ptr<Server> server_;
  std::atomic<int> changed_ = 0;
};

TEST_F(ServerTest, RoutesByWordsAndKnowsTheTwin) {
  serve();
  EXPECT_EQ(get("/hello/you").body, "page you");
  EXPECT_EQ(get("/hello/you.json?x=1").body, "json you1");
  EXPECT_EQ(get("/hello").status, 404);
  EXPECT_EQ(get("/hello/a/b").status, 404);
  EXPECT_EQ(call(server_->port(), "DELETE /hello/you").status, 405);
  EXPECT_EQ(call(server_->port(), "HEAD /hello/you").body, "");
  EXPECT_EQ(call(server_->port(), "PUT /hello/you").status, 405);
}

TEST_F(ServerTest, EverythingComesWithAStrictPolicy) {
  serve();
  for (const char* path : {"/hello/you", "/nothing"}) {
    auto headers = get(path).headers;
    EXPECT_THAT(headers["content-security-policy"], HasSubstr("default-src 'none'"));
    EXPECT_THAT(headers["content-security-policy"], testing::Not(HasSubstr("unsafe")));
    EXPECT_EQ(headers["x-content-type-options"], "nosniff");
    EXPECT_EQ(headers["cache-control"], "no-store");
  }
}

TEST_F(ServerTest, WrongHostIsAnsweredBeforeAnythingElse) {
  serve();
  EXPECT_EQ(get("/hello/you", "", "evil.example:" + std::to_string(server_->port())).status, 421);
  EXPECT_EQ(get("/nothing", "", "evil.example").status, 421);
}

TEST_F(ServerTest, PostsFromOtherSitesChangeNothing) {
  serve();
  const std::string cookie = "Cookie: kforge_" + std::to_string(server_->port()) + "=secret\r\n";
  const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
  auto post = [&](const std::string& head, const std::string& body) {
    return call(server_->port(), "POST /change", head, body).status;
  };
  EXPECT_EQ(post(form, "name=x"), 401);
  EXPECT_EQ(post(form + cookie, "name=x"), 403);
  EXPECT_EQ(post(form + cookie + "Origin: http://evil.example\r\n", "name=x"), 403);
  EXPECT_EQ(post("Content-Type: text/plain\r\n" + cookie, "name=x"), 403);
  EXPECT_EQ(call(server_->port(), "GET /change", cookie).status, 405);
  EXPECT_EQ(changed_, 0);
  EXPECT_EQ(post(form + "Authorization: Bearer secret\r\n", "name=x"), 200);
  EXPECT_EQ(changed_, 1);
}

TEST_F(ServerTest, HugeHeadersAndBodiesAreRefused) {
  serve({.header_bytes = 4096, .body_bytes = 1000});
  RawClient many(server_->port());
  many.send("GET /hello/you HTTP/1.1\r\n");
  std::string header = "X: " + std::string(500, 'x') + "\r\n";
  for (int i = 0; i < 20; ++i) many.send(header);
  EXPECT_THAT(many.receive(), HasSubstr("431"));
  EXPECT_EQ(get("/hello/" + std::string(2000, 'a')).status, 414);
  EXPECT_EQ(call(server_->port(), "POST /change", "Authorization: Bearer secret\r\n", std::string(5000, 'x'))
                .status,
            413);
  EXPECT_EQ(changed_, 0);
  EXPECT_EQ(get("/hello/you").status, 200) << "and goes on";
}

TEST_F(ServerTest, GarbageIsNoRequest) {
  serve();
  for (const std::string& text : {std::string("\x16\x03\x01 no http\r\n\r\n"), std::string("GET\r\n\r\n"),
                                  std::string("GET /hello/%00%ff HTTP/1.1\r\n\r\n"), std::string(3, '\0')}) {
    RawClient client(server_->port());
    client.send(text);
    EXPECT_THAT(client.receive("\r\n\r\n", 0.2), testing::Not(HasSubstr(" 200 "))) << text;
  }
  EXPECT_EQ(get("/hello/you").status, 200);
}

TEST_F(ServerTest, SlowClientsLoseTheirPlace) {
  serve({.connections = 4,
         .header_time = std::chrono::milliseconds(200),
         .idle_time = std::chrono::milliseconds(200)});
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 4; ++i) slow.push_back(std::make_unique<RawClient>(server_->port()));
  for (int i = 0; i < 100 && !slow[0]->closed(); ++i)
    for (auto& client : slow) {
      client->send(i == 0 ? "GET /hello/you HTTP/1.1\r\nX: " : "x");
      client->receive("408", 0.005);
    }
  EXPECT_TRUE(slow[0]->closed());
  EXPECT_LT(seconds_since(begin), 5.0);
  EXPECT_EQ(get("/hello/you").status, 200);
}

TEST_F(ServerTest, MoreConnectionsThanThereIsRoomForAreToldSo) {
  serve({.connections = 2});
  RawClient first(server_->port()), second(server_->port());
  for (RawClient* client : {&first, &second}) {
    client->send("GET /stream HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->port()) + "\r\n\r\n");
    EXPECT_THAT(client->receive("first"), HasSubstr("data: first"));
  }
  EXPECT_EQ(get("/hello/you").status, 503);
}

TEST_F(ServerTest, AClientThatLeavesEndsItsStream) {
  serve({.connections = 1});
  {
    RawClient client(server_->port());
    client.send("GET /stream HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->port()) + "\r\n\r\n");
    client.receive("first");
  }
  int status = 503;
  for (int i = 0; i < 200 && status == 503; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = get("/hello/you").status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(ServerTest, EndsAtOnceWithStreamsAndIdleConnections) {
  serve();
  RawClient stream(server_->port()), idle(server_->port()), half(server_->port());
  stream.send("GET /stream HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_->port()) + "\r\n\r\n");
  stream.receive("first");
  half.send("GET /hello/you HTTP/1.1\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(seconds_since(begin), 3.0);
  EXPECT_FALSE(RawClient(server_->port()).connected());
}

TEST_F(ServerTest, APortThatIsTakenIsNamed) {
  serve();
  auto second = Server::bind({.port = server_->port()});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr(std::to_string(server_->port())));
}

TEST_F(ServerTest, OneThatWasNeverStartedGivesItsPortBack) {
  auto first = Server::bind({});
  ASSERT_TRUE(first) << first.error().text();
  const int port = (*first)->port();
  first->reset();
  auto second = Server::bind({.port = port});
  EXPECT_TRUE(second) << second.error().text();
}

}  // namespace
}  // namespace kforge::serve
