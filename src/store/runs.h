// The records of `kforge forge` runs: the stages of attempts, profiles and model calls, each written before
// it is used. A connection of its own with a lock around it, because model calls end on other threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "generate/attempt.h"
#include "generate/named_time.h"
#include "llm/llm.h"
#include "machine/machine.h"
#include "search/ending.h"
#include "store/store.h"

namespace kforge {

struct Profile;

// Settings by their names: what a resumed run needs, whoever asked for it.
using OptionValue = std::variant<std::monostate, bool, int, double, std::string, std::vector<std::string>>;
using OptionMap = std::map<std::string, OptionValue>;

enum class RunState : std::uint8_t { kRunning, kFinished };
std::string_view name_of(RunState state);  // "running", "finished"

struct StoredRun {
  std::string id, created_at;
  std::string task, task_hash, shape_set, platform, precision, generator, analyst, strategy;
  OptionMap options;
  std::uint64_t seed = 0;
  // Known at the end.
  RunState state = RunState::kRunning;
  std::optional<Ending> ended;  // why
  std::optional<int> best;      // attempt
  std::string result;           // id of the confirmation
  std::optional<double> speedup;
  std::string against, folder, document;
};

enum class RunOrder : std::uint8_t { kNewest, kTask, kPlatform, kSpeedup };

// What a page of a list shows.
struct RunQuery {
  std::string task, platform;     // "" for any
  std::optional<RunState> state;  // nothing: any
  std::string search;             // in ids, names, agents and baselines; "" for all
  RunOrder sort = RunOrder::kNewest;
  bool ascending = false;
  std::size_t limit = 20, offset = 0;
};
struct RunPage {
  std::vector<StoredRun> rows;  // without their documents
  std::size_t total = 0;        // that fit, on all pages
};

// What a run is doing now.
enum class RunActivity : std::uint8_t {
  kRunning,  // a process works on it
  kWaiting,  // a process waits for an answer
  kStopped,  // interrupted, or its services failed: can be resumed
  kDead,     // its process is gone without a word: can be resumed
  kFinished,
};
std::string_view name_of(RunActivity activity);
// `alive`: a process has it; `waiting`: a question has no answer yet.
RunActivity activity_of(const StoredRun& run, bool alive, bool waiting);

// What is known before the first attempt, and what the agents are told of it during the whole run: a resumed
// run tells the same, whatever was measured or stored meanwhile.
struct MeasuredSetting {
  std::vector<NamedTime> baselines;  // fastest first
  std::vector<NamedTime> operators;  // of the baseline onednn, in graph order; may be empty
  std::vector<std::string> notes;
  std::optional<Peaks> peaks;              // nothing: programs are not timed
  std::vector<std::string> compiler_line;  // as it will be run
  std::string flag_set;
  std::optional<Candidate> reference;  // a working kernel for another platform
  std::string reference_platform;
};

// Which call of a run: the key under which a reply is found again.
struct CallKey {
  std::string role;
  int attempt = 0, ordinal = 0;
};

enum class CallState : std::uint8_t {
  kAsked,
  kReceived,
  kFailed,  // the service
  kLost,    // the process died, or we stopped it: whatever came is gone
};
std::string_view name_of(CallState state);

struct StoredCall {
  CallKey key;
  int take = 0;
  std::string model;
  CallState state = CallState::kAsked;
  ReplyEnd ended = ReplyEnd::kComplete;  // when received
  std::string detail;
  std::string reply;  // text, when received
  std::int64_t input_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0, output_tokens = 0;
  bool estimated = false;
  std::optional<double> dollars;
  double seconds = 0;
  int tries = 1;
};

// A call with what was asked, for people to read.
struct StoredExchange {
  StoredCall call;
  std::string prompt;
};

// A seam for tests of resuming: called after each record is on disk. Empty otherwise.
inline std::function<void()> after_run_record;

class RunRecords {
 public:
  static Result<std::unique_ptr<RunRecords>> open();
  static Result<std::unique_ptr<RunRecords>> open(const std::filesystem::path& folder);

  Result<void> begin(const StoredRun& run);
  // Writes the fields that are known at the end.
  Result<void> finish(const StoredRun& run);
  // By id, by a prefix that fits only one, or "last".
  Result<StoredRun> run(std::string_view id);
  // Only one process works on a run: the lock goes with it, however it ends. An Error: another one does.
  Result<FileLock> hold(std::string_view run);
  bool held(std::string_view run) const;
  Result<RunPage> find(const RunQuery& query);
  // Newest first, without their documents.
  Result<std::vector<StoredRun>> latest(std::string_view task, std::size_t limit);

  // The stages of an attempt, each when it is there.
  Result<void> save_proposal(std::string_view run, const Attempt& attempt);
  Result<void> change_proposal(std::string_view run, const Attempt& attempt);
  Result<void> save_advice(std::string_view run, const Attempt& attempt);
  Result<void> save_generation(std::string_view run, const Attempt& attempt);
  // With the decision; again when the confirmation overturns it.
  Result<void> save_judgement(std::string_view run, const Attempt& attempt);
  // In order of their numbers, with their programs.
  Result<std::vector<Attempt>> attempts(std::string_view run);
  Result<StoredCandidate> candidate(std::string_view hash);

  Result<void> save_profile(std::string_view run, int attempt, const Profile& profile);
  Result<std::optional<Profile>> profile(std::string_view run, int attempt);
  Result<void> save_setting(std::string_view run, const MeasuredSetting& setting);
  Result<std::optional<MeasuredSetting>> setting(std::string_view run);

  // Writes down that the question was asked before it is: the take to answer under.
  Result<int> begin_call(std::string_view run, const CallKey& key, std::string_view model,
                         std::string_view prompt);
  Result<void> end_call(std::string_view run, const StoredCall& call);
  // The reply received before, or nothing. Takes that were under way when a process died become "lost".
  // With a model's name only its own reply counts.
  Result<std::optional<StoredCall>> received(std::string_view run, const CallKey& key,
                                             std::string_view model = {});
  Result<std::vector<StoredCall>> calls(std::string_view run);
  // In the order of attempts, the first `texts` of them with prompts and replies: a long run has more than
  // one wants in memory. A text that is lost says so in its place.
  Result<std::vector<StoredExchange>> exchanges(std::string_view run, std::size_t texts);
  // The newest question that has no answer yet: whom it was put to.
  Result<std::optional<std::string>> waiting_for(std::string_view run);

  struct Winner {
    std::string schedule, run;
    double time_ns = 0;
  };
  Result<std::optional<Winner>> winner(std::string_view family, std::string_view platform,
                                       std::string_view machine, std::string_view precision);
  Result<void> save_winner(std::string_view family, std::string_view platform, std::string_view machine,
                           std::string_view precision, const Winner& winner);
  Result<std::optional<std::string>> tuning(std::string_view candidate, std::string_view task_key,
                                            std::string_view machine);
  Result<void> save_tuning(std::string_view candidate, std::string_view task_key, std::string_view machine,
                           std::string_view document);

  // The best verified program for a task on any platform but one: its hash and the platform.
  struct Elsewhere {
    std::string candidate, platform;
  };
  Result<std::optional<Elsewhere>> best_elsewhere(std::string_view task, std::string_view platform);

 private:
  RunRecords(std::filesystem::path folder, Store store, Database database)
      : folder_(std::move(folder)), store_(std::move(store)), database_(std::move(database)) {}
  std::filesystem::path lock_file(std::string_view run) const;
  Result<std::string> full_id(std::string_view id);
  Result<void> save_document(std::string_view run, int attempt, std::string_view document);
  Result<std::optional<std::string>> document(std::string_view run, int attempt);
  Result<std::optional<Candidate>> load_program(std::string_view hash);
  Result<void> save_program(const Candidate& program);
  static Result<void> written(Result<void> done) {
    if (done && after_run_record) after_run_record();
    return done;
  }

  std::mutex mutex_;
  std::filesystem::path folder_;
  Store store_;
  Database database_;
};

}  // namespace kforge
