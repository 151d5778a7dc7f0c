// What this program's commands print with --json, asked in processes of their own and kept for a while: pages
// show the same records as the commands, and however many people look, each is asked for once.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mcp/own_program.h"
#include "serve/list_view.h"

namespace kforge::serve {

class OwnDocuments {
 public:
  explicit OwnDocuments(const mcp::OwnProgram& program) : program_(program) {}

  // At most `seconds` old. An Error is the command's own, and is not kept.
  Result<Json> get(const std::vector<std::string>& arguments, double seconds);

 private:
  struct Kept {
    std::mutex asking;
    std::chrono::steady_clock::time_point at{};
    Json document;  // null: none yet
  };
  static constexpr std::size_t kMost = 200;

  const mcp::OwnProgram& program_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, std::shared_ptr<Kept>> kept_;
};

}  // namespace kforge::serve
