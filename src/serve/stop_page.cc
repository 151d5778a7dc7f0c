// Ends a run or a suite that is under way, also one that was started from another terminal.
#include "base/lock_holder.h"
#include "serve/page.h"
#include "serve/site.h"
#include "store/run_lock.h"
#include "suite/run_list.h"

namespace kforge::serve {
namespace {

struct Target {
  std::string id, page;  // its address
  fs::path lock;
};

Result<Target> run_named(const std::string& id) {
  if (!is_id(id)) return fail("There is no such run");
  KF_TRY(fs::path home, kforge_home());
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(StoredRun run, records->run(id));
  KF_TRY(auto suites, SuiteFolder::all());
  if (const SuiteFolder* suite = suite_of(run, suites); suite && suite->held())
    return fail_with_remedy(
        fmt::format("Stop suite {} instead; the page of the suite does.", suite->plan().id),
        fmt::format("Run {} is part of a suite that is under way", run.id));
  return Target{run.id, "/runs/" + run.id, run_lock_file(home, run.id)};
}

Result<Target> running_suite(const std::string& id) {
  if (!is_id(id)) return fail("There is no such suite");
  KF_TRY(SuiteFolder suite, suite_by_id(id));
  return Target{suite.plan().id, "/suites/" + suite.plan().id, suite.lock_file()};
}

Answer stop(const Asked& asked, Site& site, const Result<Target>& target) {
  if (!site.jobs)
    return refusal(asked, 403, "Nothing is stopped from here", "The server was started with --read-only.");
  if (!target) return not_found(asked, target.error());
  if (auto done = site.interrupts.ask(target->lock); !done)
    return refusal(asked, 409, fmt::format("{} was not stopped: {}", target->id, done.error().message),
                   done.error().remedy);
  if (!asked.json) return go_to(target->page);
  return json_answer(Json{{"schema", "kforge.stop/1"}, {"id", target->id}, {"state", "stopping"}});
}

}  // namespace

Answer stop_run(const Asked& asked, Site& site) { return stop(asked, site, run_named(asked.parts[0])); }

Answer stop_suite(const Asked& asked, Site& site) { return stop(asked, site, running_suite(asked.parts[0])); }

void add_stopping(PageData& data, Site& site, const fs::path& lock) {
  const bool asked = site.interrupts.asked(lock);
  data.text("stopping", asked ? "yes" : "");
  data.text("may_stop", !asked && site.jobs && knows_lock_holder(lock) ? "yes" : "");
}

}  // namespace kforge::serve
