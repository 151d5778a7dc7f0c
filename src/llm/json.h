// nlohmann-json for text from outside: nothing here throws. Heavy: for .cc files only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kforge {

using Json = nlohmann::json;

// Discarded when it is no JSON. What is nested deeper than any protocol does is left out, so that a hostile
// megabyte of brackets does not become a hundred of memory.
Json parse_json(std::string_view text);

// The member, or null when absent or when `object` is none.
const Json& member(const Json& object, const char* key);
// A string; "" for null, absent and other types.
std::string text_of(const Json& object, const char* key);
std::optional<std::int64_t> count_of(const Json& object, const char* key);

std::string dump_json(const Json& json);

}  // namespace kforge
