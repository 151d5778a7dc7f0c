// What the two protocols look like on the wire, seen from the service. No sockets here.
#pragma once

#include <string>
#include <vector>

#include "e2e/model_server.h"

namespace kforge {

enum class Protocol { kOpenAi, kAnthropic };

// False when the body is no valid request of the protocol; `why` then says so as the service would.
bool read_call(Protocol protocol, const std::string& body, SeenCall& call, std::string& why);

// The events of a streamed reply, each with its line ends; the last ones carry the end mark and the usage.
std::vector<std::string> stream_events(Protocol protocol, const SeenCall& call, const ModelStep& step);
// The same reply without a stream.
std::string plain_reply(Protocol protocol, const SeenCall& call, const ModelStep& step);
// Only the events that bring `text`: what faults send before they strike.
std::vector<std::string> text_events(Protocol protocol, const SeenCall& call, const std::string& text);

std::string error_body(Protocol protocol, const std::string& type, const std::string& code,
                       const std::string& message);

}  // namespace kforge
