// Every record of every evaluation, with its evidence: a SQLite file and, beside it, files named by their
// hash. Several processes may use one store at once. A record is in the store whole or not at all, also after
// a crash or on a full disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "generate/candidate.h"
#include "store/eval_report.h"
#include "store/sqlite.h"

namespace kforge {

struct StoredCandidate {
  std::string hash;  // Candidate::content_hash()
  std::string origin;
  std::vector<SourceFile> files;
};

struct StoredBuild {
  std::string candidate;  // hash; REQUIRES: saved before
  std::string platform, task_key, march, command, log;
  double seconds = 0;
  bool from_cache = false;
  std::filesystem::path artefact;  // file that is copied into the store; empty when the compiler refused
};

struct StoredGate {
  std::string name, state, summary, evidence;
};

struct StoredResult {
  std::string id;  // from new_result_id(), so that the document can name itself
  std::string created_at;
  std::string candidate;  // hash, "" when no program could be read
  std::optional<std::int64_t> build;
  std::string task, task_hash, shape_set, platform, precision, outcome, gate, against, machine;
  std::optional<double> time_ns, speedup;
  std::string document;  // JSON
  std::vector<StoredGate> gates;
  std::vector<SampleSeries> samples;
  std::vector<SeedRecord> seeds;
};

// A line of a list: a result without its evidence.
struct ResultRow {
  std::string id, created_at, task, shape_set, platform, precision, outcome, gate, against, machine;
  std::string kernel, candidate;  // the path it was read from, and the hash of its files
  std::optional<double> time_ns, speedup, speedup_lo, speedup_hi;
};

struct ResultFilter {
  std::string task;     // "" for any
  std::string outcome;  // "" for any
  std::size_t limit = 20;
};

enum class ResultOrder : std::uint8_t { kNewest, kTask, kPlatform, kOutcome, kTime, kSpeedup };

// What a page of a list shows.
struct ResultQuery {
  std::string task, outcome, platform, machine;  // "" for any
  std::string search;                            // in ids, names, kernels and gates; "" for all
  ResultOrder sort = ResultOrder::kNewest;
  bool ascending = false;
  std::size_t limit = 20, offset = 0;
};
struct ResultPage {
  std::vector<ResultRow> rows;
  std::size_t total = 0;  // that fit, on all pages
};

// A machine that results are of.
struct MachineRow {
  std::string id, text, last_result;
  std::size_t results = 0;
};

struct CheckSecret {
  std::uint64_t seed = 0;
  int uses = 0;  // evaluations it has served, this one included
};

// Evaluations a check secret serves before a new one is drawn.
inline constexpr int kSecretUses = 200;

class Store {
 public:
  // The user's store, in kforge_home().
  static Result<Store> open();
  static Result<Store> open(const std::filesystem::path& folder);

  // Saving what is there already changes nothing.
  Result<void> save_candidate(const StoredCandidate& candidate);
  Result<std::int64_t> save_build(const StoredBuild& build);
  Result<void> save_result(const StoredResult& result);

  Result<StoredCandidate> candidate(std::string_view hash);
  // By id, by a prefix that fits only one, or "last".
  Result<StoredResult> result(std::string_view id);
  // Its id; empty: the program was never judged by itself.
  Result<std::string> newest_result_of(std::string_view candidate);
  // Newest first.
  Result<std::vector<ResultRow>> latest_results(const ResultFilter& filter);
  Result<ResultPage> find_results(const ResultQuery& query);
  // Those of stored results; the newest first, and in order of their names.
  Result<std::vector<MachineRow>> machines();
  Result<std::vector<std::string>> platforms();

  // The secret for one evaluation of this task; counts the use and draws a new one after kSecretUses.
  Result<CheckSecret> next_check_secret(std::string_view task_key);

  // Files by content: saved whole, read back only when their hash still fits.
  Result<std::string> save_artefact(std::string_view content);
  Result<std::string> load_artefact(std::string_view hash) const;
  std::filesystem::path artefact_path(std::string_view hash) const;

 private:
  Store(std::filesystem::path folder, Database database)
      : folder_(std::move(folder)), database_(std::move(database)) {}
  Result<std::string> full_result_id(std::string_view id);
  Result<void> insert_evidence(const StoredResult& result);
  Result<void> load_evidence(StoredResult& result);

  std::filesystem::path folder_;
  Database database_;
};

// Held by whoever judges, so that nobody takes the caches away meanwhile. An Error: they are being cleaned.
Result<FileLock> use_home(const std::filesystem::path& home);
// Held by whoever cleans. An Error: somebody is judging.
Result<FileLock> have_home_alone(const std::filesystem::path& home);

// Twelve characters that sort by time: milliseconds, then chance.
std::string new_result_id();

}  // namespace kforge
