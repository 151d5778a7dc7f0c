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

void mount_site(Server& server, Site& site) {
  auto get = [&](const char* path, Handler handler, Access access = Access::kRead) {
    server.mount({"GET", path, access, std::move(handler)});
  };
  auto with_site = [&](Answer (*handler)(const Asked&, Site&)) {
    return [&site, handler](const Asked& asked) { return handler(asked, site); };
  };
  get(
      "/login", [&server](const Asked& asked) { return log_in(asked, server.guard()); }, Access::kAnyone);
  get("/static/*", static_file, Access::kAnyone);
  get("/", with_site(overview_page));
  get("/index", with_site(overview_page));
  get("/runs", runs_page);
  get("/runs/*", with_site(run_page));
  get("/runs/*/events", with_site(run_events));
  get("/results", results_page);
  get("/results/*", result_page);
  get("/suites", suites_page);
  get("/suites/*", with_site(suite_page));
  get("/tasks", with_site(tasks_page));
  get("/tasks/**", with_site(task_page));
  get("/platforms", with_site(platforms_page));
  get("/machines", machines_page);
  get("/models", models_page);
  get("/compare", with_site(compare_page));
  get("/start", with_site(start_page));
  get("/jobs", with_site(jobs_page));
  get("/jobs/*", with_site(job_page));
  get("/jobs/*/events", with_site(job_events));
  server.mount({"POST", "/jobs", Access::kChange, with_site(start_job)});
  server.mount({"POST", "/jobs/*/stop", Access::kChange, with_site(stop_job)});
  server.mount({"POST", "/runs/*/stop", Access::kChange, with_site(stop_run)});
  server.mount({"POST", "/suites/*/stop", Access::kChange, with_site(stop_suite)});
}

}  // namespace kforge::serve
