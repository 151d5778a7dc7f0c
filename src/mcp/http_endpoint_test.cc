#include "mcp/http_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/text_safety.h"
#include "mcp/sample_tools.h"

namespace kforge::mcp {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Pair;

class McpHttp : public testing::Test {
 protected:
  HttpEndpoint& open(std::vector<Tool> tools, HttpLimits limits = {}) {
    endpoint_.reset();  // its calls use the tools
    tools_ = std::move(tools);
    endpoint_ = std::make_unique<HttpEndpoint>(tools_, Resources(program_), limits);
    return *endpoint_;
  }
  HttpAnswer ask(HttpRequest request) { return endpoint_->handle(request); }
  std::string initialized() {
    HttpAnswer answer = ask(legacy("initialize", {{"protocolVersion", "2025-11-25"}}, ""));
    EXPECT_EQ(answer.status, 200) << answer.body;
    for (const auto& [name, value] : answer.headers)
      if (name == "Mcp-Session-Id") return value;
    return "";
  }

  static HttpRequest post(const std::string& body) {
    return {"POST",
            {{"content-type", "application/json; charset=utf-8"},
             {"ACCEPT", "application/json, text/event-stream;q=0.5"}},
            body};
  }
  static HttpRequest legacy(const std::string& method, Json params, const std::string& session,
                            const Json& id = 1) {
    Json message = {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
    if (!id.is_null()) message["id"] = id;
    HttpRequest request = post(message.dump());
    if (!session.empty()) request.headers.emplace_back("mcp-session-id", session);
    return request;
  }
  static HttpRequest modern_post(const std::string& method, Json params, const std::string& name = "") {
    HttpRequest request =
        post(Json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", modern(std::move(params))}}
                 .dump());
    request.headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
    request.headers.emplace_back("Mcp-Method", method);
    if (!name.empty()) request.headers.emplace_back("Mcp-Name", name);
    return request;
  }

  OwnProgram program_{"/bin/false", "/tmp"};
  std::atomic<bool> stopped_ =
      false;  // by sleeper(); its calls may end with the endpoint, so they see it last
  std::vector<Tool> tools_;
  std::unique_ptr<HttpEndpoint> endpoint_;
};

// A client that reads until the stream ends.
std::string all_of(const HttpAnswer& answer) {
  if (!answer.stream) return answer.body;
  std::string text;
  answer.stream({[&](std::string_view piece) {
                   text += piece;
                   return true;
                 },
                 [] { return true; }});
  return text;
}

int code_of(const HttpAnswer& answer) { return Json::parse(answer.body)["error"]["code"]; }

TEST_F(McpHttp, TheNewerEraNeedsNoSession) {
  open({echo()});
  HttpAnswer found = ask(modern_post("server/discover", {}));
  EXPECT_EQ(found.status, 200);
  EXPECT_THAT(Json::parse(found.body)["result"]["supportedVersions"], Contains("2026-07-28"));
  EXPECT_EQ(endpoint_->sessions(), 0u);
  const Json arguments = {{"name", "echo"}, {"arguments", {{"word", "a"}}}};
  EXPECT_THAT(all_of(ask(modern_post("tools/call", arguments, "echo"))), HasSubstr("\"said\":\"a\""));
  EXPECT_THAT(all_of(ask(modern_post("tools/call", arguments, "=?base64?" + base64("echo") + "?="))),
              HasSubstr("\"said\":\"a\""));
  // Its errors have a status.
  HttpAnswer unknown = ask(modern_post("no/such", {}));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(code_of(unknown), -32601);
  EXPECT_EQ(ask(modern_post("tools/call", {{"name", "none"}}, "none")).status, 400);
}

TEST_F(McpHttp, HeadersOfTheNewerEraSayWhatTheMessageSays) {
  open({echo()});
  auto mismatch = [&](HttpRequest request) {
    HttpAnswer answer = ask(std::move(request));
    EXPECT_EQ(answer.status, 400);
    return code_of(answer);
  };
  const Json params = {{"name", "echo"}, {"arguments", {{"word", "a"}}}};
  EXPECT_EQ(mismatch(modern_post("tools/call", params)), -32020) << "no name";
  EXPECT_EQ(mismatch(modern_post("tools/call", params, "other")), -32020);
  HttpRequest twice = modern_post("tools/call", params, "echo");
  twice.headers.emplace_back("mcp-method", "tools/list");
  EXPECT_EQ(mismatch(twice), -32020);
  HttpRequest without = modern_post("tools/list", {});
  std::erase_if(without.headers, [](const auto& header) { return header.first == "MCP-Protocol-Version"; });
  EXPECT_EQ(mismatch(without), -32020);
  // A version that is not spoken is told apart, so that the client can choose another.
  for (const char* version : {"2030-01-01", "nonsense"}) {
    HttpRequest request = legacy("tools/list", Json::object(), "");
    request.headers.emplace_back("MCP-Protocol-Version", version);
    HttpAnswer answer = ask(request);
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(code_of(answer), -32022);
    EXPECT_THAT(Json::parse(answer.body)["error"]["data"]["supported"], Contains("2026-07-28"));
  }
}

TEST_F(McpHttp, TheOlderEraOpensASessionAndEndsIt) {
  open({echo()});
  const std::string session = initialized();
  ASSERT_EQ(session.size(), 32u);
  EXPECT_EQ(ask(legacy("notifications/initialized", Json::object(), session, nullptr)).status, 202);
  HttpAnswer tools = ask(legacy("tools/list", Json::object(), session));
  EXPECT_EQ(Json::parse(tools.body)["result"]["tools"][0]["name"], "echo");
  EXPECT_EQ(ask(legacy("tools/list", Json::object(), "")).status, 400);
  EXPECT_EQ(ask(legacy("tools/list", Json::object(), "0000")).status, 404);
  HttpRequest end{"DELETE", {{"Mcp-Session-Id", session}}, ""};
  EXPECT_EQ(ask(end).status, 204);
  EXPECT_EQ(ask(end).status, 404);
  EXPECT_EQ(ask(legacy("tools/list", Json::object(), session)).status, 404);
}

TEST_F(McpHttp, WhatIsNoMessageIsRefused) {
  open({echo()}, {.body_bytes = 200});
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    HttpAnswer answer = ask({method, {{"Accept", "text/event-stream"}}, ""});
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_THAT(answer.headers, Contains(Pair("Allow", "POST, DELETE")));
  }
  EXPECT_EQ(ask(post(std::string(201, ' '))).status, 413);
  EXPECT_EQ(ask(post("{")).status, 400);
  EXPECT_EQ(ask(post("[]")).status, 400);
  EXPECT_EQ(ask({"POST", {{"Content-Type", "text/plain"}, {"Accept", "*/*"}}, "{}"}).status, 415);
  EXPECT_EQ(ask({"POST", {{"Content-Type", "application/json"}}, "{}"}).status, 406);
  EXPECT_EQ(
      ask({"POST", {{"Content-Type", "application/json"}, {"Accept", "application/json"}}, "{}"}).status,
      406);
  EXPECT_EQ(ask(post(R"({"jsonrpc":"2.0","id":1,"result":{}})")).status, 202);
}

TEST_F(McpHttp, ProgressStreamsBeforeTheAnswer) {
  Tool tool{.name = "work", .input_schema = object_of(Json::object()), .call = [](const ToolCall& call) {
              call.say("compiling");
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              return ToolResult{.structured = {{"x", 1}}};
            }};
  open({tool});
  const std::string session = initialized();
  HttpAnswer answer =
      ask(legacy("tools/call", {{"name", "work"}, {"_meta", {{"progressToken", 3}}}}, session));
  EXPECT_EQ(answer.content_type, "text/event-stream");
  const std::string text = all_of(answer);
  const std::size_t progress = text.find("notifications/progress"), result = text.find("structuredContent");
  ASSERT_NE(progress, std::string::npos) << text;
  ASSERT_NE(result, std::string::npos) << text;
  EXPECT_LT(progress, result);
  EXPECT_THAT(text, testing::StartsWith("event: message\ndata: {"));
  EXPECT_THAT(text, EndsWith("}\n\n"));
}

TEST_F(McpHttp, AClientThatDiesEndsItsCall) {
  open({sleeper(stopped_)});
  const auto gone = EventSink{[](std::string_view) { return false; }, [] { return false; }};
  ask(modern_post("tools/call", {{"name", "sleep"}}, "sleep")).stream(gone);
  EXPECT_TRUE(stopped_) << "of the newer era";
  stopped_ = false;
  ask(modern_post("tools/call", {{"name", "sleep"}}, "sleep"));
  EXPECT_TRUE(stopped_) << "before anything was sent";
  stopped_ = false;
  const std::string session = initialized();
  ask(legacy("tools/call", {{"name", "sleep"}}, session)).stream(gone);
  while (!stopped_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(McpHttp, ACallIsCancelledByMessageAndByTheEndOfItsSession) {
  open({sleeper(stopped_)});
  const std::string session = initialized();
  HttpAnswer call = ask(legacy("tools/call", {{"name", "sleep"}}, session, "c"));
  EXPECT_EQ(ask(legacy("notifications/cancelled", {{"requestId", "c"}}, session, nullptr)).status, 202);
  EXPECT_EQ(all_of(call), "");  // ends without an answer
  EXPECT_TRUE(stopped_);
  stopped_ = false;
  call = ask(legacy("tools/call", {{"name", "sleep"}}, session, "d"));
  EXPECT_EQ(ask({"DELETE", {{"Mcp-Session-Id", session}}, ""}).status, 204);
  EXPECT_EQ(all_of(call), "");
  EXPECT_TRUE(stopped_);
}

TEST_F(McpHttp, ClientsDoNotSeeEachOthersCalls) {
  open({sleeper(stopped_)});
  const std::string one = initialized(), other = initialized();
  HttpAnswer call = ask(legacy("tools/call", {{"name", "sleep"}}, one, 1));
  ask(legacy("notifications/cancelled", {{"requestId", 1}}, other, nullptr));
  HttpAnswer same_id = ask(legacy("tools/call", {{"name", "sleep"}}, other, 1));
  EXPECT_TRUE(same_id.stream);
  EXPECT_FALSE(stopped_);
}

TEST_F(McpHttp, SessionsThatRestMakeRoomAndEnd) {
  open({sleeper(stopped_)}, {.sessions = 2});
  const std::string first = initialized(), second = initialized();
  HttpAnswer call = ask(legacy("tools/call", {{"name", "sleep"}}, first));
  const std::string third = initialized();
  EXPECT_EQ(endpoint_->sessions(), 2u);
  EXPECT_EQ(ask(legacy("ping", Json::object(), second)).status, 404) << "it rested longest";
  HttpAnswer another = ask(legacy("tools/call", {{"name", "sleep"}}, third));
  EXPECT_EQ(ask(legacy("initialize", {{"protocolVersion", "2025-11-25"}}, "")).status, 503);
  call = another = {};

  open({echo()}, {.idle = std::chrono::minutes(0)});
  const std::string short_lived = initialized();
  EXPECT_EQ(ask(legacy("ping", Json::object(), short_lived)).status, 404);
}

TEST_F(McpHttp, CallsAreCountedOverAllClients) {
  open({sleeper(stopped_)}, {.calls = 1});
  HttpAnswer first = ask(modern_post("tools/call", {{"name", "sleep"}}, "sleep"));
  HttpAnswer second = ask(modern_post("tools/call", {{"name", "sleep"}}, "sleep"));
  EXPECT_THAT(second.body, HasSubstr("1 calls are running"));
}

}  // namespace
}  // namespace kforge::mcp
