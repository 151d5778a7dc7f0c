// Talking with the agents about one attempt: the analyst's advice, then the generator's program, each saved
// as it comes. Runs on threads of its own beside the judging of other attempts, so nothing here may use the
// cores. A service that fails is set aside and the next agent takes its turn.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "forge/agents.h"
#include "forge/attempts.h"
#include "forge/roster.h"

namespace kforge {

// An attempt on its way: its agents may still be talking.
struct Job {
  PendingAttempt attempt;
  std::shared_ptr<const History> history;  // what its plan points into
  std::shared_ptr<const Profile> profile;  // of its parent
  std::string writer;                      // whose turn it is, by name
  std::future<Result<void>> agents;        // fills `attempt`; not valid when there is nothing to ask
};

class AgentTalk {
 public:
  // All outlive this; `context` may still change while nobody is asked.
  AgentTalk(Agents& agents, Attempts& attempts, const GenerationContext& context, RunView& view,
            std::stop_token stop);

  // A kernel for another platform that generators are shown.
  void set_reference(Candidate program, std::string platform);
  // The Error is that of the last generator: none is left. Stopped meanwhile: no error, and no generation.
  Result<void> ask(Job& job);
  // This generator, or who takes its turns now; nothing: all have failed.
  std::optional<int> working(int generator) const { return generators_.working(generator); }
  std::string name_of(int generator) const;

 private:
  Result<void> advise(Job& job, Plan& plan, const ReplyWatch& watch);
  Result<void> write(Job& job, const Plan& plan, const ReplyWatch& watch);
  // The next working generator in turn that has not declined this attempt.
  std::optional<int> other_than(int generator, const std::set<int>& declined) const;
  void say_set_aside(const std::string& who, const Error& why, const std::string& then);

  Agents& agents_;
  Attempts& attempts_;
  const GenerationContext& context_;
  RunView& view_;
  std::stop_token stop_;
  Roster generators_, analysts_;
  std::optional<Candidate> reference_;
  std::string reference_platform_;
};

}  // namespace kforge
