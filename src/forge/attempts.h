// The attempts of a run, in memory and in the store at once: every change is written before it is used.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "forge/run_documents.h"
#include "search/history.h"
#include "store/runs.h"

namespace kforge {

// An attempt that is planned and not yet judged, with what an earlier process already has of it.
struct PendingAttempt {
  int number = 0;
  Proposal proposal;
  std::optional<Advice> advice;
  std::optional<GenerationRecord> generation;
  std::optional<Candidate> program;
};

// Advice and generations may be saved from other threads while the main one judges; the history is the main
// one's.
class Attempts {
 public:
  Attempts(RunRecords& records, std::string run) : records_(&records), run_(std::move(run)) {}

  // Reads what the records hold; attempts that were under way come back as pending.
  Result<std::vector<PendingAttempt>> restore();

  Result<PendingAttempt> plan(const Proposal& proposal);
  // A program that is there already, as attempt 0.
  Result<PendingAttempt> plan_given(const Candidate& program);
  // Another generator takes the turn of one that failed.
  Result<void> hand_over(PendingAttempt& attempt, int generator);
  Result<void> save_advice(PendingAttempt& attempt, const Advice& advice);
  Result<void> save_generation(PendingAttempt& attempt, const Generation& generation,
                               const std::string& generator, double seconds);
  // Judged: it joins the history. `program` is what was judged (tunables filled in).
  Result<void> save_verdict(const PendingAttempt& attempt, const std::optional<Candidate>& program,
                            const VerdictRecord& verdict, const std::string& result, double clock);

  const History& history() const { return history_; }
  std::optional<VerdictRecord> verdict(int number) const;
  std::optional<GenerationRecord> generation(int number) const;
  double clock() const { return clock_; }  // of the run, when the last one was judged
  // An accepted attempt that did not stand the confirmation is the best no longer.
  Result<void> overturn(int number, std::string_view gate, std::string_view reason);

 private:
  void join(const PendingAttempt& attempt, const std::optional<Candidate>& program,
            const VerdictRecord& verdict);

  RunRecords* records_;
  std::string run_;
  History history_;
  mutable std::mutex mutex_;  // of the two maps
  std::map<int, VerdictRecord> verdicts_;
  std::map<int, GenerationRecord> generations_;
  int next_ = 1;
  double clock_ = 0;
};

}  // namespace kforge
