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
  EXPECT_EQ(fitting("maximum context length is 99999999999999999999 tokens, 5 in the messages"), 0);
}

TEST(ServiceError, TextsAreOneSafeLine) {
  ServiceError error = of(500, R"({"error":{"message":"bad\n\u001b[31mred sk-abcdefgh12345678"}})");
  EXPECT_EQ(error.message, "bad  [31mred [key]");
  EXPECT_LT(of(500, std::string(100'000, 'x')).message.size(), 400u);
}

}  // namespace
}  // namespace kforge
