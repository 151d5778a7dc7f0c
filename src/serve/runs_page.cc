// Runs: the list, and one with the content of its report.
#include "base/readable.h"
#include "forge/forge.h"
#include "report/run_evidence.h"
#include "serve/list_view.h"
#include "serve/page.h"
#include "serve/site.h"
#include "store/run_lock.h"
#include "suite/run_list.h"

namespace kforge::serve {
namespace {

RunOrder run_order(const std::string& word) {
  constexpr std::pair<const char*, RunOrder> kWords[] = {
      {"task", RunOrder::kTask}, {"platform", RunOrder::kPlatform}, {"speedup", RunOrder::kSpeedup}};
  for (const auto& [name, order] : kWords)
    if (word == name) return order;
  return RunOrder::kNewest;
}

std::optional<RunState> state_from(const std::string& word) {
  for (RunState state : {RunState::kRunning, RunState::kFinished})
    if (word == name_of(state)) return state;
  return std::nullopt;
}

Row row_of(const StoredRun& run, RunActivity activity, const SuiteFolder* suite) {
  return {{{run.id, "/runs/" + address_word(run.id)},
           {run.task, "/runs?task=" + address_word(run.task)},
           {run.platform},
           {page_state(run, activity), "", std::string(name_of(activity))},
           {outcome_words(run), "", "", run.speedup},
           {run.generator},
           {suite ? suite->plan().id : "", suite ? "/suites/" + suite->plan().id : ""},
           {minute_of(run.created_at)}},
          to_json(run, activity, suite)};
}

Result<ListView> runs_list(const Asked& asked) {
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(auto suites, SuiteFolder::all());
  const ListAsked wanted = list_asked(asked);
  KF_TRY(RunPage found, records->find({.task = asked.asked("task"),
                                       .platform = asked.asked("platform"),
                                       .state = state_from(asked.asked("state")),
                                       .search = wanted.search,
                                       .sort = run_order(wanted.sort),
                                       .ascending = wanted.ascending,
                                       .limit = wanted.size,
                                       .offset = wanted.offset}));
  ListView view{.section = "runs", .title = "Runs", .schema = "kforge.runs/1", .records = "runs"};
  view.about = "Every search for a kernel, under way or ended.";
  view.columns = {{"run", "when", false, true},
                  {"task", "task"},
                  {"platform", "platform"},
                  {"state"},
                  {"result", "speedup", false, true},
                  {"generator"},
                  {"suite"},
                  {"when", "when", false, true}};
  view.choices = {{"state", "State", {"running", "finished"}}};
  for (const char* name : {"task", "platform"})
    if (!asked.asked(name).empty()) view.choices.push_back({name, name, {}});
  view.empty = wanted.search.empty() ? "There is no such run. `kforge forge` makes one." : "Nothing fits.";
  for (const StoredRun& run : found.rows)
    view.rows.push_back(row_of(run, activity_of(*records, run), suite_of(run, suites)));
  view.total = found.total;
  view.arranged = view.may_compare = true;
  return view;
}

struct OneRun {
  RunReport report;
  RunEvidence evidence;
  RunAtWork work;
  std::string suite;  // id of the one under way that it is part of
};

Result<OneRun> read_one(const std::string& id, bool with_evidence) {
  KF_TRY(auto records, RunRecords::open());
  OneRun one;
  KF_TRY(one.report, report_of(*records, id));
  if (with_evidence) {
    KF_TRY(one.evidence, evidence_of(*records, one.report));
    KF_TRY(one.work, at_work(*records, one.report.id));
    one.work.best = best_words(one.report);
    KF_TRY(auto suites, SuiteFolder::all());
    if (const SuiteFolder* suite = suite_of(one.work.run, suites); suite && suite->held())
      one.suite = suite->plan().id;
  }
  return one;
}

}  // namespace

std::string page_state(const StoredRun& run, RunActivity activity) {
  if (activity != RunActivity::kFinished || !run.ended) return std::string(name_of(activity));
  return fmt::format("finished: {}", name_of(*run.ended));
}

Answer runs_page(const Asked& asked) {
  auto view = runs_list(asked);
  return view ? list_page(asked, std::move(*view))
              : refusal(asked, 500, view.error().message, view.error().remedy);
}

Answer run_page(const Asked& asked, Site& site) {
  if (!is_id(asked.parts[0])) return refusal(asked, 404, "There is no such run");
  auto one = read_one(asked.parts[0], !asked.json);
  if (!one) return not_found(asked, one.error());
  if (asked.json) return json_answer(kforge::to_json(one->report));
  PageData data = page_data(one->report, one->evidence);
  add_frame(data, asked, fmt::format("{} on {}", one->report.task, one->report.platform), "runs");
  data.text("run_id", one->report.id).text("is_live", one->work.under_way() ? "yes" : "");
  if (one->work.under_way()) add_live_tiles(data, one->work);
  data.text("job", one->work.under_way() && site.jobs ? site.jobs->job_of(one->report.id) : "");
  data.text("part_of", one->suite);
  add_stopping(data, site, run_lock_file(kforge_home().value_or(""), one->report.id));
  return page(asked, "run", data);
}

Answer run_events(const Asked& asked, Site& site) {
  if (!is_id(asked.parts[0])) return refusal(asked, 404, "There is no such run");
  auto records = RunRecords::open();
  if (!records) return refusal(asked, 500, records.error().message, records.error().remedy);
  auto run = (*records)->run(asked.parts[0]);
  if (!run) return not_found(asked, run.error());
  return event_stream(site.live.watch(run->id));
}

}  // namespace kforge::serve
