// Asks the agents about one attempt: the analyst for advice, then the generator for a program, each answer
// saved as it comes. May run on several lanes at once, beside the judging of other attempts. A service that
// fails is set aside and the next agent takes over.
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "forge/agents.h"
#include "forge/attempts.h"
#include "forge/available_agents.h"

namespace kforge {

class AgentCaller {
 public:
  // All outlive this; `context` may still change while nobody is asked.
  AgentCaller(Agents& agents, Attempts& attempts, const AgentSetting& context, RunView& view,
              std::stop_token stop);

  // Advice on how to make plan.last faster, into the attempt and the plan.
  Result<void> advise(Attempt& attempt, Plan& plan, const Profile& profile);
  // A program, into the attempt. The Error is that of the last generator: none is left. Stopped meanwhile: no
  // error, and no generation.
  Result<void> write(Attempt& attempt, const Plan& plan);
  // This generator, or who has taken over from it; nothing: all have failed.
  std::optional<int> working(int generator) const { return generators_.working(generator); }

 private:
  Generator& generator(int index) const { return *agents_.generators[static_cast<std::size_t>(index)]; }
  Analyst& analyst(int index) const { return *agents_.analysts[static_cast<std::size_t>(index)]; }
  ReplyWatch watch();
  // The next working generator that has not declined this attempt.
  std::optional<int> other_than(int generator, const std::set<int>& declined) const;
  void say_set_aside(const std::string& who, const Error& why, const std::string& then);

  Agents& agents_;
  Attempts& attempts_;
  const AgentSetting& context_;
  RunView& view_;
  std::stop_token stop_;
  AvailableAgents generators_, analysts_;
};

}  // namespace kforge
