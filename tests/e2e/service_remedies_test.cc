// What services complain about and why they stop, in their own words, each with what KForge does about it:
// wait, ask in another way, shorten, take it as a refusal, or give up at once.
#include <atomic>
#include <thread>

#include "e2e/model_setting.h"
#include "llm/continue_reply.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Kind = ModelStep::Kind;

class Remedies : public ModelTest {
 protected:
  Result<ModelReply> after(std::vector<ModelStep> steps) {
    server_.script("m", std::move(steps));
    return ask(server_.openai("m"));
  }
  Result<ModelReply> anthropic_after(std::vector<ModelStep> steps) {
    server_.script("m", std::move(steps));
    return ask(server_.anthropic("m"));
  }
  // An endpoint named lab in the user's own file.
  void write_lab(const std::string& more) {
    fs::create_directories(home_.path() / "home");
    ASSERT_TRUE(write_file_atomic(home_.path() / "home" / "config.toml",
                                  "[endpoints.lab]\nurl = \"" + server_.url() + "\"\nmodel = \"m\"\n" + more,
                                  0600));
  }
  ModelServer server_;
};

ModelStep complaint(int status, const std::string& message, const std::string& code = "") {
  return error_status(status, R"({"error":{"message":")" + message +
                                  R"(","type":"invalid_request_error","code":")" + code + R"("}})");
}

std::string chunk(const std::string& delta, const std::string& reason) {
  return R"(data: {"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + reason + "}]}\n\n";
}

std::string anthropic_stop(const std::string& reason) {
  return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\"}}\n\n"
         "event: content_block_delta\ndata: "
         "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\","
         "\"text\":\"so far\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
         "\"stop_reason\":\"" +
         reason + "\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
}

// --- waiting ---

TEST_F(Remedies, EveryStatusThatPassesIsWaitedOut) {
  for (int status : {408, 409, 500, 502, 503, 504, 529}) {
    auto reply = after({error_status(status, "<html><body>Bad gateway</body></html>"), say("at last")});
    ASSERT_TRUE(reply) << status << ": " << reply.error().text();
    EXPECT_EQ(reply->text, "at last") << status;
    EXPECT_EQ(reply->tries, 2) << status;
  }
}

TEST_F(Remedies, AWaitStatedInWordsOrDetailsIsKept) {
  ModelStep words = error_status(
      429,
      R"({"error":{"message":"Rate limit reached for gpt-x. Please try again in 250ms.","code":"rate_limit_exceeded"}})");
  ModelStep details = error_status(
      429, R"([{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[)"
           R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.3s"}]}}])");
  auto reply = after({words, details, say("ok")});
  ASSERT_TRUE(reply) << reply.error().text();
  auto calls = server_.calls();
  EXPECT_GE(calls[1].at_seconds - calls[0].at_seconds, 0.24);
  EXPECT_GE(calls[2].at_seconds - calls[1].at_seconds, 0.29);
}

TEST_F(Remedies, ARateLimitWithoutAWaitIsTriedAgainLater) {
  auto reply = after({rate_limited(""), rate_limited(""), say("ok")});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->tries, 3);
}

TEST_F(Remedies, TheServicesWordOnRetryingCounts) {
  auto reply = after(
      {error_status(400, R"({"error":{"message":"a hiccup"}})", {{"x-should-retry", "true"}}), say("ok")});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "ok");
}

TEST_F(Remedies, NoMoneyIsNotWaitedFor) {
  auto broke = anthropic_after(
      {error_status(
           429, R"({"type":"error","error":{"type":"rate_limit_error","message":"Limit reached","details":)"
                R"({"error_code":"enforced_spend_limit_reached"}}})"),
       say("never")});
  ASSERT_FALSE(broke);
  EXPECT_THAT(broke.error().remedy, HasSubstr("credit"));
  EXPECT_THAT(server_.calls(), SizeIs(1));
}

TEST_F(Remedies, AnErrorInsideAGoodAnswerIsOne) {
  ModelStep inside = raw(R"({"error":{"message":"Provider returned error","code":502}})", "application/json");
  auto reply = after({inside, say("ok")});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "ok");
  EXPECT_EQ(reply->tries, 2);
  auto lasting =
      after({raw(R"({"error":{"message":"No such key","code":401}})", "application/json"), say("never")});
  ASSERT_FALSE(lasting);
  EXPECT_THAT(lasting.error().message, HasSubstr("No such key"));
}

TEST_F(Remedies, NoMoreCallsAtOnceThanTheFileSays) {
  write_lab("concurrent = 1\n");
  server_.respond("m", [](const SeenCall&) {
    ModelStep step = say("ok");
    step.delay_seconds = 0.02;
    return step;
  });
  auto model = open("lab");
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 6; ++i) threads.emplace_back([&] { good += model->ask(request(), {}).has_value(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 6);
  EXPECT_EQ(server_.concurrent_peak(), 1u);
}

// --- asking in another way ---

TEST_F(Remedies, AnEffortTheModelDoesNotKnowIsLeftOut) {
  write_lab("effort = \"high\"\n");
  server_.script("m",
                 {error_status(400, R"({"error":{"message":"Unsupported value","param":"reasoning_effort",)"
                                    R"("code":"unsupported_value"}})"),
                  say("a"), say("b")});
  auto model = open("lab");
  EXPECT_EQ(model->ask(request(), {})->text, "a");
  EXPECT_EQ(model->ask(request(), {})->text, "b");
  auto calls = server_.calls();
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_THAT(calls[0].body, HasSubstr("reasoning_effort"));
  EXPECT_THAT(calls[1].body, Not(HasSubstr("reasoning_effort")));
  EXPECT_THAT(calls[2].body, Not(HasSubstr("reasoning_effort"))) << "learnt for good";
}

TEST_F(Remedies, AnEffortAnthropicDoesNotTakeIsLeftOut) {
  write_lab("protocol = \"anthropic\"\neffort = \"high\"\n");
  server_.script("m", {error_status(400, R"({"type":"error","error":{"type":"invalid_request_error",)"
                                         R"("message":"output_config: Extra inputs are not permitted"}})"),
                       say("a")});
  auto reply = ask("lab");
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->text, "a");
  EXPECT_THAT(server_.calls()[0].body, HasSubstr("output_config"));
  EXPECT_THAT(server_.calls()[1].body, Not(HasSubstr("output_config")));
}

TEST_F(Remedies, TheOlderNameOfTheLimitIsTriedToo) {
  environment_.set("OPENAI_BASE_URL", server_.url() + "/v1");
  environment_.set("OPENAI_API_KEY", "openai-key-123456");
  server_.script(
      "m", {complaint(400, "Unrecognized request argument supplied: 'max_completion_tokens'"), say("a")});
  EXPECT_EQ(ask("openai:m")->text, "a");
  EXPECT_THAT(server_.calls()[1].body, HasSubstr("\"max_tokens\""));
  EXPECT_THAT(server_.calls()[1].body, Not(HasSubstr("max_completion_tokens")));
}

TEST_F(Remedies, ALimitAboveTheModelsOwnIsLoweredForGood) {
  server_.script(
      "m",
      {complaint(400, "max_tokens is too large: 32000. This model supports at most 4096 completion tokens"),
       say("a"), say("b")});
  auto model = open(server_.openai("m"));
  EXPECT_EQ(model->ask(request(), {})->text, "a");
  EXPECT_EQ(model->ask(request(), {})->text, "b");
  EXPECT_EQ(server_.calls()[1].max_tokens, 4096);
  EXPECT_EQ(server_.calls()[2].max_tokens, 4096);
}

TEST_F(Remedies, RolesThatMustAlternateTakeNoSystemText) {
  auto reply = after(
      {complaint(400, "Conversation roles must alternate user/assistant/user/assistant/..."), say("a")});
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(server_.calls()[1].turns.at(0).text, "You are terse.\n\nSay hello.");
}

TEST_F(Remedies, AServiceThatIsNeverContentIsGivenUp) {
  int asked = 0;
  server_.respond("m", [&](const SeenCall&) {
    static const char* const fields[] = {"max_tokens", "temperature", "stream_options"};
    return complaint(400, std::string("Unsupported parameter: '") + fields[asked++ % 3] + "'");
  });
  ModelRequest asking = request();
  asking.temperature = 0.5;
  auto reply = ask(server_.openai("m"), asking);
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("Unsupported parameter"));
  EXPECT_LE(server_.calls().size(), 5u);
}

// --- too long, refused, stopped ---

TEST_F(Remedies, TooLongInEveryFormIsAnOverflowAndNotAskedAgain) {
  for (const ModelStep& step :
       {error_status(413, "<html>Request Entity Too Large</html>"),
        complaint(429, "Request too large for gpt-x: Limit 30000, Requested 30601.", "rate_limit_exceeded"),
        error_status(400,
                     R"({"error":{"code":400,"message":"the request exceeds the available context size",)"
                     R"("type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}})")}) {
    std::size_t before = server_.calls().size();
    auto reply = after({step, say("never")});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->end, ReplyEnd::kContextOverflow) << step.body;
    EXPECT_EQ(remedy_of(reply->end), Remedy::kShrinkHistory);
    EXPECT_EQ(server_.calls().size(), before + 1) << step.body;
    EXPECT_EQ(reply->usage.output, 0);
  }
}

TEST_F(Remedies, FiltersAreRefusals) {
  for (const ModelStep& step :
       {complaint(400, "flagged as potentially violating our usage policy", "invalid_prompt"),
        complaint(400, "The response was filtered", "content_filter"),
        raw(chunk(R"({"content":"half"})", "\"content_filter\"") + "data: [DONE]\n\n")}) {
    auto reply = after({step, say("never")});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->end, ReplyEnd::kRefused) << step.body;
    EXPECT_EQ(remedy_of(reply->end), Remedy::kFallBack);
    EXPECT_FALSE(reply->detail.empty());
  }
}

TEST_F(Remedies, AServiceThatStopsByItselfHasCutTheReply) {
  for (const char* reason : {"error", "abort", "insufficient_system_resource"}) {
    auto reply = after({raw(chunk(R"({"content":"half"})", "null") +
                            chunk("{}", "\"" + std::string(reason) + "\"") + "data: [DONE]\n\n")});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->end, ReplyEnd::kCut) << reason;
    EXPECT_THAT(reply->detail, HasSubstr(reason));
    EXPECT_EQ(remedy_of(reply->end), Remedy::kAskAgain);
  }
}

TEST_F(Remedies, AFullContextAndAPauseAreTruncationsAndContinued) {
  for (const char* reason : {"model_context_window_exceeded", "pause_turn"}) {
    auto reply = anthropic_after({raw(anthropic_stop(reason))});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->end, ReplyEnd::kTruncated) << reason;
    EXPECT_EQ(reply->text, "so far");
  }
  server_.script("m", {raw(anthropic_stop("pause_turn")), say(" and on")});
  auto model = open(server_.anthropic("m"));
  auto whole = ask_to_the_end(*model, request(), {});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->text, "so far and on");
  EXPECT_EQ(whole->end, ReplyEnd::kComplete);
}

TEST_F(Remedies, AContinuationThatDoesNotComeLeavesWhatIsThere) {
  for (const ModelStep& second : {context_overflow(), say_nothing(), fault(Kind::kCloseMidStream, "")}) {
    server_.script("m", {say_truncated("the first half"), second, second});
    auto model = open(server_.openai("m"));
    auto reply = ask_to_the_end(*model, request(), {});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->text, "the first half");
    EXPECT_EQ(reply->end, ReplyEnd::kTruncated);
  }
}

TEST_F(Remedies, AStreamThatIsNotCalledOneIsReadAllTheSame) {
  std::string stream =
      ": hello\n\n" + chunk(R"({"content":"hello"})", "null") + chunk("{}", "\"stop\"") + "data: [DONE]\n\n";
  for (const char* type : {"text/plain; charset=utf-8", "application/octet-stream", "application/json"}) {
    auto reply = after({raw(stream, type)});
    ASSERT_TRUE(reply) << type << ": " << reply.error().text();
    EXPECT_EQ(reply->end, ReplyEnd::kComplete) << type << ": " << reply->detail;
    EXPECT_EQ(reply->text, "hello") << type;
  }
}

}  // namespace
}  // namespace kforge
