// The first page: what is under way, and what is new.
#include "base/clock.h"
#include "report/speedup_text.h"
#include "serve/page.h"
#include "serve/site.h"
#include "store/row_json.h"
#include "suite/run_list.h"

namespace kforge::serve {
namespace {

constexpr std::size_t kNewest = 8;

struct News {
  std::vector<std::pair<StoredRun, RunActivity>> runs;
  std::vector<ResultRow> results;
  std::size_t run_count = 0, result_count = 0;
};

Result<News> news() {
  News all;
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(Store store, Store::open());
  KF_TRY(RunPage runs, records->find({.limit = kNewest}));
  for (StoredRun& run : runs.rows) {
    const RunActivity activity = activity_of(*records, run);
    all.runs.emplace_back(std::move(run), activity);
  }
  all.run_count = runs.total;
  KF_TRY(ResultPage results, store.find_results({.limit = kNewest}));
  all.results = std::move(results.rows);
  all.result_count = results.total;
  return all;
}

}  // namespace

Answer overview_page(const Asked& asked, Site&) {
  auto all = news();
  if (!all) return refusal(asked, 500, all.error().message, all.error().remedy);
  if (asked.json) {
    Json runs = Json::array(), results = Json::array();
    for (const auto& [run, activity] : all->runs) runs.push_back(to_json(run, activity, nullptr));
    for (const ResultRow& row : all->results) results.push_back(to_json(row));
    return json_answer(Json{{"schema", "kforge.overview/1"},
                            {"run_count", all->run_count},
                            {"result_count", all->result_count},
                            {"runs", runs},
                            {"results", results}});
  }
  PageData data;
  add_frame(data, asked, "KForge", "");
  data.rows("runs").rows("results");
  data.text("run_count", std::to_string(all->run_count))
      .text("result_count", std::to_string(all->result_count));
  for (const auto& [run, activity] : all->runs)
    data.row("runs", PageData()
                         .text("run", run.id)
                         .text("task", run.task)
                         .text("platform", run.platform)
                         .text("state", page_state(run, activity))
                         .text("activity", name_of(activity))
                         .text("outcome", outcome_words(run))
                         .text("when", minute_of(run.created_at)));
  for (const ResultRow& row : all->results)
    data.row("results", PageData()
                            .text("result", row.id)
                            .text("task", row.task)
                            .text("platform", row.platform)
                            .text("outcome", row.outcome)
                            .text("outcome_class", row.outcome == "passed" ? "passed" : "failed-word")
                            .text("speedup", speedup_text(row))
                            .text("when", minute_of(row.created_at)));
  return page(asked, "overview", data);
}

}  // namespace kforge::serve
