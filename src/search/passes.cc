#include "search/passes.h"

#include "base/result.h"

namespace kforge {
namespace {

constexpr auto kAny = std::nullopt;
constexpr Pass kF = Pass::kFunctional, kO = Pass::kOptimization;

constexpr Transition kTable[] = {
    // pass  verified  event             repairs   next  from            repairs
    //       before                      left
    {kF, false, Event::kFailed, true, kF, From::kLast, Repairs::kCount},      // mend it
    {kF, false, Event::kFailed, false, kF, From::kNothing, Repairs::kReset},  // hopeless: start over
    {kF, false, Event::kVerified, kAny, kO, From::kBest, Repairs::kReset},    // right at last: make it fast
    {kF, false, Event::kBetter, kAny, kO, From::kBest, Repairs::kReset},
    {kF, true, Event::kFailed, true, kF, From::kLast, Repairs::kCount},
    {kF, true, Event::kFailed, false, kO, From::kBest, Repairs::kReset},   // back to the best parent
    {kF, true, Event::kVerified, kAny, kO, From::kBest, Repairs::kReset},  // repaired, but no gain
    {kF, true, Event::kBetter, kAny, kO, From::kBest, Repairs::kReset},
    {kO, kAny, Event::kFailed, true, kF, From::kLast, Repairs::kCount},   // broke: mend it first
    {kO, kAny, Event::kFailed, false, kO, From::kBest, Repairs::kReset},  // no repairs allowed at all
    {kO, kAny, Event::kVerified, kAny, kO, From::kBest,
     Repairs::kReset},  // slower: the best stays the parent
    {kO, kAny, Event::kBetter, kAny, kO, From::kBest, Repairs::kReset},
};

bool fits(const std::optional<bool>& condition, bool fact) { return !condition || *condition == fact; }

}  // namespace

std::span<const Transition> pass_table() { return kTable; }

PassState after(const PassState& state, Event event, int limit) {
  bool repairs_left = state.repairs < limit;
  for (const Transition& row : kTable) {
    if (row.pass != state.pass || row.event != event || !fits(row.verified_before, state.verified) ||
        !fits(row.repairs_left, repairs_left))
      continue;
    PassState next;
    next.pass = row.next;
    next.from = row.from;
    next.repairs = row.repairs == Repairs::kCount ? state.repairs + 1 : 0;
    next.verified = state.verified || event != Event::kFailed;
    return next;
  }
  KF_CHECK(false, "no row of the pass table fits");
  return state;
}

}  // namespace kforge
