#include "mcp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>

#include "mcp/sample_tools.h"
#include "mcp/tools.h"

namespace kforge::mcp {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A server whose tools are the test's own, and what it sent.
class Session {
 public:
  explicit Session(std::vector<Tool> tools = {})
      : program_("/bin/false", "/tmp"),
        tools_(std::move(tools)),
        server_(std::make_unique<Server>(tools_, Resources(program_), slots_)) {}

  void send(const Json& message) { send_text(message.dump()); }
  void send_text(const std::string& line) {
    server_->receive(line, {[this](std::string sent) {
                       std::lock_guard lock(mutex_);
                       sent_.push_back(Json::parse(sent));
                       arrived_.notify_all();
                     }});
  }
  Json request(int id, const std::string& method, Json params = Json::object()) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    return answer(id);
  }
  // The answer to `id`, waited for.
  Json answer(const Json& id) {
    std::unique_lock lock(mutex_);
    Json found;
    arrived_.wait_for(lock, std::chrono::seconds(60), [&] {
      for (const Json& one : sent_)
        if (one.contains("id") && one["id"] == id) found = one;
      return !found.is_null();
    });
    return found;
  }
  std::vector<Json> sent() {
    std::lock_guard lock(mutex_);
    return sent_;
  }
  void end() { server_.reset(); }

 private:
  OwnProgram program_;
  std::vector<Tool> tools_;
  CallSlots slots_{8};
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Json> sent_;
  std::unique_ptr<Server> server_;
};

TEST(McpServer, TheOlderEraOpensWithAHandshake) {
  Session session({echo()});
  Json answer = session.request(1, "initialize", {{"protocolVersion", "2025-06-18"}});
  EXPECT_EQ(answer["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(answer["result"]["serverInfo"]["name"], "kforge");
  EXPECT_EQ(
      session.request(2, "initialize", {{"protocolVersion", "1999-01-01"}})["result"]["protocolVersion"],
      "2025-11-25");
  EXPECT_EQ(session.request(3, "ping")["result"], Json::object());
  Json tools = session.request(4, "tools/list")["result"];
  EXPECT_EQ(tools["tools"][0]["name"], "echo");
  EXPECT_TRUE(tools["tools"][0]["annotations"]["readOnlyHint"]);
  EXPECT_FALSE(tools.contains("resultType"));
}

TEST(McpServer, TheNewerEraNeedsNone) {
  Session session({echo()});
  Json found = session.request(1, "server/discover", modern())["result"];
  EXPECT_THAT(found["supportedVersions"], Contains("2026-07-28"));
  EXPECT_EQ(found["resultType"], "complete");
  Json tools = session.request(2, "tools/list", modern())["result"];
  EXPECT_EQ(tools["resultType"], "complete");
  EXPECT_TRUE(tools.contains("ttlMs"));
  Json called =
      session.request(3, "tools/call", modern({{"name", "echo"}, {"arguments", {{"word", "a"}}}}))["result"];
  EXPECT_EQ(called["structuredContent"]["said"], "a");
  EXPECT_EQ(called["resultType"], "complete");
  Json params = modern();
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2030-01-01";
  Json refused = session.request(4, "tools/list", params)["error"];
  EXPECT_EQ(refused["code"], -32022);
  EXPECT_THAT(refused["data"]["supported"], Contains("2026-07-28"));
  params = modern();
  params["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(session.request(5, "tools/list", params)["error"]["code"], -32602);
}

TEST(McpServer, BadMessagesAreAnsweredAndHarmless) {
  Session session({echo()});
  session.send_text("{\"jsonrpc\":");
  session.send_text("[]");
  session.send_text("17");
  session.send({{"jsonrpc", "1.0"}, {"id", 1}, {"method", "ping"}});
  session.send({{"jsonrpc", "2.0"}, {"id", 2}, {"method", "no/such"}});
  session.send({{"jsonrpc", "2.0"}, {"id", 3}, {"method", "tools/list"}, {"params", "x"}});
  session.send({{"jsonrpc", "2.0"}, {"method", "notifications/unheard"}});
  session.send({{"jsonrpc", "2.0"}, {"id", 9}, {"result", Json::object()}});
  std::vector<int> codes;
  for (const Json& one : session.sent()) codes.push_back(one["error"]["code"]);
  EXPECT_THAT(codes, testing::ElementsAre(-32700, -32600, -32600, -32600, -32601, -32602));
  EXPECT_EQ(session.request(4, "ping")["result"], Json::object());
}

TEST(McpServer, WrongArgumentsAreToldToTheAssistant) {
  Session session({echo()});
  auto told = [&](int id, Json arguments) {
    Json result =
        session.request(id, "tools/call", {{"name", "echo"}, {"arguments", std::move(arguments)}})["result"];
    EXPECT_TRUE(result["isError"]);
    return result["content"][0]["text"].get<std::string>();
  };
  EXPECT_THAT(told(1, Json::object()), HasSubstr("'word' is missing"));
  EXPECT_THAT(told(2, {{"word", "c"}}), HasSubstr("one of a, b"));
  EXPECT_THAT(told(3, {{"word", 1}}), HasSubstr("of type string"));
  EXPECT_THAT(told(4, {{"word", "a"}, {"wrod", 1}}), HasSubstr("there are: word, times"));
  EXPECT_THAT(told(5, {{"word", "a"}, {"times", 9}}), HasSubstr("at most 3"));
  EXPECT_EQ(session.request(6, "tools/call", {{"name", "none"}})["error"]["code"], -32602);
}

TEST(McpServer, ACancelledCallEndsWithoutAnAnswer) {
  std::atomic<bool> stopped = false;
  Session session({sleeper(stopped), echo()});
  session.send(
      {{"jsonrpc", "2.0"}, {"id", "long"}, {"method", "tools/call"}, {"params", {{"name", "sleep"}}}});
  // Others are answered meanwhile.
  EXPECT_EQ(session.request(2, "tools/call",
                            {{"name", "echo"}, {"arguments", {{"word", "b"}}}})["result"]["isError"],
            false);
  session.send(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", "unknown"}}}});
  session.send(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", "long"}}}});
  session.end();
  EXPECT_TRUE(stopped);
  for (const Json& one : session.sent()) EXPECT_NE(one.value("id", Json()), "long");
}

TEST(McpServer, ProgressSaysWhatIsBeingDone) {
  std::atomic<bool> go_on = false;
  Tool tool{.name = "work", .input_schema = object_of(Json::object()), .call = [&](const ToolCall& call) {
              call.say("compiling");
              while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
              return ToolResult{};
            }};
  Session session({tool});
  session.send({{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "tools/call"},
                {"params", {{"name", "work"}, {"_meta", {{"progressToken", "p"}}}}}});
  while (session.sent().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  go_on = true;
  session.answer(1);
  const Json told = session.sent().front();
  EXPECT_EQ(told["method"], "notifications/progress");
  EXPECT_EQ(told["params"]["progressToken"], "p");
  EXPECT_THAT(told["params"]["message"].get<std::string>(), HasSubstr("compiling"));
}

TEST(McpServer, OnlySoManyCallsRunAtOnce) {
  std::atomic<bool> stopped = false;
  Session session({sleeper(stopped)});
  for (int id = 0; id < 8; ++id)
    session.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", {{"name", "sleep"}}}});
  const Json refused = session.request(8, "tools/call", {{"name", "sleep"}})["result"];
  EXPECT_TRUE(refused["isError"]);
  EXPECT_THAT(refused["content"][0]["text"].get<std::string>(), HasSubstr("8 calls are running"));
}

TEST(McpServer, AClientThatGoesAwayEndsItsCalls) {
  std::atomic<bool> stopped = false;
  Session session({sleeper(stopped)});
  session.send({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", {{"name", "sleep"}}}});
  session.end();
  EXPECT_TRUE(stopped);
}

TEST(McpServer, PromptsAndAddresses) {
  Session session;
  EXPECT_EQ(session.request(1, "prompts/list")["result"]["prompts"].size(), 2u);
  Json got =
      session.request(2, "prompts/get", {{"name", "optimise"}, {"arguments", {{"task", "core/relu"}}}});
  EXPECT_THAT(got["result"]["messages"][0]["content"]["text"].get<std::string>(), HasSubstr("core/relu"));
  EXPECT_THAT(
      session.request(3, "prompts/get", {{"name", "optimise"}})["error"]["message"].get<std::string>(),
      HasSubstr("'task'"));
  int id = 10;
  for (const char* uri : {"file:///etc/passwd", "kforge://result/../x", "kforge://result/--help",
                          "kforge://x/y", "kforge://platform/../cpu/notes", ""})
    EXPECT_EQ(session.request(id++, "resources/read", {{"uri", uri}})["error"]["code"], -32602) << uri;
}

TEST(McpTools, PathsStayUnderTheRoot) {
  const OwnProgram program("/bin/false", "/tmp");
  EXPECT_TRUE(program.inside("x/y.cc"));
  EXPECT_EQ(program.inside("/tmp/x")->string(), "/tmp/x");
  EXPECT_FALSE(program.inside("../etc/passwd"));
  EXPECT_FALSE(program.inside("/etc/passwd"));
  EXPECT_FALSE(program.inside("/tmpx"));
  EXPECT_FALSE(plain_word("task", "--out=/x"));
  // Tasks, platforms and baselines are names, or files under the root.
  EXPECT_EQ(*program.name_or_path("task", "core/relu"), "core/relu");
  EXPECT_EQ(*program.name_or_path("platform", "./mine"), "/tmp/mine");
  EXPECT_EQ(*program.name_or_path("baselines", "same=k.cc"), "same=/tmp/k.cc");
  for (const char* outside : {"/etc", "../etc", "x/../../etc", "same=/etc/passwd", "--help", ""})
    EXPECT_FALSE(program.name_or_path("task", outside)) << outside;
}

TEST(McpTools, ReportsAreCutToWhatHelps) {
  const Json report = {{"outcome", "passed"},
                       {"gates", Json::array({1})},
                       {"gate", nullptr},
                       {"reason", std::string(20'000, 'x')},
                       {"best", {{"machine", "m"}, {"id", "1"}}}};
  const Json cut = short_report(report);
  EXPECT_EQ(cut["outcome"], "passed");
  EXPECT_FALSE(cut.contains("gates"));
  EXPECT_FALSE(cut.contains("gate"));
  EXPECT_LT(cut["reason"].get<std::string>().size(), 7000u);
  EXPECT_EQ(cut["best"], (Json{{"id", "1"}}));
}

TEST(McpTools, AResultIsSaidInASentence) {
  Json report = {
      {"schema", "kforge.eval/1"},
      {"outcome", "passed"},
      {"seconds", {{"total", 3}}},
      {"time_ns", {{"median", 12'400'000.0}}},
      {"load", {{"busy", true}}},
      {"speedup",
       {{"value", 1.0858155}, {"lo", 0.79}, {"hi", 1.54}, {"against", "x"}, {"shown", "no_difference"}}}};
  EXPECT_THAT(summary_of(report),
              HasSubstr("passed; 12.4 ms; 1.09x [0.79, 1.54] against x: no difference was shown"));
  EXPECT_THAT(summary_of(report), HasSubstr("busy"));
  EXPECT_EQ(short_report(report)["speedup"]["value"], 1.086);
  EXPECT_FALSE(short_report(report).contains("seconds"));
  report = {{"schema", "kforge.eval/1"}, {"outcome", "passed"}, {"load", nullptr}, {"speedup", nullptr}};
  EXPECT_EQ(summary_of(report), "passed") << "nothing was timed";
  report["general"] = true;
  report["gates"] = {{{"name", "races"}, {"state", "passed"}}, {{"name", "clock"}, {"state", "skipped"}}};
  EXPECT_EQ(summary_of(report), "passed 1 gates, on other shapes too (general)");
  report["advice"] = {"run without --check to time it", "judge it under --precision high or bf16"};
  EXPECT_EQ(short_report(report)["advice"],
            (Json{"evaluate without check_only to time it", "judge it under precision high or bf16"}));
  report = {{"schema", "kforge.eval/1"}, {"outcome", "wrong_value"}, {"gate", "integer"}, {"reason", "r"}};
  EXPECT_EQ(summary_of(report), "wrong_value (gate integer): r");
  EXPECT_EQ(summary_of({{"schema", "kforge.tasks/1"}}), "");
}

}  // namespace
}  // namespace kforge::mcp
