// What a run of the loop has at hand: options, workspace, store, agents, and what it has found so far. The
// steps of the loop (prepare, profile, confirm, finish) are functions of this, each in a file of its own.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "forge/agents.h"
#include "forge/attempts.h"
#include "forge/forge.h"
#include "forge/judge_attempt.h"
#include "forge/wait_limit.h"
#include "profile/profile.h"
#include "search/strategy.h"

namespace kforge {

struct ForgeState {
  using Clock = std::chrono::steady_clock;

  ForgeOptions options;
  const ForgeHost* host = nullptr;
  StoredRun record;
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<RunRecords> records;
  std::unique_ptr<Attempts> attempts;
  Agents agents;
  const StrategyEntry* strategy = nullptr;
  StrategySettings strategy_settings;
  AgentSetting context;      // what the agents are told
  MeasuredSetting measured;  // before the first attempt
  std::optional<Races> races;
  std::optional<WaitLimit> waits;         // for the search
  std::map<std::string, double> seconds;  // of each part of the run
  std::optional<Error> service_error;     // nobody is left who writes
  bool exhausted = false;                 // the generators have nothing more to try

  // The clock of the run: of candidates; preparing and confirming are apart.
  bool searching = false;
  Clock::time_point last_judged = Clock::now();
  double clock() const { return attempts->clock() + (searching ? seconds_since(last_judged) : 0); }

  // Whether programs of this run are timed, and not only judged or modelled.
  bool timed() const { return workspace->setup().timed() && !options.check_only; }

  RunView* told = nullptr;  // the host's view, and those of other processes; null: the host's alone
  RunView& view() const { return told ? *told : *host->view; }
  bool stopped() const { return host->stop.stop_requested(); }
};

// What is known before the first attempt: the baselines' times, the machine's limits, the expected values.
Result<void> prepare(ForgeState& state);
// The profile of a judged attempt's program, taken once; only what --without leaves of it.
Result<Profile> profile_of(ForgeState& state, int number);
// Nothing: the search goes on.
Result<std::optional<Ending>> reason_to_stop(ForgeState& state);
Result<Spent> spent(ForgeState& state);
// The published figure: the winner in a fresh process, on fresh inputs, against all baselines. A winner that
// does not pass makes room for the next one.
Result<void> confirm(ForgeState& state);
// Records the end, writes the user's folder, and reports.
Result<RunReport> finish(ForgeState& state);

}  // namespace kforge
