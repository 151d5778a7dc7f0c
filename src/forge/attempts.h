// The attempts of a run, in memory and in the store at once: every stage is written before it is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generate/attempt.h"
#include "search/history.h"
#include "store/runs.h"

namespace kforge {

// What concerns one attempt alone may be saved from the lanes' threads; planning, judging and the history
// belong to the main one.
class Attempts {
 public:
  Attempts(RunRecords& records, std::string run) : records_(&records), run_(std::move(run)) {}

  // Reads what the records hold; attempts that were under way come back, with the stages they have.
  Result<std::vector<Attempt>> restore();

  Result<Attempt> plan(const Proposal& proposal);
  // A program that is there already, as attempt 0.
  Result<Attempt> plan_given(const Candidate& program);
  // Another generator takes over from one that failed.
  Result<void> hand_over(Attempt& attempt, int generator);
  Result<void> save_advice(Attempt& attempt, const Advice& advice);
  Result<void> save_generation(Attempt& attempt, Generation generation);
  // Judged and decided: it joins the history.
  Result<void> save_judgement(const Attempt& attempt);
  // An accepted attempt that did not pass the confirmation is the best no longer.
  Result<void> overturn(int number, std::optional<Gate> gate, std::string_view reason);

  const History& history() const { return history_; }
  double clock() const { return clock_; }  // of the run, when the last one was judged

 private:
  void join(const Attempt& attempt);

  RunRecords* records_;
  std::string run_;
  History history_;
  int next_ = 1;
  double clock_ = 0;
};

}  // namespace kforge
