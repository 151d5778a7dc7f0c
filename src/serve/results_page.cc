// Results: the list, and one with all its evidence.
#include "base/readable.h"
#include "report/run_evidence.h"
#include "report/speedup_text.h"
#include "serve/list_view.h"
#include "serve/page.h"
#include "serve/site.h"
#include "store/row_json.h"

namespace kforge::serve {
namespace {

ResultOrder result_order(const std::string& word) {
  constexpr std::pair<const char*, ResultOrder> kWords[] = {{"task", ResultOrder::kTask},
                                                            {"platform", ResultOrder::kPlatform},
                                                            {"outcome", ResultOrder::kOutcome},
                                                            {"time", ResultOrder::kTime},
                                                            {"speedup", ResultOrder::kSpeedup}};
  for (const auto& [name, order] : kWords)
    if (word == name) return order;
  return ResultOrder::kNewest;
}

// The file and the folder it lies in tell kernels apart; the twin has the whole path.
std::string kernel_words(const fs::path& path) {
  return path.has_parent_path() ? (path.parent_path().filename() / path.filename()).string() : path.string();
}

Row row_of(const ResultRow& row) {
  const bool passed = row.outcome == "passed";
  return {{{row.id, "/results/" + address_word(row.id)},
           {row.task, "/results?task=" + address_word(row.task)},
           {row.shape_set},
           {row.platform},
           {row.gate.empty() ? row.outcome : row.outcome + " (" + row.gate + ")", "",
            passed ? "passed" : "failed-word"},
           {row.time_ns ? readable_time(*row.time_ns) : ""},
           {speedup_text(row)},
           {kernel_words(row.kernel)},
           {minute_of(row.created_at)}},
          to_json(row)};
}

Result<ListView> results_list(const Asked& asked) {
  KF_TRY(Store store, Store::open());
  const ListAsked wanted = list_asked(asked);
  KF_TRY(ResultPage found, store.find_results({.task = asked.asked("task"),
                                               .outcome = asked.asked("outcome"),
                                               .platform = asked.asked("platform"),
                                               .machine = asked.asked("machine"),
                                               .search = wanted.search,
                                               .sort = result_order(wanted.sort),
                                               .ascending = wanted.ascending,
                                               .limit = wanted.size,
                                               .offset = wanted.offset}));
  KF_TRY(auto platforms, store.platforms());
  ListView view{.section = "results", .title = "Results", .schema = "kforge.results/1", .records = "results"};
  view.about = "Every verdict on a kernel, with its evidence.";
  view.columns = {{"result", "when", false, true},
                  {"task", "task"},
                  {"shapes"},
                  {"platform", "platform"},
                  {"outcome", "outcome"},
                  {"time", "time", true},
                  {"speedup", "speedup", true, true},
                  {"kernel"},
                  {"when", "when", false, true}};
  view.choices = {{"task", "Task", {}},
                  {"platform", "Platform", std::move(platforms)},
                  {"outcome",
                   "Outcome",
                   {"passed", "no_program", "compile_error", "crash", "timeout", "wrong_shape", "wrong_value",
                    "rejected", "not_verifiable"}}};
  if (asked.asked("task").empty()) view.choices.erase(view.choices.begin());
  if (!asked.asked("machine").empty()) view.choices.push_back({"machine", "Machine", {}});
  view.empty = wanted.search.empty() ? "There is no such result. `kforge eval` makes one." : "Nothing fits.";
  for (const ResultRow& row : found.rows) view.rows.push_back(row_of(row));
  view.total = found.total;
  view.arranged = view.may_compare = true;
  return view;
}

}  // namespace

Answer results_page(const Asked& asked) {
  auto view = results_list(asked);
  return view ? list_page(asked, std::move(*view))
              : refusal(asked, 500, view.error().message, view.error().remedy);
}

Answer result_page(const Asked& asked) {
  if (!is_id(asked.parts[0])) return refusal(asked, 404, "There is no such result");
  auto store = Store::open();
  if (!store) return refusal(asked, 500, store.error().message, store.error().remedy);
  auto record = store->result(asked.parts[0]);
  if (!record) return not_found(asked, record.error());
  if (asked.json) return json_answer(record->document);
  auto report = eval_report_from_json(record->document);
  if (!report)
    return refusal(
        asked, 500,
        fmt::format("The stored result {} cannot be read: {}", record->id, report.error().message));
  std::optional<Candidate> program;
  if (!record->candidate.empty())
    if (auto stored = store->candidate(record->candidate)) program = Candidate{stored->files, stored->origin};
  PageData data = page_data(*report, program ? &*program : nullptr);
  add_frame(data, asked, fmt::format("{} on {}", report->task, report->platform), "results");
  return page(asked, "result", data);
}

}  // namespace kforge::serve
