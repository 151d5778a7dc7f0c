// /mcp: the tools for coding assistants over HTTP (docs/mcp.md), behind the server's own guard.
#pragma once

#include <filesystem>
#include <memory>

#include "mcp/http_endpoint.h"
#include "mcp/jobs.h"
#include "mcp/writing_sessions.h"
#include "serve/server.h"

namespace kforge::serve {

// The tools with what they work on. Dropping it ends their jobs: after the server has stopped.
class Assistants {
 public:
  // `home`: of the store.
  Assistants(mcp::OwnProgram program, const std::filesystem::path& home);

  // REQUIRES: it outlives the server.
  void mount(Server& server);

 private:
  mcp::OwnProgram program_;
  mcp::Jobs jobs_;
  mcp::WritingSessions sessions_;
  std::vector<mcp::Tool> tools_;
  mcp::HttpEndpoint endpoint_;
};

}  // namespace kforge::serve
