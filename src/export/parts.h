// Files of an export that are the same for every kernel, kept as code below parts/ and embedded at build
// time.
#pragma once

#include <string_view>
#include <vector>

namespace kforge {

struct ExportPart {
  std::string_view name;  // "native/plan.cc"
  std::string_view text;
};

const std::vector<ExportPart>& export_parts();
// REQUIRES: there is one.
std::string_view export_part(std::string_view name);

}  // namespace kforge
