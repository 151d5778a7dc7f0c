// Suites: the list, and one with the content of its report.
#include <algorithm>

#include "base/clock.h"
#include "serve/list_view.h"
#include "serve/page.h"
#include "serve/site.h"
#include "suite/run_list.h"
#include "suite/suite_tables.h"

namespace kforge::serve {
namespace {

Row row_of_suite(const SuiteFolder& suite) {
  const SuiteReport report = suite_report_of(suite);
  const SuitePlan& plan = suite.plan();
  std::string platforms;
  for (const std::string& platform : plan.platforms) platforms += (platforms.empty() ? "" : ", ") + platform;
  int verified = 0;
  for (const SuitePart& part : report.parts) verified += static_cast<int>(part.score.correct);
  const std::string state = state_words(suite, report);
  const bool any = !report.parts.empty() && report.parts[0].score.compared > 0;
  return {
      {{plan.id, "/suites/" + address_word(plan.id)},
       {plan.name},
       {platforms},
       {state, "", state},
       {fmt::format("{} of {}", report.finished, plan.items()), "", "", static_cast<double>(report.finished)},
       {std::to_string(verified), "", "", static_cast<double>(verified)},
       {any ? ratio_text(report.parts[0].score.geometric_mean) : "", "", "",
        any ? report.parts[0].score.geometric_mean : std::nullopt},
       {minute_of(plan.created_at)}},
      to_json(suite, report)};
}

}  // namespace

Answer suites_page(const Asked& asked) {
  auto suites = SuiteFolder::all();
  if (!suites) return refusal(asked, 500, suites.error().message, suites.error().remedy);
  ListView view{.section = "suites", .title = "Suites", .schema = "kforge.runs/1", .records = "suites"};
  view.about = "Every task of a suite, and the figures of all.";
  view.columns = {{"suite", "when", false, true},
                  {"tasks", "name"},
                  {"platforms"},
                  {"state", "state"},
                  {"done", "done", true, true},
                  {"verified", "verified", true, true},
                  {"geometric mean", "mean", true, true},
                  {"when", "when", false, true}};
  view.empty = "There is no suite yet. `kforge suite` makes one.";
  view.may_compare = true;
  for (const SuiteFolder& suite : *suites) view.rows.push_back(row_of_suite(suite));
  return list_page(asked, std::move(view));
}

Result<SuiteFolder> suite_by_id(const std::string& id) {
  KF_TRY(auto suites, SuiteFolder::all());
  for (SuiteFolder& suite : suites)
    if (suite.plan().id == id) return std::move(suite);
  return fail("There is no suite {}", id);
}

Answer suite_page(const Asked& asked, Site& site) {
  auto suite = is_id(asked.parts[0]) ? suite_by_id(asked.parts[0])
                                     : Result<SuiteFolder>(fail("There is no such suite"));
  if (!suite) return not_found(asked, suite.error());
  const SuiteReport report = suite_report_of(*suite);
  if (asked.json) return json_answer(kforge::to_json(report));
  PageData data = page_data(report);
  add_frame(data, asked, title_of(report), "suites");
  data.text("suite_id", suite->plan().id).text("is_live", suite->held() ? "yes" : "");
  add_stopping(data, site, suite->lock_file());
  return page(asked, "suite", data);
}

}  // namespace kforge::serve
