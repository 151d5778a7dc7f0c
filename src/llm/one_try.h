// One request to a model service and what came of it: a reply (whatever its end) or an error of the service.
#pragma once

#include <optional>

#include "llm/dialect.h"
#include "llm/http.h"
#include "llm/llm.h"

namespace kforge {

struct OneTry {
  HttpAnswer http;
  Received received;
  std::string body;       // of an answer that is no stream, as far as it is kept
  bool overfull = false;  // more text than any reply has
};

OneTry send_once(HttpClient& http, const Dialect& dialect, const HttpRequest& request,
                 const HttpLimits& limits, const ReplyWatch& watch);

// What the service complains about, when it does.
std::optional<ServiceError> complaint_of(const OneTry& done);
// The reply, when there is no complaint: how it ended is judged here.
ModelReply reply_of(OneTry done, double seconds);

}  // namespace kforge
