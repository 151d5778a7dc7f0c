// Verdicts with their evidence: written in one transaction, found by id, listed newest first.
#include <charconv>
#include <nlohmann/json.hpp>

#include "store/store.h"

namespace kforge {
namespace {

std::vector<double> parse_samples(const std::string& text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  std::vector<double> samples;
  if (!json.is_array()) return samples;
  for (const auto& value : json)
    if (value.is_number()) samples.push_back(value.get<double>());
  return samples;
}

}  // namespace

Result<void> Store::save_result(const StoredResult& result) {
  KF_TRY(auto transaction, Transaction::begin(database_));
  KF_TRY(auto insert,
         database_.prepare(
             "INSERT INTO result(id, created_at, candidate, build, task, task_hash, shape_set, "
             "platform, precision, outcome, gate, time_ns, speedup, against, machine, document, "
             "kernel, speedup_lo, speedup_hi) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?16, "
             "coalesce(CASE WHEN json_valid(?16) THEN json_extract(?16, '$.kernel.path') END, ''), "
             "CASE WHEN json_valid(?16) THEN json_extract(?16, '$.speedup.lo') END, "
             "CASE WHEN json_valid(?16) THEN json_extract(?16, '$.speedup.hi') END)"));
  insert.bind(result.id).bind(result.created_at).bind(null_if_empty(result.candidate)).bind(result.build);
  insert.bind(result.task)
      .bind(result.task_hash)
      .bind(result.shape_set)
      .bind(result.platform)
      .bind(result.precision);
  insert.bind(result.outcome)
      .bind(result.gate)
      .bind(result.time_ns)
      .bind(result.speedup)
      .bind(result.against);
  KF_TRY_VOID(insert.bind(result.machine).bind(result.document).run());
  KF_TRY_VOID(insert_evidence(result));
  return transaction.commit();
}

Result<void> Store::insert_evidence(const StoredResult& result) {
  for (std::int64_t i = 0; const StoredGate& gate : result.gates) {
    KF_TRY(auto row, database_.prepare("INSERT INTO gate VALUES (?,?,?,?,?,?)"));
    row.bind(result.id).bind(i++).bind(gate.name).bind(gate.state).bind(gate.summary).bind(gate.evidence);
    KF_TRY_VOID(row.run());
  }
  for (std::int64_t i = 0; const SampleSeries& series : result.samples) {
    KF_TRY(auto row, database_.prepare("INSERT INTO sample VALUES (?,?,?,?)"));
    KF_TRY_VOID(row.bind(result.id)
                    .bind(i++)
                    .bind(series.contender)
                    .bind(nlohmann::json(series.ns_per_call).dump())
                    .run());
  }
  for (std::int64_t i = 0; const SeedRecord& seed : result.seeds) {
    KF_TRY(auto row, database_.prepare("INSERT INTO seed VALUES (?,?,?,?)"));
    KF_TRY_VOID(
        row.bind(result.id).bind(i++).bind(seed.purpose).bind(fmt::format("{:016x}", seed.seed)).run());
  }
  return {};
}

Result<std::string> Store::full_result_id(std::string_view id) {
  constexpr const char* kRemedy = "`kforge results` lists the ones there are";
  if (id == "last") {
    KF_TRY(auto query, database_.prepare("SELECT id FROM result ORDER BY id DESC LIMIT 1"));
    KF_TRY(bool found, query.step());
    if (!found) return fail_with_remedy("`kforge eval` makes one", "the store has no result yet");
    return query.text(0);
  }
  // A prefix as a range: ids hold nothing above 'z'.
  KF_TRY(auto query, database_.prepare("SELECT id FROM result WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"));
  KF_TRY(bool found, query.bind(id).bind(std::string(id) + "~").step());
  if (!found || id.empty())
    return fail_with_remedy(kRemedy, fmt::format("the store has no result \"{}\"", id));
  std::string full = query.text(0);
  KF_TRY(bool second, query.step());
  if (second && full != id)
    return fail_with_remedy(kRemedy, fmt::format("more than one result begins with \"{}\"", id));
  return full;
}

Result<StoredResult> Store::result(std::string_view id) {
  StoredResult result;
  KF_TRY(result.id, full_result_id(id));
  KF_TRY(auto row,
         database_.prepare(
             "SELECT created_at, candidate, build, task, task_hash, shape_set, platform, precision, "
             "outcome, gate, against, machine, time_ns, speedup, document FROM result WHERE id = ?"));
  KF_TRY(bool found, row.bind(result.id).step());
  if (!found) return fail("the result {} was removed", result.id);
  result.created_at = row.text(0);
  result.candidate = row.text(1);
  if (!row.is_null(2)) result.build = row.integer(2);
  std::string* texts[] = {&result.task,     &result.task_hash, &result.shape_set,
                          &result.platform, &result.precision, &result.outcome,
                          &result.gate,     &result.against,   &result.machine};
  for (int column = 3; std::string * text : texts) *text = row.text(column++);
  result.time_ns = row.optional_real(12);
  result.speedup = row.optional_real(13);
  result.document = row.text(14);
  KF_TRY_VOID(load_evidence(result));
  return result;
}

Result<void> Store::load_evidence(StoredResult& result) {
  auto for_each = [&](std::string_view sql, auto&& take) -> Result<void> {
    KF_TRY(auto rows, database_.prepare(sql));
    rows.bind(result.id);
    for (;;) {
      KF_TRY(bool more, rows.step());
      if (!more) return {};
      take(rows);
    }
  };
  KF_TRY_VOID(for_each("SELECT name, state, summary, evidence FROM gate WHERE result = ? ORDER BY ordinal",
                       [&](const Statement& row) {
                         result.gates.push_back({row.text(0), row.text(1), row.text(2), row.text(3)});
                       }));
  KF_TRY_VOID(for_each("SELECT contender, ns_per_call FROM sample WHERE result = ? ORDER BY ordinal",
                       [&](const Statement& row) {
                         result.samples.push_back({row.text(0), parse_samples(row.text(1))});
                       }));
  return for_each("SELECT purpose, seed FROM seed WHERE result = ? ORDER BY ordinal",
                  [&](const Statement& row) {
                    std::string text = row.text(1);
                    std::uint64_t seed = 0;
                    std::from_chars(text.data(), text.data() + text.size(), seed, 16);
                    result.seeds.push_back({row.text(0), seed});
                  });
}

Result<std::string> Store::newest_result_of(std::string_view candidate) {
  KF_TRY(auto select, database_.prepare("SELECT max(id) FROM result WHERE candidate = ?"));
  select.bind(candidate);
  KF_TRY(bool found, select.step());
  return found ? select.text(0) : std::string();
}

Result<std::vector<ResultRow>> Store::latest_results(const ResultFilter& filter) {
  KF_TRY(ResultPage page,
         find_results({.task = filter.task, .outcome = filter.outcome, .limit = filter.limit}));
  return std::move(page.rows);
}

}  // namespace kforge
