// From a proposal and the history to the plan that the generation agent reads.
#pragma once

#include "generate/plan.h"
#include "search/history.h"

namespace kforge {

// Points into `history`, which must outlive the plan. Advice, profile and reference are the caller's to add.
Plan plan_of(const History& history, const Proposal& proposal, int number);

}  // namespace kforge
