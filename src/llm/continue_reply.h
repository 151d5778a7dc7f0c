// The remedy for a reply that ran into the output limit: ask the model to go on, and join what it says.
#pragma once

#include <functional>

#include "llm/llm.h"

namespace kforge {

// Told of every call that was made, as it ends.
using CallListener = std::function<void(const ModelRequest& request, const ModelReply& reply)>;

// Asks; while the reply is truncated, asks to go on, at most `continuations` times. Usage, seconds and tries
// are those of all the calls. A reply that is still truncated then says so. When the limit went into thinking
// alone, the limit is doubled instead. Each call has its own ordinal, counted on from the request's.
Result<ModelReply> ask_to_the_end(ModelClient& model, const ModelRequest& request, const ReplyWatch& watch,
                                  int continuations = 3, const CallListener& on_call = {});

// The two parts as one text: a repeated piece is taken once, a code fence that was opened again is not.
std::string join_reply(const std::string& first, const std::string& second);

}  // namespace kforge
