// All pages of the site on a server. Each handler is a function from what is asked to the answer; it opens
// the store for itself, so that any number of them work at once.
#pragma once

#include "report/page_template.h"
#include "serve/interrupts.h"
#include "serve/job_book.h"
#include "serve/live_runs.h"
#include "serve/own_documents.h"
#include "serve/server.h"
#include "suite/suite_folder.h"

namespace kforge::serve {

// What handlers share. Outlives the server.
struct Site {
  explicit Site(const mcp::OwnProgram& program,
                std::chrono::milliseconds look_every = std::chrono::seconds(1))
      : documents(program), live(look_every) {}

  OwnDocuments documents;
  LiveRuns live;
  Interrupts interrupts;
  JobBook* jobs = nullptr;  // null: read-only, nothing is started from here
};

void mount_site(Server& server, Site& site);

Answer overview_page(const Asked& asked, Site& site);
Answer results_page(const Asked& asked);
Answer result_page(const Asked& asked);
Answer runs_page(const Asked& asked);
Answer run_page(const Asked& asked, Site& site);
Answer run_events(const Asked& asked, Site& site);
Answer suites_page(const Asked& asked);
Answer suite_page(const Asked& asked, Site& site);
Answer tasks_page(const Asked& asked, Site& site);
Answer task_page(const Asked& asked, Site& site);
Answer platforms_page(const Asked& asked, Site& site);
Answer machines_page(const Asked& asked);
Answer models_page(const Asked& asked);
Answer compare_page(const Asked& asked, Site& site);
Answer start_page(const Asked& asked, Site& site);
Answer jobs_page(const Asked& asked, Site& site);
Answer job_page(const Asked& asked, Site& site);
Answer job_events(const Asked& asked, Site& site);
Answer start_job(const Asked& asked, Site& site);
Answer stop_job(const Asked& asked, Site& site);
Answer stop_run(const Asked& asked, Site& site);
Answer stop_suite(const Asked& asked, Site& site);

// Whether what holds this lock can be stopped from the page: "may_stop", or was already: "stopping".
void add_stopping(PageData& data, Site& site, const std::filesystem::path& lock);
// "running", "stopped", "finished: no_gain": with why it ended, which alone would be a riddle.
std::string page_state(const StoredRun& run, RunActivity activity);
// By its whole id: what an address says never becomes a path.
Result<SuiteFolder> suite_by_id(const std::string& id);

}  // namespace kforge::serve
