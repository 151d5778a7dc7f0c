// Models over HTTP as they behave when all is well: both protocols, every form the bytes can come in.
#include "e2e/model_setting.h"
#include "llm/continue_reply.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

// Every test of this kind holds for both protocols.
class BothProtocols : public ModelTest, public testing::WithParamInterface<bool> {
 protected:
  std::string spec(const ModelServer& server, const std::string& model = "m") const {
    return GetParam() ? server.openai(model) : server.anthropic(model);
  }
};
INSTANTIATE_TEST_SUITE_P(Protocol, BothProtocols, testing::Bool(),
                         [](const auto& info) { return info.param ? "OpenAi" : "Anthropic"; });

TEST_P(BothProtocols, GivesTextUsageAndModel) {
  ModelServer server;
  ModelStep step = say("Grüße, ∀x: x² ≥ 0 🙂");
  step.thinking = "They want a greeting.";
  step.input_tokens = 1000;
  step.cached_tokens = 600;
  step.output_tokens = 50;
  server.script("m", {step});
  std::string streamed;
  auto model = open(spec(server));
  ReplyWatch watch;
  watch.on_text = [&](std::string_view piece) { streamed += piece; };
  auto reply = model->ask(request(), watch);
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->end, ReplyEnd::kComplete) << reply->detail;
  EXPECT_EQ(reply->text, step.text);
  EXPECT_EQ(streamed, step.text);
  EXPECT_EQ(reply->model, "m-2026");
  EXPECT_EQ(reply->tries, 1);
  EXPECT_EQ(reply->usage.input, 1000);
  EXPECT_EQ(reply->usage.cache_read, 600);
  EXPECT_EQ(reply->usage.output, 50);
  EXPECT_FALSE(reply->usage.estimated);
  EXPECT_EQ(reply->usage.dollars, 0.0) << "a service on this machine costs nothing";
}

TEST_P(BothProtocols, SendsSystemTurnsPicturesLimitAndKey) {
  ModelServer server;
  server.script("m", {say("ok")});
  ModelRequest asked = request("Look at this.");
  asked.messages[0].images.push_back({"image/png", std::string("\x89PNG\r\n\x1a\n\0\xff", 10)});
  asked.messages.emplace_back().from = Message::From::kAssistant;
  asked.messages.back().text = "I see.";
  asked.messages.emplace_back().text = "And?";
  asked.messages.emplace_back().text = "Well?";
  asked.max_output_tokens = 777;
  ASSERT_TRUE(ask(spec(server), asked));
  ASSERT_EQ(server.calls().size(), 1u);
  SeenCall call = server.calls()[0];
  EXPECT_EQ(call.system, "You are terse.");
  ASSERT_EQ(call.turns.size(), 3u) << "neighbours of one speaker are one turn";
  EXPECT_EQ(call.turns[0].text, "Look at this.");
  ASSERT_EQ(call.turns[0].images.size(), 1u);
  EXPECT_EQ(call.turns[0].images[0], asked.messages[0].images[0].bytes);
  EXPECT_EQ(call.turns[0].media_types[0], "image/png");
  EXPECT_EQ(call.turns[1].role, "assistant");
  EXPECT_EQ(call.turns[2].text, "And?\n\nWell?");
  EXPECT_EQ(call.max_tokens, 777);
  EXPECT_EQ(call.key, kTestKey);
  EXPECT_TRUE(call.stream);
  EXPECT_EQ(call.system_cached, !GetParam());
}

TEST_P(BothProtocols, ReadsEveryFormOfTheBytes) {
  ModelStep step = say("Grüße 🙂\r\nsecond line\n```cpp\nint x;\n```\n");
  step.thinking = "hm";
  for (WireForm form :
       {WireForm{.dribble = true}, WireForm{.crlf = true}, WireForm{.dribble = true, .crlf = true},
        WireForm{.comments = true}, WireForm{.keep_alive = true}, WireForm{.plain_json = true}}) {
    ModelServer server(form);
    server.script("m", {step, step});
    auto model = open(spec(server));
    for (int i = 0; i < 2; ++i) {
      auto reply = model->ask(request(), {});
      ASSERT_TRUE(reply) << reply.error().text();
      EXPECT_EQ(reply->end, ReplyEnd::kComplete) << reply->detail;
      EXPECT_EQ(reply->text, step.text);
      EXPECT_EQ(reply->usage.output, 20);
    }
  }
}

TEST_P(BothProtocols, UsageThatIsNotToldIsEstimatedAndSaysSo) {
  ModelServer server;
  ModelStep step = say(std::string(400, 'x'));
  step.usage = false;
  server.script("m", {step});
  auto reply = ask(spec(server));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->usage.estimated);
  EXPECT_EQ(reply->usage.output, 100);
  EXPECT_GT(reply->usage.input, 0);
}

TEST_P(BothProtocols, TruncatedRepliesAreContinuedAndJoined) {
  ModelServer server;
  server.script("m", {say_truncated("Here:\n```cpp\nint a = 1;\nint b"), say_truncated("```cpp\n = 2;\nint"),
                      say(" c = 3;\n```\n")});
  auto model = open(spec(server));
  auto reply = ask_to_the_end(*model, request(), {});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->end, ReplyEnd::kComplete);
  EXPECT_EQ(reply->text, "Here:\n```cpp\nint a = 1;\nint b = 2;\nint c = 3;\n```\n");
  EXPECT_EQ(reply->usage.output, 60) << "all three calls count";
  ASSERT_EQ(server.calls().size(), 3u);
  EXPECT_EQ(server.calls()[2].turns.size(), 3u);
  EXPECT_THAT(server.calls()[2].turns[1].text, HasSubstr("int b = 2;"));
}

TEST_P(BothProtocols, AsksNoLongerThanToldToContinue) {
  ModelServer server;
  server.respond("m", [](const SeenCall&) { return say_truncated("and on "); });
  auto model = open(spec(server));
  auto reply = ask_to_the_end(*model, request(), {}, 2);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->end, ReplyEnd::kTruncated);
  EXPECT_EQ(server.calls().size(), 3u);
}

TEST_P(BothProtocols, ThinkingThatUsedUpTheLimitGetsALargerOne) {
  ModelServer server;
  ModelStep thought = say_truncated("");
  thought.thinking = "so many cases";
  server.script("m", {thought, say("done")});
  auto model = open(spec(server));
  ModelRequest asked = request();
  asked.max_output_tokens = 500;
  auto reply = ask_to_the_end(*model, asked, {});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "done");
  EXPECT_EQ(server.calls()[1].max_tokens, 1000);
}

TEST_F(ModelTest, InlineThinkingIsNotPartOfTheReply) {
  ModelServer server;
  server.script("m", {say("<think>\nLet me see ```x```\n</think>\n\nThe answer."),
                      say("thought\n</think>\nThe answer."), say("```cpp\n// </think>\n```")});
  auto model = open(server.openai("m"));
  EXPECT_EQ(model->ask(request(), {})->text, "The answer.");
  EXPECT_EQ(model->ask(request(), {})->text, "The answer.");
  EXPECT_EQ(model->ask(request(), {})->text, "```cpp\n// </think>\n```");
}

TEST_F(ModelTest, AModelServedAloneNeedsNoName) {
  ModelServer server;
  server.script("the-one", {say("hello")});
  auto reply = ask(server.url() + "/v1");
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "hello");
  server.script("another", {});
  auto several = open_model(server.url(), settings_);
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().remedy, HasSubstr("another, the-one"));
}

TEST_F(ModelTest, ProvidersTakeTheirAddressFromTheEnvironment) {
  ModelServer server;
  server.script("gpt-x", {say("hi")});
  server.script("claude-x", {say("hi")});
  environment_.set("OPENAI_BASE_URL", server.url() + "/v1");
  environment_.set("OPENAI_API_KEY", "openai-key-123456");
  environment_.set("ANTHROPIC_BASE_URL", server.url());
  environment_.set("ANTHROPIC_API_KEY", "anthropic-key-123456");
  ASSERT_TRUE(ask("openai:gpt-x"));
  ASSERT_TRUE(ask("anthropic:claude-x"));
  EXPECT_EQ(server.calls()[0].key, "openai-key-123456");
  EXPECT_THAT(server.calls()[0].body, HasSubstr("max_completion_tokens"));
  EXPECT_EQ(server.calls()[1].key, "anthropic-key-123456");
  EXPECT_EQ(server.calls()[1].headers["anthropic-version"], "2023-06-01");
}

TEST_F(ModelTest, WhatAServiceDoesNotTakeIsLearntOnce) {
  ModelServer server;
  auto refuses = [](const char* field) {
    return error_status(
        400, std::string(R"({"error":{"message":"Unsupported parameter: ')") + field +
                 R"(' is not supported with this model.","type":"invalid_request_error","param":")" + field +
                 R"(","code":"unsupported_parameter"}})");
  };
  server.script("m", {refuses("max_tokens"), refuses("temperature"), say("a"), say("b")});
  auto model = open(server.openai("m"));
  ModelRequest asked = request();
  asked.temperature = 0.5;
  EXPECT_EQ(model->ask(asked, {})->text, "a");
  EXPECT_EQ(model->ask(asked, {})->text, "b");
  ASSERT_EQ(server.calls().size(), 4u);
  EXPECT_THAT(server.calls()[3].body, HasSubstr("max_completion_tokens"));
  EXPECT_THAT(server.calls()[3].body, Not(HasSubstr("temperature")));
}

TEST_F(ModelTest, AnOutputLimitThatDoesNotFitIsLowered) {
  ModelServer server;
  server.script(
      "m",
      {error_status(
           400,
           R"({"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 33000 tokens (1000 in the messages, 32000 in the completion).","code":400}})"),
       say("fits"), say("again")});
  auto model = open(server.openai("m"));
  auto reply = model->ask(request(), {});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "fits");
  ASSERT_TRUE(model->ask(request(), {}));
  EXPECT_EQ(server.calls()[2].max_tokens, 32000) << "another prompt leaves another room";
  EXPECT_EQ(server.calls()[1].max_tokens, 8192 - 1000 - 64);
}

TEST_F(ModelTest, PicturesAModelCannotSeeAreLeftOut) {
  ModelServer server;
  server.script(
      "m",
      {error_status(
           500,
           R"({"error":{"message":"image input is not supported - hint: you may need to provide the mmproj","type":"server_error"}})"),
       say("blind")});
  auto model = open(server.openai("m"));
  EXPECT_TRUE(model->accepts_images());
  ModelRequest asked = request();
  asked.messages[0].images.push_back({"image/png", "png"});
  EXPECT_EQ(model->ask(asked, {})->text, "blind");
  EXPECT_FALSE(model->accepts_images());
  EXPECT_TRUE(server.calls()[1].turns[0].images.empty());
}

TEST_F(ModelTest, BaseUrlsOfEveryFormReachTheSamePlace) {
  ModelServer server;
  server.respond("m", [](const SeenCall&) { return say("hello"); });
  for (const char* form : {"", "/", "/v1", "/v1/", "/v1/chat/completions",
                           "/v1/chat/completions?api-version=1", "/v1?api-version=1"}) {
    auto reply = ask(server.url() + form + "#m");
    ASSERT_TRUE(reply) << form << ": " << reply.error().text();
    EXPECT_EQ(reply->text, "hello") << form;
    EXPECT_EQ(server.calls().back().path, "/v1/chat/completions") << form;
  }
  for (const char* form : {"", "/", "/v1", "/v1/", "/v1/messages"}) {
    auto reply = ask("anthropic+" + server.url() + form + "#m");
    ASSERT_TRUE(reply) << form << ": " << reply.error().text();
    EXPECT_EQ(server.calls().back().path, "/v1/messages") << form;
  }
}

TEST_F(ModelTest, AServerThatLoadsItsModelIsWaitedFor) {
  ModelServer server;
  ModelStep loading =
      error_status(503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})");
  server.script("m", {loading, loading, loading, loading, loading, loading, loading, loading, say("ready")});
  settings_.retries = 1;
  settings_.retry_base_seconds = 0.001;
  auto reply = ask(server.openai("m"));
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "ready");
  server.respond("never", [&](const SeenCall&) { return loading; });
  settings_.loading_seconds = 0.05;
  EXPECT_FALSE(ask(server.openai("never"))) << "not for ever";
}

TEST_F(ModelTest, SystemTextGoesIntoTheFirstTurnWhereATemplateKnowsNone) {
  ModelServer server;
  server.script("m", {error_status(400, R"({"error":{"message":"System role not supported","type":"x"}})"),
                      say("a"), say("b")});
  auto model = open(server.openai("m"));
  EXPECT_EQ(model->ask(request(), {})->text, "a");
  EXPECT_EQ(model->ask(request(), {})->text, "b");
  SeenCall last = server.calls().back();
  EXPECT_EQ(last.system, "");
  EXPECT_EQ(last.turns.at(0).text, "You are terse.\n\nSay hello.");
}

TEST_F(ModelTest, FieldsRefusedInOtherWordsAreLeftOutToo) {
  ModelServer server;
  server.script("m", {error_status(422, R"({"detail":[{"type":"extra_forbidden","loc":["body",)"
                                        R"("stream_options"],"msg":"Extra inputs are not permitted"}]})"),
                      say("a")});
  EXPECT_EQ(ask(server.openai("m"))->text, "a");
  EXPECT_THAT(server.calls().back().body, Not(HasSubstr("stream_options")));
}

TEST_F(ModelTest, OddStreamsOfHonestServers) {
  ModelServer server;
  auto chunk = [](const char* delta, const char* reason) {
    return std::string(R"(data: {"choices":[{"index":0,"delta":)") + delta + R"(,"finish_reason":)" + reason +
           "}]}\n\n";
  };
  std::string hello = chunk(R"({"content":"hello"})", "null");
  std::string done = "data: [DONE]\n\n";
  server.script("m", {raw(hello + done),                     // no reason for the end
                      raw(hello + chunk("{}", "\"stop\"")),  // no last mark
                      raw("data: {\"choices\":[]}\n\n" + hello + chunk("{}", "\"stop\"") + done),
                      raw(chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},)"
                                R"({"type":"text","text":"hello"}]})",
                                "\"stop\"") +
                          done)});
  auto model = open(server.openai("m"));
  for (int i = 0; i < 4; ++i) {
    auto reply = model->ask(request(), {});
    ASSERT_TRUE(reply) << i << ": " << reply.error().text();
    EXPECT_EQ(reply->end, ReplyEnd::kComplete) << i << ": " << reply->detail;
    EXPECT_EQ(reply->text, "hello") << i;
  }
}

TEST_F(ModelTest, APromptThatWasCutSilentlyIsReported) {
  ModelServer server;
  ModelStep short_sighted = say("I know nothing of that.");
  short_sighted.input_tokens = 2048;
  ModelStep whole = say("yes");
  whole.input_tokens = 11'000;
  server.script("m", {short_sighted, whole});
  auto model = open(server.openai("m"));
  std::string notices;
  ReplyWatch watch;
  watch.on_notice = [&](std::string_view line) { notices += line; };
  ASSERT_TRUE(model->ask(request(std::string(40'000, 'x')), watch));
  EXPECT_THAT(notices, HasSubstr("read 2048 tokens"));
  EXPECT_THAT(notices, HasSubstr("OLLAMA_CONTEXT_LENGTH"));
  notices.clear();
  ASSERT_TRUE(model->ask(request(std::string(40'000, 'x')), watch));
  EXPECT_EQ(notices, "");
}

TEST_F(ModelTest, AKeyMayTravelUnderAnotherName) {
  ModelServer server;
  server.script("m", {say("hi")});
  fs::create_directories(home_.path() / "home");
  ASSERT_TRUE(
      write_file_atomic(home_.path() / "home" / "config.toml",
                        "[endpoints.lab]\nurl = \"" + server.url() +
                            "\"\nmodel = \"m\"\nkey = \"lab-key-12345678\"\nkey_header = \"api-key\"\n",
                        0600));
  auto reply = ask("lab");
  ASSERT_TRUE(reply) << reply.error().text();
  SeenCall call = server.calls().back();
  EXPECT_EQ(call.headers["api-key"], "lab-key-12345678");
  EXPECT_FALSE(call.headers.contains("authorization"));
}

}  // namespace
}  // namespace kforge
