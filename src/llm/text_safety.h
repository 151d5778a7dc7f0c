// Bytes from services and people made into text that every later step can carry.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace kforge {

// At most `limit` bytes on one line, for messages: control characters become spaces, keys are taken out.
std::string safe_line(std::string_view text, std::size_t limit = 300);

// Reasoning that some servers leave in the text: a leading <think>...</think>, or all before a lone </think>.
std::string without_thinking(std::string text);

std::string base64(std::string_view bytes);

// The usual rule of thumb where a service tells no count.
std::int64_t estimated_tokens(std::size_t characters);

}  // namespace kforge
