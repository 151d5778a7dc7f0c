// A model's recommendation: the one JSON object its reply must be.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "generate/attempt.h"

namespace kforge {

// The advice, or what is wrong with the reply, in words for the model. Prose around the object is forgiven;
// several objects, missing keys, gains below 1 and tags that do not exist are not.
std::expected<Advice, std::string> advice_from_reply(std::string_view reply);

}  // namespace kforge
