#include "llm/service_error.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

ServiceError of(int status, const std::string& body, std::map<std::string, std::string> headers = {}) {
  HttpAnswer answer;
  answer.status = status;
  answer.headers = std::move(headers);
  return read_service_error(answer, body);
}

struct Row {
  int status;
  const char* body;
  Trouble trouble;
  bool retry;
};

TEST(ServiceError, ServicesMeanTheseThings) {
  const Row rows[] = {
      {400,
       R"({"error":{"message":"m","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})",
       Trouble::kTooLong, false},
      {400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}})",
       Trouble::kTooLong, false},
      {400,
       R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}})",
       Trouble::kTooLong, false},
      {413, "", Trouble::kTooLong, false},
      {429,
       R"({"error":{"message":"Request too large for gpt-x: Limit 30000, Requested 30601","code":"rate_limit_exceeded"}})",
       Trouble::kTooLong, false},
      {400, R"({"error":{"message":"m","code":"content_filter"}})", Trouble::kRefused, false},
      {400, R"({"error":{"message":"m","code":"invalid_prompt"}})", Trouble::kRefused, false},
      {401, R"({"error":{"message":"m","code":"invalid_api_key"}})", Trouble::kKey, false},
      {402, "", Trouble::kMoney, false},
      {403, "<html>", Trouble::kNotAllowed, false},
      {404, R"({"error":"model 'x' not found"})", Trouble::kNoModel, false},
      {429, R"({"error":{"message":"m","type":"requests","code":"rate_limit_exceeded"}})", Trouble::kRate,
       true},
      {429, R"({"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}})",
       Trouble::kMoney, false},
      {429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}})",
       Trouble::kMoney, false},
      {429, R"([{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}])", Trouble::kRate, true},
      {400, R"({"object":"error","message":"bad","type":"BadRequestError","param":null,"code":400})",
       Trouble::kBadRequest, false},
      {500, "", Trouble::kServer, true},
      {503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
       Trouble::kOverloaded, true},
      {529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
       Trouble::kOverloaded, true},
      {307, "", Trouble::kRedirect, false},
  };
  for (const Row& row : rows) {
    ServiceError error = of(row.status, row.body);
    EXPECT_EQ(error.trouble, row.trouble) << row.status << " " << row.body;
    EXPECT_EQ(error.retry, row.retry) << row.status << " " << row.body;
  }
}

TEST(ServiceError, AModelBeingLoadedIsNotAFailure) {
  EXPECT_TRUE(
      of(503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})").loading);
  EXPECT_TRUE(of(503, R"({"error":"Model x is currently loading","estimated_time":20})").loading);
  EXPECT_FALSE(of(503, R"({"error":{"message":"we are overloaded"}})").loading);
  EXPECT_FALSE(of(400, R"({"error":{"message":"loading model failed"}})").loading);
}

TEST(ServiceError, AParameterOutOfRangeIsNoLongPrompt) {
  EXPECT_EQ(of(400, R"({"error":{"message":"temperature must be <= 2"}})").trouble, Trouble::kBadRequest);
}

TEST(ServiceError, WaitsAreReadFromHeadersAndTexts) {
  EXPECT_EQ(of(429, "{}", {{"retry-after", "7"}}).wait_seconds, 7);
  EXPECT_EQ(of(429, "{}", {{"retry-after-ms", "50"}, {"retry-after", "7"}}).wait_seconds, 0.05);
  EXPECT_EQ(of(429, R"({"error":{"message":"Please try again in 174ms."}})").wait_seconds, 0.174);
  EXPECT_EQ(of(429, R"({"error":{"message":"Please try again in 1m2.5s."}})").wait_seconds, 62.5);
  EXPECT_EQ(
      of(429, R"({"error":{"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"23s"}]}})")
          .wait_seconds,
      23);
  EXPECT_EQ(of(429, "{}").wait_seconds, std::nullopt);
  double at = 784111777;  // the date below
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", at - 10), 10);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", at + 10), 0);
  for (const char* nonsense : {"", "soon", "-1", "nan", "1e300", "7 days, perhaps"})
    EXPECT_EQ(parse_retry_after(nonsense, 0), std::nullopt) << nonsense;
}

TEST(ServiceError, AFittingOutputLimitIsComputed) {
  auto fitting = [](const std::string& message) {
    return of(400, R"({"error":{"message":")" + message + R"("}})").fitting_output_tokens;
  };
  EXPECT_EQ(fitting("max_tokens is too large: 32000. This model supports at most 16384 completion tokens"),
            16384);
  EXPECT_EQ(fitting("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens"), 8192);
  EXPECT_EQ(
      fitting(
          "'max_tokens' is too large: 32000. This model's maximum context length is 16384 tokens and your "
          "request has 6000 input tokens"),
      16384 - 6000 - 64);
  EXPECT_EQ(fitting("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"),
            200000 - 190000 - 64);
  EXPECT_EQ(
      fitting(
          "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8100 in "
          "the messages, 900 in the completion)"),
      0)
      << "no room worth having: the prompt must shrink";
  // The same in other services' words.
  EXPECT_EQ(fitting("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8192);
  EXPECT_EQ(
      fitting("it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to "
              "65537 (exclusive)"),
      65536);
  EXPECT_EQ(fitting("You passed 5001 input tokens and requested 32000 output tokens. However, the model's "
                    "context length is only 32768 tokens"),
            32768 - 5001 - 64);
  EXPECT_EQ(fitting("Requested token count exceeds the model's maximum context length of 32768 tokens. You "
                    "requested a total of 37000 tokens: 5000 tokens from the input messages and 32000 tokens "
                    "for the completion."),
            32768 - 5000 - 64);
  EXPECT_EQ(fitting("This endpoint's maximum context length is 32768 tokens. However, you requested about "
                    "40000 tokens (8000 of text input, 32000 in the output)."),
            32768 - 8000 - 64);
  EXPECT_EQ(fitting("`inputs` tokens + `max_new_tokens` must be <= 16384. Given: 5000 `inputs` tokens and "
                    "32000 `max_new_tokens`"),
            16384 - 5000 - 64);
  EXPECT_EQ(fitting("maximum context length is 99999999999999999999 tokens, 5 in the messages"), 0);
}

TEST(ServiceError, TextsAreOneSafeLine) {
  ServiceError error = of(500, R"({"error":{"message":"bad\n\u001b[31mred sk-abcdefgh12345678"}})");
  EXPECT_EQ(error.message, "bad  [31mred [key]");
  EXPECT_LT(of(500, std::string(100'000, 'x')).message.size(), 400u);
}

}  // namespace
}  // namespace kforge
