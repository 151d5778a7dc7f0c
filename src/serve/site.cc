#include "serve/site.h"

#include "serve/page.h"
#include "serve/static_files.h"

namespace kforge::serve {
namespace {

// The link that was printed at the start: the token moves from the address into a cookie.
Answer log_in(const Asked& asked, const Guard& guard) {
  if (!guard.is_token(asked.asked("token")))
    return refusal(asked, 401, "That is not the token of this server",
                   "Open the link that kforge serve printed when it was started; each start has a new one.");
  Answer answer = go_to("/");
  answer.headers.emplace_back("Set-Cookie", guard.cookie());
  return answer;
}

}  // namespace

void mount_site(Server& server) {
  auto get = [&](const char* path, Handler handler, Access access = Access::kRead) {
    server.mount({"GET", path, access, std::move(handler)});
  };
  get(
      "/login", [&server](const Asked& asked) { return log_in(asked, server.guard()); }, Access::kAnyone);
  get("/static/*", static_file, Access::kAnyone);
  get("/", [](const Asked&) { return go_to("/runs"); });
  get("/runs", runs_page);
  get("/runs/*", run_page);
  get("/results", results_page);
  get("/results/*", result_page);
}

}  // namespace kforge::serve
