#include "store/run_progress.h"

#include "base/files.h"
#include "store/store.h"

namespace kforge {

Result<ProgressReader> ProgressReader::open() {
  KF_TRY(fs::path home, kforge_home());
  return open(home);
}

Result<ProgressReader> ProgressReader::open(const fs::path& folder) {
  KF_TRY(Store store, Store::open(folder));  // brings the tables up to date
  KF_TRY(Database database, Database::open(folder / "store.db"));
  return ProgressReader(std::move(database));
}

Result<RunProgress> ProgressReader::run(std::string_view id) {
  RunProgress progress;
  // The setting is kept as the profile of attempt -1.
  KF_TRY(auto prepared, database_.prepare("SELECT 1 FROM profile WHERE run = ? AND attempt = -1"));
  KF_TRY(progress.prepared, prepared.bind(id).step());
  KF_TRY(auto counts,
         database_.prepare("SELECT count(*), count(judgement), max(clock) FROM attempt WHERE run = ?"));
  KF_TRY(bool counted, counts.bind(id).step());
  if (counted) {
    progress.planned = static_cast<int>(counts.integer(0));
    progress.judged = static_cast<int>(counts.integer(1));
    progress.clock = counts.real(2);
  }
  KF_TRY(auto next, database_.prepare("SELECT number, generation IS NOT NULL FROM attempt WHERE run = ? AND "
                                      "judgement IS NULL ORDER BY number LIMIT 1"));
  KF_TRY(bool under_way, next.bind(id).step());
  if (under_way) {
    progress.current = static_cast<int>(next.integer(0));
    progress.written = next.integer(1) != 0;
  }
  KF_TRY(auto cost,
         database_.prepare("SELECT count(*), total(input_tokens + output_tokens), sum(dollars) FROM "
                           "model_call WHERE run = ?"));
  KF_TRY(bool asked, cost.bind(id).step());
  if (asked) {
    progress.calls = static_cast<int>(cost.integer(0));
    progress.tokens = static_cast<std::int64_t>(cost.real(1));
    progress.dollars = cost.optional_real(2);
  }
  return progress;
}

Result<std::vector<ModelUse>> ProgressReader::models() {
  KF_TRY(auto query,
         database_.prepare(
             "SELECT model, count(*), sum(state <> 'received'), count(DISTINCT run), sum(input_tokens), "
             "sum(output_tokens), sum(dollars), sum(seconds), max(asked_at) AS last FROM model_call "
             "GROUP BY model ORDER BY last DESC"));
  std::vector<ModelUse> uses;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return uses;
    uses.push_back({query.text(0), static_cast<int>(query.integer(1)), static_cast<int>(query.integer(2)),
                    static_cast<int>(query.integer(3)), query.integer(4), query.integer(5),
                    query.optional_real(6), query.real(7), query.text(8)});
  }
}

}  // namespace kforge
