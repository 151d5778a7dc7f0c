// What the generation agent is asked: a system text that stays the same during a run (contract, notes,
// example, machine, task, target), so that services can cache it, and the text of this turn.
#pragma once

#include <string>

#include "generate/generator.h"

namespace kforge {

struct Prompt {
  std::string system, turn;
};

// `shrink` 0: all; 1: without what is optional; 2: without what is not needed to answer at all. For prompts
// that a model found too long.
Result<Prompt> make_prompt(const Plan& plan, const AgentSetting& context, int shrink = 0);

// The program that edits change: the last one, or the best where there is no last. Null: none.
const Attempt* base_of(const Plan& plan);

// "812 us", "1.24 ms": three digits.
std::string time_text(double ns);

}  // namespace kforge
