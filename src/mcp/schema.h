// The words of JSON Schema that tools describe their arguments with.
#pragma once

#include "mcp/rpc.h"

namespace kforge::mcp {

inline Json text_of(const std::string& what) {
  return {{"type", "string"}, {"description", what}, {"maxLength", 4096}};
}
inline Json source_of(const std::string& what) {
  return {{"type", "string"}, {"description", what}, {"maxLength", 1 << 20}};
}
inline Json one_of(const std::vector<std::string>& words, const std::string& what) {
  return {{"type", "string"}, {"enum", words}, {"description", what}};
}
inline Json flag_of(const std::string& what) { return {{"type", "boolean"}, {"description", what}}; }
inline Json number_of(double least, double most, const std::string& what) {
  return {{"type", "number"}, {"minimum", least}, {"maximum", most}, {"description", what}};
}
inline Json words_of(const std::string& what) {
  return {{"type", "array"}, {"items", {{"type", "string"}, {"maxLength", 4096}}}, {"description", what}};
}
inline Json object_of(Json properties, std::vector<std::string> required = {}) {
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

// What a tool answers: the fields a caller can build on, by name and meaning. There may be more.
inline Json field_of(const char* type, const std::string& what) {
  return {{"type", type}, {"description", what}};
}
inline Json answer_of(Json properties, std::vector<std::string> required = {}) {
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace kforge::mcp
