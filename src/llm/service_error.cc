#include "llm/service_error.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <regex>

#include "base/result.h"
#include "base/text.h"
#include "llm/json.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

bool has_any(const std::string& text, std::initializer_list<const char*> phrases) {
  return std::ranges::any_of(phrases,
                             [&](const char* phrase) { return text.find(phrase) != std::string::npos; });
}

// The fields of an error object, whichever of the known shapes it has.
struct ErrorFields {
  std::string message, code, type, parameter;
  std::string details;  // everything, for phrases that hide deeper
};

ErrorFields read_fields(std::string_view body) {
  ErrorFields fields;
  Json json = parse_json(valid_utf8(body));
  if (json.is_array() && !json.empty()) json = Json(json[0]);  // Gemini wraps it in a list
  Json error = member(json, "error");
  if (error.is_string()) fields.message = error.get<std::string>();
  if (!error.is_object()) error = json;
  if (error.is_object()) {
    if (fields.message.empty()) fields.message = text_of(error, "message");
    fields.type = text_of(error, "type");
    if (fields.type.empty()) fields.type = text_of(error, "status");
    fields.code = text_of(error, "code");
    fields.parameter = text_of(error, "param");
    fields.details = dump_json(error);
  }
  if (fields.message.empty()) fields.message = std::string(body.substr(0, 2000));
  return fields;
}

bool says_too_long(const std::string& code, const std::string& type, const std::string& text) {
  return code == "context_length_exceeded" || type == "exceed_context_size_error" ||
         has_any(text, {"maximum context length", "prompt is too long", "exceed context limit",
                        "exceeds the available context size", "exceeds the maximum number of tokens",
                        "input tokens exceed", "longer than the model's context length", "context window",
                        "context length is only", "`max_new_tokens` must be <= ", "request too large"});
}

Trouble trouble_of(int status, const ErrorFields& fields) {
  std::string code = lower_case(fields.code), type = lower_case(fields.type),
              text = lower_case(fields.message);
  std::string details = lower_case(fields.details);
  if (status >= 300 && status < 400) return Trouble::kRedirect;
  if (has_any(code + " " + type, {"insufficient_quota", "credit_balance", "billing", "spend_limit"}) ||
      details.find("enforced_spend_limit") != std::string::npos || status == 402 ||
      has_any(text, {"credit balance is too low", "exceeded your current quota", "perday"}))
    return Trouble::kMoney;
  if (status != 401 && status != 403 && says_too_long(code, type, text)) return Trouble::kTooLong;
  if (has_any(code, {"content_filter", "content_policy", "invalid_prompt"})) return Trouble::kRefused;
  if (status == 413) return Trouble::kTooLong;
  if (status == 401 || code == "invalid_api_key" || type == "authentication_error") return Trouble::kKey;
  if (status == 403 || type == "permission_error") return Trouble::kNotAllowed;
  if (code == "model_not_found" || status == 404 || type == "not_found_error") return Trouble::kNoModel;
  if (status == 429 || has_any(code + " " + type, {"rate_limit", "resource_exhausted", "slow_down"}))
    return Trouble::kRate;
  if (status == 503 || status == 529 || type == "overloaded_error" || type == "unavailable_error")
    return Trouble::kOverloaded;
  if (status == 408 || status == 409) return Trouble::kServer;
  if ((status >= 400 && status < 500) || type == "invalid_request_error") return Trouble::kBadRequest;
  return Trouble::kServer;
}

int number_after(const std::string& text, const char* pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return 0;
  int value = 0;
  std::string digits = match[1];
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Two cases: the limit on the output itself is too high for the model, or it does not fit beside the prompt.
void find_fitting_output(const std::string& message, ServiceError& error) {
  std::string text = lower_case(message.substr(0, 2000));
  int most = number_after(text, R"(supports at most (\d{1,8}) completion)");
  if (!most) most = number_after(text, R"(max_tokens: \d{1,8} > (\d{1,8})\b)");
  if (!most) most = number_after(text, R"(valid range of max_tokens is \[1, ?(\d{1,8})\])");
  if (!most) most = number_after(text, R"(maxoutputtokens .*to (\d{1,8}) \(exclusive\))") - 1;
  if (most > 0) {
    error.fitting_output_tokens = most;
    return;
  }
  // Each service has its own words for the same sum.
  int context = 0, prompt = 0;
  for (const char* words : {R"(maximum context length (?:is|of) (\d{1,8})\b)",
                            R"(context length is only (\d{1,8})\b)", R"(must be <= (\d{1,8})\b)"})
    if (!context) context = number_after(text, words);
  for (const char* words :
       {R"((\d{1,8}) in the messages)", R"((\d{1,8}) input tokens)", R"((\d{1,8}) tokens from the input)",
        R"((\d{1,8}) of text input)", R"((\d{1,8}) `inputs` tokens)"})
    if (!prompt) prompt = number_after(text, words);
  if (!context) {
    context = number_after(text, R"(exceed context limit: \d{1,8} \+ \d{1,8} > (\d{1,8})\b)");
    prompt = number_after(text, R"(exceed context limit: (\d{1,8}) \+)");
  }
  constexpr int kMargin = 64, kLeastUseful = 1024;
  int room = context - prompt - kMargin;
  if (context <= 0 || prompt <= 0 || room < kLeastUseful) return;
  error.fitting_output_tokens = room;
  error.fitting_for_this_prompt = true;
}

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<double> stated_wait(const HttpAnswer& answer, const ErrorFields& fields) {
  if (auto ms = parse_retry_after(answer.header("retry-after-ms"), 0)) return *ms / 1000;
  if (auto wait = parse_retry_after(answer.header("retry-after"), unix_now())) return wait;
  Json details = parse_json(fields.details);
  for (const Json& detail : member(details, "details"))
    if (auto wait = wait_in_text("in " + text_of(detail, "retryDelay"))) return wait;
  return wait_in_text(fields.message);
}

ServiceError described(int status, const ErrorFields& fields) {
  ServiceError error;
  error.status = status;
  error.trouble = trouble_of(status, fields);
  error.message = safe_line(fields.message);
  error.parameter = fields.parameter;
  find_fitting_output(fields.message, error);
  std::string text = lower_case(fields.message.substr(0, 2000));
  error.loading = error.trouble == Trouble::kOverloaded &&
                  has_any(text, {"loading model", "is loading", "currently loading"});
  bool passing = error.trouble == Trouble::kRate || error.trouble == Trouble::kOverloaded ||
                 error.trouble == Trouble::kServer;
  error.retry = passing;
  return error;
}

}  // namespace

std::optional<double> parse_retry_after(const std::string& value, double now) {
  if (value.empty()) return std::nullopt;
  double seconds = 0;
  auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (problem == std::errc() && end == value.data() + value.size())
    return seconds >= 0 && seconds < 1e9 ? std::optional(seconds) : std::nullopt;
  std::time_t date = curl_getdate(value.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(0.0, static_cast<double>(date) - now);
}

std::optional<double> wait_in_text(std::string_view text) {
  static const std::regex kForm(R"(\bin (?:(\d{1,5})m)?(\d{1,7}(?:\.\d{1,6})?)(ms|s)\b)");
  std::cmatch match;
  std::string_view start = text.substr(0, 2000);
  if (!std::regex_search(start.data(), start.data() + start.size(), match, kForm)) return std::nullopt;
  double minutes = match[1].matched ? std::stod(match[1]) : 0;
  double number = std::stod(match[2]);
  return minutes * 60 + (match[3] == "ms" ? number / 1000 : number);
}

ServiceError read_service_error(const HttpAnswer& answer, std::string_view body) {
  ErrorFields fields = read_fields(body);
  if (fields.message.empty()) fields.message = fmt::format("HTTP status {}", answer.status);
  ServiceError error = described(answer.status, fields);
  error.wait_seconds = stated_wait(answer, fields);
  if (answer.header("x-should-retry") == "false") error.retry = false;
  if (answer.header("x-should-retry") == "true" && error.trouble != Trouble::kMoney) error.retry = true;
  if (error.trouble == Trouble::kRedirect) error.message = safe_line(answer.header("location"));
  return error;
}

ServiceError read_stream_error(std::string_view json) {
  ErrorFields fields = read_fields(json);
  // Some services put the status into the code.
  Json parsed = parse_json(json);
  int status = static_cast<int>(count_of(member(parsed, "error"), "code").value_or(0));
  ServiceError error = described(status, fields);
  error.wait_seconds = wait_in_text(fields.message);
  return error;
}

}  // namespace kforge
