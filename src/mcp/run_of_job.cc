#include "mcp/run_of_job.h"

#include "mcp/tool_words.h"

namespace kforge::mcp {

Json run_row(const OwnProgram& program, const fs::path& folder, const std::stop_token& stop) {
  auto answer = program.run({"runs", "--limit=200", "--json"}, stop, kQuick);
  if (!answer || !answer->document.is_object()) return nullptr;
  for (const char* list : {"runs", "suites"})
    for (const Json& one : answer->document.value(list, Json::array()))
      if (string_at(one, "folder") == folder.string()) return one;
  return nullptr;
}

Json run_document(const OwnProgram& program, const fs::path& folder, const std::stop_token& stop) {
  const Json row = run_row(program, folder, stop);
  if (row.is_null()) return nullptr;
  auto answer = program.run({"show", string_at(row, "id"), "--json"}, stop, kQuick);
  return answer ? answer->document : Json(nullptr);
}

}  // namespace kforge::mcp
