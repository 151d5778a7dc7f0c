// What a service means by an error: its status, its error object, its retry-after headers, in one record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llm/http.h"

namespace kforge {

enum class Trouble : std::uint8_t {
  kKey,         // the key is refused
  kMoney,       // no credit, a spending limit: waiting does not help
  kNotAllowed,  // region, permission
  kNoModel,     // no such model or address
  kBadRequest,  // the request is not what the service takes
  kTooLong,     // prompt longer than the context
  kRefused,     // a policy filter
  kRate,        // too fast
  kOverloaded,  // busy, loading
  kServer,      // its own error
  kRedirect,
};

struct ServiceError {
  Trouble trouble = Trouble::kServer;
  int status = 0;
  std::string message;    // one line, keys taken out
  std::string parameter;  // the field complained about, where it says so
  std::optional<double> wait_seconds;
  bool retry = false;    // asking again later may help
  bool loading = false;  // a local server that is not ready yet: it will be
  // A shorter limit on the output that would fit, where the message says enough to compute it.
  int fitting_output_tokens = 0;
  bool fitting_for_this_prompt = false;  // another prompt leaves another room
};

// Of an answer whose status is not 2xx.
ServiceError read_service_error(const HttpAnswer& answer, std::string_view body);
// Of an error object inside a stream or a 200 answer: the JSON text of the event.
ServiceError read_stream_error(std::string_view json);

// "3", "2.5" (seconds) or an HTTP date. `now`: seconds since 1970.
std::optional<double> parse_retry_after(const std::string& value, double now);
// "... try again in 3.89s", "174ms", "1m2s".
std::optional<double> wait_in_text(std::string_view text);

}  // namespace kforge
