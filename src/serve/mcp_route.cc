#include "serve/mcp_route.h"

#include "mcp/tools.h"

namespace kforge::serve {
namespace {

mcp::HttpRequest request_of(const Asked& asked) {
  mcp::HttpRequest request{.method = asked.method, .body = asked.body};
  request.headers.assign(asked.headers.begin(), asked.headers.end());
  return request;
}

Answer answer_of(mcp::HttpAnswer given) {
  Answer answer{.status = given.status,
                .type = std::move(given.content_type),
                .body = std::move(given.body),
                .headers = std::move(given.headers)};
  if (given.stream)
    answer.stream = [stream = std::move(given.stream)](Sink& sink, const std::stop_token&) {
      stream({[&sink](std::string_view text) { return sink.write(text); }, [&sink] { return sink.open(); }});
    };
  return answer;
}

}  // namespace

Assistants::Assistants(mcp::OwnProgram program, const std::filesystem::path& home)
    : program_(std::move(program)),
      jobs_(program_, home / "mcp"),
      sessions_(program_, jobs_),
      tools_(mcp::all_tools(program_, jobs_, sessions_)),
      endpoint_(tools_, mcp::Resources(program_)) {}

void Assistants::mount(Server& server) {
  // Whatever the method, it needs the token: nobody else learns what is here.
  for (const char* method : {"POST", "DELETE", "GET"})
    server.mount({method, "/mcp", Access::kChange,
                  [this](const Asked& asked) { return answer_of(endpoint_.handle(request_of(asked))); }});
}

}  // namespace kforge::serve
