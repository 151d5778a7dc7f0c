// Results by what lists ask for. Every question is answered from one index (migration 0004), never from the
// documents.
#include <array>

#include "store/store.h"

namespace kforge {
namespace {

// Before and after the columns that are asked for. A task is named with its suite or without.
constexpr std::string_view kFrom =
    " FROM result INDEXED BY result_list WHERE (?1 = '' OR task = ?1 OR substr(task, instr(task, '/') + 1) = "
    "?1) "
    "AND (?2 = '' OR outcome = ?2) AND (?3 = '' OR platform = ?3) AND (?4 = '' OR machine = ?4) "
    "AND (?5 = '' OR instr(lower(id || ' ' || task || ' ' || platform || ' ' || kernel || ' ' || gate || ' ' "
    "|| "
    "against), lower(?5)) > 0) ";

// Rows without a value come last either way; the newest first among equals.
std::string order_of(const ResultQuery& query) {
  constexpr std::array<std::string_view, 6> kColumns = {"id",      "task",    "platform",
                                                        "outcome", "time_ns", "speedup"};
  const std::string_view column = kColumns[static_cast<std::size_t>(query.sort)];
  return fmt::format("ORDER BY {0} IS NULL, {0} {1}, id DESC ", column, query.ascending ? "ASC" : "DESC");
}

void bind_filter(Statement& statement, const ResultQuery& query) {
  statement.bind(query.task).bind(query.outcome).bind(query.platform).bind(query.machine).bind(query.search);
}

}  // namespace

Result<ResultPage> Store::find_results(const ResultQuery& query) {
  ResultPage page;
  KF_TRY(auto select, database_.prepare(fmt::format(
                          "SELECT id, created_at, task, shape_set, platform, precision, outcome, gate, "
                          "against, machine, kernel, candidate, time_ns, speedup, speedup_lo, "
                          "speedup_hi{}{}LIMIT ?6 OFFSET ?7",
                          kFrom, order_of(query))));
  bind_filter(select, query);
  select.bind(static_cast<std::int64_t>(query.limit)).bind(static_cast<std::int64_t>(query.offset));
  for (;;) {
    KF_TRY(bool more, select.step());
    if (!more) break;
    ResultRow& row = page.rows.emplace_back();
    std::string* texts[] = {&row.id,       &row.created_at, &row.task,    &row.shape_set,
                            &row.platform, &row.precision,  &row.outcome, &row.gate,
                            &row.against,  &row.machine,    &row.kernel,  &row.candidate};
    for (int column = 0; std::string * text : texts) *text = select.text(column++);
    row.time_ns = select.optional_real(12);
    row.speedup = select.optional_real(13);
    row.speedup_lo = select.optional_real(14);
    row.speedup_hi = select.optional_real(15);
  }
  // A list that has room left is known to its end.
  page.total = query.offset + page.rows.size();
  if (page.rows.size() < query.limit && (query.offset == 0 || !page.rows.empty())) return page;
  KF_TRY(auto count, database_.prepare(fmt::format("SELECT count(*){}", kFrom)));
  bind_filter(count, query);
  KF_TRY(bool counted, count.step());
  page.total = counted ? static_cast<std::size_t>(count.integer(0)) : 0;
  return page;
}

Result<std::vector<MachineRow>> Store::machines() {
  // The newest document of each tells what the machine is.
  KF_TRY(auto query,
         database_.prepare(
             "SELECT machine, n, last, (SELECT CASE WHEN json_valid(document) THEN "
             "json_extract(document, '$.machine.text') END FROM result WHERE id = last) FROM (SELECT "
             "machine, count(*) AS n, max(id) AS last FROM result INDEXED BY result_list GROUP BY "
             "machine) ORDER BY last DESC"));
  std::vector<MachineRow> rows;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return rows;
    rows.push_back({query.text(0), query.text(3), query.text(2), static_cast<std::size_t>(query.integer(1))});
  }
}

Result<std::vector<std::string>> Store::platforms() {
  KF_TRY(auto query,
         database_.prepare("SELECT DISTINCT platform FROM result INDEXED BY result_list ORDER BY 1"));
  std::vector<std::string> names;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return names;
    names.push_back(query.text(0));
  }
}

}  // namespace kforge
